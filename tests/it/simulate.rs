//! `cloture simulate` from outside: each rule as a trace with its expected result.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the trace's lines and returns the parsed output.
fn simulate(lines: &[Value]) -> Vec<Value> {
    let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let output = run(text.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    printed(&output)
}

fn printed(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run(trace: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cloture"))
        .args(["simulate", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let trace = trace.to_vec();
    let writer = std::thread::spawn(move || {
        // The program closes its input if it stops early, as some of these tests expect.
        let _closed = stdin.write_all(&trace);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn header(policy: &Value, handoff: &Value, author_is_bot: bool) -> Value {
    json!({"trace": 1, "policy": policy, "handoff": handoff,
           "pull_request": {"number": 1, "author": "alice", "author_is_bot": author_is_bot}})
}

fn plain() -> Value {
    header(&json!({}), &json!({}), false)
}

fn push(head: &str) -> Value {
    json!({"push": {"head": head, "changed": [{"path": "a.rs", "from": 1, "to": 1000}]}})
}

fn finding(id: &str, line: u32, title: &str, severity: &str) -> Value {
    json!({"id": id, "path": "a.rs", "line": line, "title": title, "severity": severity, "category": "bug"})
}

fn raises(findings: &[Value]) -> Value {
    json!({"cycle": {"reviewer": "r", "findings": findings}})
}

fn lists(findings: &[Value]) -> Value {
    json!({"cycle": {"reviewer": "r", "protocol": "findings", "findings": findings}})
}

fn acts(action: &str, stance: &str) -> Value {
    json!({"cycle": {"reviewer": "r", "actions": [{"thread": "t1", "action": action, "stance": stance}]}})
}

fn person(act: &str) -> Value {
    json!({"person": {"act": act, "thread": "t1", "by": "bob", "reason": "because"}})
}

fn leak(severity: &str) -> Value {
    finding("t1", 10, "Leaked file handle", severity)
}

fn kinds(line: &Value) -> Vec<&str> {
    line["violations"].as_array().unwrap().iter().map(|v| v["kind"].as_str().unwrap()).collect()
}

/// Some fields of the first thread.
fn thread<'a>(line: &'a Value, fields: &[&str]) -> Vec<&'a Value> {
    fields.iter().map(|field| &line["threads"][0][field]).collect()
}

#[test]
fn t3_t4_a_held_stance_runs_out_of_replies() {
    let out = simulate(&[
        plain(),
        push("1"),
        raises(&[leak("high")]),
        push("2"),
        acts("reply", "seeks_change"),
        push("3"),
        acts("reply", "seeks_change"),
        acts("veto", "seeks_change"),
    ]);
    assert_eq!(out[3]["threads"][0]["legal"]["seeks_change"], json!(["escalate", "resolve", "veto"]));
    assert_eq!(out[3]["threads"][0]["legal"]["accepts"], json!(["escalate", "reply", "resolve", "veto"]));
    assert_eq!((out[5]["accepted"].clone(), kinds(&out[5])), (json!(false), vec!["illegal_action"]));
    assert_eq!(out[5]["threads"], out[4]["threads"], "a failed answer leaves the counters as they were");
    assert_eq!(
        thread(&out[6], &["status", "cause", "cycles", "round_count"]),
        ["vetoed", "reviewer"].map(Value::from).iter().chain(&[json!(3), json!(2)]).collect::<Vec<_>>()
    );
}

#[test]
fn t5_a_reviewer_that_alternates_is_cut_off_at_five() {
    let mut lines = vec![
        header(&json!({"max_review_iterations": 20}), &json!({}), false),
        push("0"),
        raises(&[leak("high")]),
    ];
    for (head, stance) in [("1", "accepts"), ("2", "accepts"), ("3", "seeks_change"), ("4", "accepts")] {
        lines.extend([push(head), acts("reply", stance)]);
    }
    let out = simulate(&lines);
    assert_eq!(out[5]["accepted"], true, "the flip was paid for, and held once");
    assert_eq!(kinds(&out[7]), ["illegal_action"], "the budget is spent: the other flip is a repetition");
    assert_eq!(out[5]["threads"][0]["legal"]["seeks_change"], json!(["escalate", "resolve", "veto"]));
}

#[test]
fn t6_a_returned_thread_starts_afresh() {
    let out = simulate(&[
        plain(),
        push("1"),
        raises(&[leak("high")]),
        person("escalate"),
        person("return"),
        push("2"),
        acts("reply", "accepts"),
    ]);
    assert_eq!(thread(&out[2], &["status", "cause"]), [&json!("escalated"), &json!("person")]);
    let fields = ["status", "cause", "stance", "round_count", "flips", "cycles", "returns"];
    let fresh = [json!("open"), Value::Null, Value::Null, json!(0), json!(0), json!(0), json!(1)];
    assert_eq!(thread(&out[3], &fields), fresh.iter().collect::<Vec<_>>());
    assert_eq!(out[3]["threads"][0]["legal"]["accepts"], json!(["escalate", "reply", "resolve", "veto"]));
    assert_eq!(
        thread(&out[5], &["stance", "round_count", "cycles"]),
        [&json!("accepts"), &json!(0), &json!(1)]
    );
}

#[test]
fn c2_every_kind_of_violation_has_its_own_name() {
    let other = json!({"cycle": {"reviewer": "s", "findings": [finding("u1", 300, "Stale cache", "low")]}});
    let setup = [
        plain(),
        push("1"),
        raises(&[leak("high"), finding("t2", 50, "Unchecked index", "low")]),
        other,
        json!({"person": {"act": "resolve", "thread": "t2", "by": "bob"}}),
        push("2"),
    ];
    let resolve = json!({"thread": "t1", "action": "resolve", "stance": "accepts"});
    let also = |thread: &str| json!({"thread": thread, "action": "veto", "stance": "seeks_change"});
    let cases = [
        (json!({"actions": []}), vec!["missing_action"]),
        (json!({"actions": [resolve, also("t1")]}), vec!["several_actions"]),
        (json!({"actions": [resolve, also("nobody")]}), vec!["unknown_thread"]),
        (json!({"actions": [resolve, also("u1")]}), vec!["foreign_thread"]),
        (json!({"actions": [resolve, also("t2")]}), vec!["closed_thread"]),
        (json!({"actions": [also("u1")]}), vec!["missing_action", "foreign_thread"]),
        (
            json!({"actions": [resolve], "findings": [finding("n", 12, "Leaked file handle", "high")]}),
            vec!["duplicate_finding"],
        ),
        (
            json!({"actions": [resolve], "findings": [
                finding("n", 400, "Dead code", "low"), finding("m", 401, "Dead code", "low")]}),
            vec!["duplicate_finding"],
        ),
        (json!({"actions": "junk"}), vec!["malformed_answer"]),
        (
            json!({"actions": [{"thread": "t1", "action": "raise", "stance": "accepts"}]}),
            vec!["malformed_answer"],
        ),
        (json!({"actions": [{"thread": "t1", "action": "veto"}]}), vec!["malformed_answer"]),
        (json!({"actions": [resolve], "findings": [{"id": "n"}]}), vec!["malformed_answer"]),
        (
            json!({"actions": [resolve], "findings": [finding("n", 0, "Dead code", "low")]}),
            vec!["malformed_answer"],
        ),
        (json!({"protocol": "findings", "actions": [resolve]}), vec!["malformed_answer"]),
    ];
    for (answer, expected) in cases {
        let mut cycle = json!({"reviewer": "r"});
        for (key, value) in answer.as_object().unwrap() {
            cycle[key] = value.clone();
        }
        let mut lines = setup.to_vec();
        lines.push(json!({"cycle": cycle}));
        let out = simulate(&lines);
        let last = out.last().unwrap();
        assert_eq!(kinds(last), expected, "{answer}");
        assert_eq!(last["accepted"], false);
        assert_eq!(last["threads"], out[out.len() - 2]["threads"], "all or nothing: {answer}");
        assert_eq!(last["cycles"], json!({"r": 1, "s": 1}));
    }
}

#[test]
fn c4_the_engine_closes_the_cycle_of_a_failing_reviewer() {
    let silent = json!({"cycle": {"reviewer": "r", "actions": []}});
    let out = simulate(&[
        plain(),
        push("1"),
        raises(&[leak("high")]),
        push("2"),
        silent.clone(),
        silent.clone(),
        silent.clone(),
        silent.clone(),
        push("3"),
        silent,
    ]);
    assert_eq!(out[4]["threads"][0]["status"], "open");
    assert_eq!(
        thread(&out[5], &["status", "cause", "cycles"]),
        [&json!("escalated"), &json!("reviewer_failed"), &json!(1)]
    );
    assert_eq!(
        (&out[5]["accepted"], &out[5]["verdict"], &out[5]["cycles"]),
        (&json!(false), &Value::Null, &json!({"r": 2}))
    );
    assert_eq!(out[6]["skipped"], "same_sha");
    assert_eq!(out[8]["accepted"], true, "nothing is open any more, so an empty answer is a good one");
}

#[test]
fn c4_a_push_abandons_a_failing_cycle() {
    let silent = json!({"cycle": {"reviewer": "r", "actions": []}});
    let out = simulate(&[
        header(&json!({"cycle_retries": 1}), &json!({}), false),
        push("1"),
        raises(&[leak("high")]),
        push("2"),
        silent.clone(),
        push("3"),
        silent.clone(),
        silent,
    ]);
    assert_eq!(out[5]["threads"][0]["status"], "open", "a first failure at a new head");
    assert_eq!(out[6]["threads"][0]["cause"], "reviewer_failed");
}

#[test]
fn c5_c6_guards_apply_in_order() {
    let clean = json!({"cycle": {"reviewer": "r"}});
    let out = simulate(&[
        header(&json!({"max_review_iterations": 1}), &json!({}), false),
        push("1"),
        raises(&[leak("high")]),
        clean.clone(),
        push("2"),
        clean.clone(),
        json!({"close": {}}),
        clean.clone(),
        json!({"reopen": {}}),
        clean.clone(),
        push("1"),
        clean.clone(),
        json!({"merge": {}}),
        clean,
    ]);
    assert_eq!(thread(&out[1], &["status", "cause"]), [&json!("escalated"), &json!("iteration_cap")]);
    let skipped: Vec<_> = [2, 4, 6, 8, 10, 12].map(|line| &out[line]["skipped"]).into_iter().collect();
    let expected = [
        json!("same_sha"),
        json!("iteration_cap"),
        json!("pr_closed"),
        Value::Null,
        json!("same_sha"),
        json!("pr_merged"),
    ];
    assert_eq!(skipped, expected.iter().collect::<Vec<_>>());
}

#[test]
fn c7_a_list_of_findings_is_turned_into_actions() {
    let out = simulate(&[
        plain(),
        push("1"),
        lists(&[leak("medium"), finding("t2", 50, "Unchecked index", "low")]),
        push("2"),
        lists(&[finding("again", 11, "Leaked file handle", "high")]),
        push("3"),
        lists(&[leak("low")]),
    ]);
    assert_eq!(
        thread(&out[3], &["status", "severity", "round_count", "stance"]),
        [&json!("open"), &json!("high"), &json!(1), &json!("seeks_change")]
    );
    assert_eq!(out[3]["threads"][1]["status"], "resolved");
    assert_eq!(out[3]["threads"][1]["stance"], "accepts");
    assert_eq!(
        thread(&out[5], &["status", "cause", "severity"]),
        [&json!("escalated"), &json!("round_limit"), &json!("high")]
    );
}

#[test]
fn d2_the_same_words_at_two_places_are_two_findings_unless_the_first_is_gone() {
    let elsewhere = push_lines("2", 100, 200);
    let rewritten = push_lines("2", 5, 200);
    let again = finding("t2", 150, "Leaked file handle", "high");
    let answer = |finding: &Value| {
        let reply = json!({"thread": "t1", "action": "reply", "stance": "accepts"});
        json!({"cycle": {"reviewer": "r", "actions": [reply], "findings": [finding]}})
    };
    let out = simulate(&[plain(), push("1"), raises(&[leak("high")]), elsewhere, answer(&again)]);
    assert_eq!(out[3]["threads"].as_array().unwrap().len(), 2, "both places exist");
    let out = simulate(&[plain(), push("1"), raises(&[leak("high")]), rewritten, answer(&again)]);
    assert_eq!(kinds(&out[3]), ["duplicate_finding"], "the first place was rewritten: the finding moved");
}

#[test]
fn d2_where_several_threads_could_be_meant_the_nearest_last_known_place_decides() {
    let twins =
        [finding("t1", 10, "Leaked file handle", "high"), finding("t2", 50, "Leaked file handle", "high")];
    for (line, kept) in [(50, 1), (10, 0), (47, 1), (200, 1)] {
        let out = simulate(&[
            plain(),
            push("1"),
            lists(&twins),
            push_lines("2", 5, 300),
            lists(&[finding("again", line, "Leaked file handle", "high")]),
        ]);
        let statuses: Vec<&Value> =
            out[3]["threads"].as_array().unwrap().iter().map(|thread| &thread["status"]).collect();
        let mut expected = ["resolved", "resolved"];
        expected[kept] = "open";
        assert_eq!(statuses, expected, "line {line}");
    }
}

fn push_lines(head: &str, from: u32, to: u32) -> Value {
    json!({"push": {"head": head, "changed": [{"path": "a.rs", "from": from, "to": to}]}})
}

#[test]
fn d2_lines_are_the_same_place_within_the_slack() {
    for (line, duplicate) in [(7, true), (13, true), (6, false), (14, false)] {
        let raised = finding("n", line, "Leaked file handle", "high");
        let veto = json!({"thread": "t1", "action": "veto", "stance": "seeks_change"});
        let cycle = json!({"cycle": {"reviewer": "r", "actions": [veto], "findings": [raised]}});
        let out = simulate(&[plain(), push("1"), raises(&[leak("high")]), push_lines("2", 200, 201), cycle]);
        let expected: &[&str] = if duplicate { &["duplicate_finding"] } else { &[] };
        assert_eq!(kinds(&out[3]), expected, "line {line}");
    }
}

#[test]
fn d4_a_finding_that_a_person_had_comes_back_only_if_worse() {
    for (decide, severity, status, cause) in [
        ("veto", "high", "vetoed", "person"),
        ("veto", "critical", "escalated", "worsened"),
        ("resolve", "medium", "resolved", "person"),
        ("resolve", "critical", "escalated", "worsened"),
    ] {
        let out = simulate(&[
            plain(),
            push("1"),
            raises(&[leak("high")]),
            person(decide),
            push("2"),
            raises(&[finding("t9", 10, "Leaked file handle", severity)]),
        ]);
        assert_eq!(
            thread(&out[4], &["status", "cause"]),
            [&json!(status), &json!(cause)],
            "{decide} {severity}"
        );
        assert_eq!(out[4]["threads"].as_array().unwrap().len(), 1);
        assert_eq!(out[4]["accepted"], true);
    }
}

#[test]
fn d5_a_resolved_finding_that_is_raised_again_continues_its_thread() {
    let again = raises(&[finding("t9", 10, "Leaked file handle", "high")]);
    let out = simulate(&[
        header(&json!({"max_review_iterations": 20}), &json!({}), false),
        push("1"),
        raises(&[leak("high")]),
        push("2"),
        acts("resolve", "accepts"),
        push("3"),
        again.clone(),
        push("4"),
        acts("resolve", "accepts"),
        push("5"),
        again,
    ]);
    let fields = ["status", "cause", "stance", "round_count", "flips", "cycles", "reopens"];
    let reopened =
        [json!("open"), Value::Null, json!("seeks_change"), json!(1), json!(1), json!(3), json!(1)];
    assert_eq!(thread(&out[5], &fields), reopened.iter().collect::<Vec<_>>());
    let escalated = [
        json!("escalated"),
        json!("regressed"),
        json!("seeks_change"),
        json!(3),
        json!(1),
        json!(4),
        json!(2),
    ];
    assert_eq!(thread(&out[9], &fields), escalated.iter().collect::<Vec<_>>());
}

#[test]
fn r2_later_cycles_cover_only_changed_code() {
    let cases = [
        (100, "high", false),
        (100, "critical", true),
        (8, "low", true),
        (7, "low", true),
        (6, "low", false),
    ];
    for (line, severity, opens) in cases {
        let out = simulate(&[
            plain(),
            push("1"),
            json!({"cycle": {"reviewer": "r"}}),
            push_lines("2", 10, 20),
            raises(&[finding("t1", line, "Leaked file handle", severity)]),
        ]);
        assert_eq!(out[3]["threads"].as_array().unwrap().len(), usize::from(opens), "{line} {severity}");
        assert_eq!((&out[3]["accepted"], &out[3]["violations"]), (&json!(true), &json!([])));
    }
}

#[test]
fn r3_r4_r5_only_people_with_the_right_can_override() {
    let reply = |association: &str, body: &str, by: &str| {
        let reply = json!({"thread": "t1", "by": by, "association": association, "body": body});
        json!({"reply": reply})
    };
    for (reply, status, cause) in [
        (reply("OWNER", "Won't fix, this is by design.", "bob"), "resolved", json!("wont_fix")),
        (reply("COLLABORATOR", "Acknowledged.", "bob"), "resolved", json!("acknowledged")),
        (reply("CONTRIBUTOR", "Won't fix, this is by design.", "bob"), "open", Value::Null),
        (reply("MEMBER", "I disagree, this is a false positive.", "bob"), "open", Value::Null),
        (reply("MEMBER", "Should we mark this won't fix?", "bob"), "open", Value::Null),
        (
            reply("MEMBER", "Won't fix.\n\n🤖 Generated with [Claude Code](https://claude.ai/code)", "bob"),
            "open",
            Value::Null,
        ),
        (reply("MEMBER", "Won't fix.", "fixer[bot]"), "open", Value::Null),
    ] {
        let out = simulate(&[plain(), push("1"), raises(&[leak("high")]), reply.clone()]);
        assert_eq!(thread(&out[2], &["status", "cause"]), [&json!(status), &cause], "{reply}");
        assert_eq!(out[2]["accepted"], true);
    }
    let explicit =
        json!({"reply": {"thread": "t1", "by": "bob", "association": "OWNER", "intent": "wont_fix"}});
    let out = simulate(&[plain(), push("1"), raises(&[leak("high")]), person("veto"), explicit]);
    assert_eq!(thread(&out[3], &["status", "cause"]), [&json!("resolved"), &json!("wont_fix")]);
}

#[test]
fn v1_on_a_persons_pull_request_the_verdict_is_only_a_comment() {
    let out =
        simulate(&[plain(), push("1"), raises(&[leak("critical")]), push("2"), acts("resolve", "accepts")]);
    for line in [&out[1], &out[3]] {
        assert_eq!((&line["verdict"], &line["rounds"]), (&json!("comment"), &json!(0)));
    }
}

#[test]
fn v2_v3_old_findings_block_a_bots_pull_request_until_they_are_gone() {
    for (severity, verdict, rounds) in [("critical", "request_changes", 1), ("high", "approve", 0)] {
        let out = simulate(&[header(&json!({}), &json!({}), true), push("1"), raises(&[leak(severity)])]);
        assert_eq!((&out[1]["verdict"], &out[1]["rounds"]), (&json!(verdict), &json!(rounds)));
    }
    let out = simulate(&[
        header(&json!({}), &json!({}), true),
        push("1"),
        raises(&[leak("high")]),
        push("2"),
        acts("reply", "seeks_change"),
        push("3"),
        acts("resolve", "accepts"),
    ]);
    assert_eq!((&out[3]["verdict"], &out[3]["rounds"]), (&json!("request_changes"), &json!(1)));
    assert_eq!(out[5]["verdict"], "approve");
}

#[test]
fn h1_h2_h3_the_merge_hands_off_the_eligible_findings() {
    let findings = [
        leak("high"),
        finding("t2", 50, "Unchecked index", "low"),
        json!({"id": "t3", "path": "b.rs", "line": 5, "title": "Stale cache", "severity": "critical",
            "category": "security"}),
    ];
    let queue = json!({"person": {"act": "queue", "thread": "t2", "by": "bob"}});
    let fired = |handoff: Value, bot: bool, extra: &[Value]| -> Value {
        let mut lines = vec![header(&json!({}), &handoff, bot), push("1"), raises(&findings)];
        lines.extend_from_slice(extra);
        lines.push(json!({"merge": {}}));
        simulate(&lines).last().unwrap()["tasks"].clone()
    };
    let task =
        |path: &str, findings: &[&str]| json!({"target": "default", "path": path, "findings": findings});
    let auto = json!({"mode": "threshold_auto"});
    let queued = std::slice::from_ref(&queue);
    assert_eq!(fired(json!({}), false, &[]), json!([]));
    assert_eq!(fired(json!({}), false, queued), json!([task("a.rs", &["t2"])]));
    assert_eq!(fired(auto.clone(), false, &[]), json!([task("a.rs", &["t1"]), task("b.rs", &["t3"])]));
    assert_eq!(
        fired(auto.clone(), false, queued),
        json!([task("a.rs", &["t1", "t2"]), task("b.rs", &["t3"])]),
        "one file, one task"
    );
    assert_eq!(
        fired(auto.clone(), true, queued),
        json!([task("a.rs", &["t2"])]),
        "a bot's pull request hands off only what was queued"
    );
    assert_eq!(
        fired(json!({"mode": "threshold_auto", "auto_categories": ["security"]}), false, &[]),
        json!([task("b.rs", &["t3"])])
    );
    assert_eq!(
        fired(json!({"mode": "full_auto"}), false, &[]),
        json!([task("a.rs", &["t1", "t2"]), task("b.rs", &["t3"])])
    );
    assert_eq!(
        fired(auto, false, &[json!({"close": {}})]),
        json!([]),
        "a closed pull request does not merge"
    );
}

#[test]
fn h4_nothing_is_handed_off_twice_and_refusals_have_names() {
    let out = simulate(&[
        header(&json!({}), &json!({"mode": "full_auto"}), false),
        push("1"),
        raises(&[leak("high")]),
        person("queue"),
        json!({"merge": {}}),
        json!({"merge": {}}),
        person("queue"),
        person("resolve"),
        person("queue"),
        person("resolve"),
        person("veto"),
        person("uphold"),
        person("unqueue"),
        json!({"person": {"act": "veto", "thread": "nobody", "by": "bob"}}),
    ]);
    assert_eq!(out[2]["threads"][0]["queued"], true);
    assert_eq!(thread(&out[3], &["queued", "handed_off"]), [&json!(false), &json!(true)]);
    assert_eq!(out[4]["tasks"], json!([]));
    let refusals: Vec<_> = [5, 7, 8, 9, 10, 12].iter().map(|&line: &usize| kinds(&out[line])).collect();
    assert_eq!(
        refusals,
        [
            ["already_handed_off"],
            ["already_handed_off"],
            ["already_settled"],
            ["not_open"],
            ["not_waiting"],
            ["unknown_thread"]
        ]
    );
    assert_eq!(out[11]["accepted"], true, "unqueue always fits");
}

#[test]
fn h5_findings_of_verification_runs_are_handed_off_only_if_queued() {
    let verify = json!({"cycle": {"reviewer": "r", "trigger": "verify", "findings": [leak("critical")]}});
    for (extra, count) in [(vec![], 0), (vec![person("queue")], 1)] {
        let mut lines =
            vec![header(&json!({}), &json!({"mode": "full_auto"}), false), push("1"), verify.clone()];
        lines.extend(extra);
        lines.push(json!({"merge": {}}));
        assert_eq!(simulate(&lines).last().unwrap()["tasks"].as_array().unwrap().len(), count);
    }
}

/// A bad line stops the replay: exit 2, the line's number, and all output before it.
#[test]
fn a_bad_line_stops_the_replay_after_printing_everything_before_it() {
    let good = format!("{}\n{}\n", plain(), push("1"));
    for bad in [
        &b"not json\n"[..],
        b"{}\n",
        b"[]\n",
        b"null\n",
        b"{\"push\": {}}\n",
        b"{\"push\": {\"head\": \"x\", \"other\": 1}}\n",
        b"{\"merge\": {}, \"close\": {}}\n",
        b"{\"merge\": {}} trailing\n",
        b"{\"nonsense\": {}}\n",
        b"\xff\xfe\n",
        b"{\"merge\": {\"x\": 1}}\n",
        b"{\"person\": {\"act\": \"argue\", \"thread\": \"t1\", \"by\": \"b\"}}\n",
        b"{\"cycle\": {}}\n",
        b"\n{\"merge\": {}}\n",
        b"{\"merge\": ",
        b"{\"push\": {\"head\": \"x\", \"changed\": [{\"path\": \"a\", \"from\": 3, \"to\": 1}]}}\n",
    ] {
        let output = run(&[good.as_bytes(), bad, push("3").to_string().as_bytes()].concat());
        let shown = String::from_utf8_lossy(bad);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert_eq!(printed(&output).len(), 1, "{shown}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("line 3"), "{shown}: {message}");
        assert_eq!(message.trim_end().lines().count(), 1, "one sentence: {message}");
    }
}

#[test]
fn a_bad_header_is_refused_with_the_reason() {
    for (bad, word) in [
        (json!({}), "trace"),
        (
            json!({"trace": 2, "pull_request": {"number": 1, "author": "a", "author_is_bot": false}}),
            "version",
        ),
        (header(&json!({"repeat_limit": 0}), &json!({}), false), "repeat_limit"),
        (header(&json!({"repeat_limits": 2}), &json!({}), false), "repeat_limits"),
        (header(&json!({}), &json!({"mode": "sometimes"}), false), "sometimes"),
    ] {
        let output = run(format!("{bad}\n").as_bytes());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(message.contains("line 1") && message.contains(word), "{message}");
    }
    assert_eq!(run(b"").status.code(), Some(2));
    let missing =
        Command::new(env!("CARGO_BIN_EXE_cloture")).args(["simulate", "no/such/file"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn a_trace_may_end_in_blank_lines() {
    let output = run(format!("{}\n{}\n\n  \n", plain(), push("1")).as_bytes());
    assert_eq!((output.status.code(), printed(&output).len()), (Some(0), 1));
}

#[test]
fn l6_c6_only_a_reopening_by_somebody_who_may_override_resets_the_counts() {
    let clean = json!({"cycle": {"reviewer": "r"}});
    for (reopen, resets) in [
        (json!({}), true),
        (json!({"association": "OWNER"}), true),
        (json!({"association": "COLLABORATOR"}), true),
        (json!({"association": "CONTRIBUTOR"}), false),
        (json!({"association": "NONE"}), false),
    ] {
        let out = simulate(&[
            header(&json!({"max_review_iterations": 1}), &json!({}), true),
            push("1"),
            raises(&[leak("critical")]),
            json!({"close": {}}),
            json!({"reopen": reopen}),
            push("2"),
            clean.clone(),
        ]);
        let (rounds, cycles) = (&out[3]["rounds"], &out[3]["cycles"]["r"]);
        let expected = if resets { json!([0, 0]) } else { json!([1, 1]) };
        assert_eq!(json!([rounds, cycles]), expected, "{reopen}");
        let skipped = if resets { Value::Null } else { json!("iteration_cap") };
        assert_eq!(out[5]["skipped"], skipped, "{reopen}");
    }
    let refused = run(format!("{}\n{}", plain(), json!({"reopen": {"by": "x"}})).as_bytes());
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn h1_a_reopening_queues_again_what_was_queued_at_the_close_and_still_can_be() {
    let queued = |between: &[Value], reopen: Value| {
        let start = [plain(), push("1"), raises(&[leak("high")]), person("queue"), json!({"close": {}})];
        let out = simulate(&[&start, between, &[json!({"reopen": reopen}), json!({"merge": {}})]].concat());
        assert_eq!(out[3]["threads"][0]["queued"], false, "closed");
        let (reopened, merged) = (&out[out.len() - 2], &out[out.len() - 1]);
        let is_queued = reopened["threads"][0]["queued"] == true;
        assert_eq!(merged["tasks"].as_array().unwrap().len(), usize::from(is_queued));
        is_queued
    };
    assert!(queued(&[], json!({})));
    assert!(queued(&[], json!({"association": "NONE"})), "whoever reopens");
    assert!(!queued(&[person("unqueue")], json!({})));
    assert!(!queued(&[person("resolve")], json!({})), "settled meanwhile");
    let again = [json!({"reopen": {}}), json!({"close": {}})];
    assert!(queued(&again, json!({})), "closed twice");
}
