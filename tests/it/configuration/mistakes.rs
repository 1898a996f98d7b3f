//! Every kind of mistake, with the whole error message.

use super::parse;

/// Asserts that a file is refused with exactly this text.
#[track_caller]
fn refused(file: &str, text: &str) {
    assert_eq!(parse(file).unwrap_err().to_string(), text.trim_start_matches('\n'));
}

/// Asserts that a file is refused with exactly these sentences, ignoring the excerpts.
#[track_caller]
fn refused_for(file: &str, sentences: &[&str]) {
    let error = parse(file).unwrap_err().to_string();
    let found: Vec<&str> = error.lines().filter_map(|line| line.strip_prefix("config.toml:")).collect();
    assert_eq!(found, sentences);
}

#[test]
fn a_value_out_of_range_is_shown_with_its_line() {
    refused(
        "# limits\n[policy]\nflip_limit = 1\n\n\n\nrepeat_limit = 0\n",
        r"
config.toml:7:16: policy.repeat_limit: expected a whole number from 1 to 1000000000, found 0
  |
7 | repeat_limit = 0
  |                ^",
    );
}

#[test]
fn all_problems_are_shown_in_the_order_of_the_file() {
    refused(
        "[break_glass]\nphrase = ' '\n[policy]\nmax_rounds = true\nrepeat_limt = 3\n\n\n\n\ncycle_retries = -1",
        r#"
config.toml:2:10: break_glass.phrase: expected one line of text, or "" to switch it off, found " "
  |
2 | phrase = ' '
  |          ^^^

config.toml:4:14: policy.max_rounds: expected a whole number from 0 to 1000000000, found true
  |
4 | max_rounds = true
  |              ^^^^

config.toml:5:1: policy.repeat_limt: expected a known key (did you mean repeat_limit?), found an unknown key
  |
5 | repeat_limt = 3
  | ^^^^^^^^^^^

config.toml:10:17: policy.cycle_retries: expected a whole number from 0 to 1000000000, found -1
   |
10 | cycle_retries = -1
   |                 ^^"#,
    );
}

#[test]
fn an_unknown_key_suggests_the_nearest_one() {
    for (key, likely) in [
        ("repeat_limt", "repeat_limit"),
        ("Repeat_Limit", "repeat_limit"),
        ("repeat-limit", "repeat_limit"),
        ("max_round", "max_rounds"),
        ("maxattempts", "max_attempts"),
        ("pol_interval", "poll_interval"),
        // A key of another table.
        ("price_per_call", "author.price_per_call"),
        ("coalesce", "handoff.targets.coalesce"),
    ] {
        let sentence =
            format!("2:1: policy.{key}: expected a known key (did you mean {likely}?), found an unknown key");
        refused_for(&format!("[policy]\n{key} = 1"), &[&sentence]);
    }
    refused_for(
        "[polcy]\nrepeat_limit = 1\n[[handoff.route]]\n",
        &[
            "1:2: polcy: expected a known key (did you mean policy?), found an unknown key",
            "3:11: handoff.route: expected a known key (did you mean routes?), found an unknown key",
        ],
    );
}

#[test]
fn an_unknown_key_unlike_all_others_lists_the_known_keys() {
    refused_for(
        "colour = 'red'\n'break glass!' = 1\n[[reviewers]]\nname = 'a'\nwings = 'b'",
        &[
            "1:1: colour: expected one of the keys author, break_glass, github, handoff, journal, keys, notifications, \
             operator, policy, profiles, repositories, reviewers, tui, watch, found an unknown key",
            "2:1: \"break glass!\": expected a known key (did you mean break_glass?), found an unknown key",
            "5:1: reviewers[0].wings: expected one of the keys api_key_env, api_key_file, base_url, command, \
             context_window, env, kind, model, name, price_per_call, prompt_file, protocol, sign_in, timeout, found an unknown key",
        ],
    );
    let endless = "k".repeat(100_000);
    let error = parse(&format!("{endless} = 1")).unwrap_err().to_string();
    assert!(error.len() < 1000, "an endless key is not repeated in full: {}", error.len());
}

#[test]
fn a_wrong_type_says_what_the_key_takes() {
    refused_for(
        "policy.repeat_limit = 'two'\npolicy.flip_limit = 1.0\npolicy.line_slack = { a = 1 }\npolicy.max_rounds = [1]",
        &[
            "1:23: policy.repeat_limit: expected a whole number from 1 to 1000000000, found \"two\"",
            "2:21: policy.flip_limit: expected a whole number from 0 to 1000000000, found 1.0",
            "3:21: policy.line_slack: expected a whole number from 0 to 1000000000, found a table",
            "4:21: policy.max_rounds: expected a whole number from 0 to 1000000000, found a list",
        ],
    );
    refused_for(
        "[policy]\npoll_interval = \"soon\"\nsimilarity_threshold = nan",
        &[
            "2:17: policy.poll_interval: expected a time from 1 second to 7 days, in seconds or as \"90s\", \"5m\", \
             \"1h 30m\", found \"soon\"",
            "3:24: policy.similarity_threshold: expected a number from 0 to 1, found NaN",
        ],
    );
}

#[test]
fn dates_and_huge_numbers_are_refused() {
    refused_for(
        "[policy]\nrepeat_limit = 1979-05-27\nflip_limit = 0xffffffffffffffffffffffffffffffffff\n\
         similarity_threshold = 1e999\n[[reviewers]]\nname = 07:32:00",
        &[
            "2:16: policy.repeat_limit: expected a value that is not a date, found 1979-05-27",
            "3:14: policy.flip_limit: expected a smaller number, found 0xffffffffffffffffffffffffffffffffff",
            "4:24: policy.similarity_threshold: expected a smaller number, found 1e999",
            "6:8: reviewers[0].name: expected a value that is not a date, found 07:32:00",
        ],
    );
}

#[test]
fn tables_and_lists_in_the_wrong_place_are_refused() {
    refused_for(
        "policy = 3\nhandoff.targets = 'fixer'\n[reviewers]\nname = 'a'\n",
        &[
            "1:10: policy: expected a table, found 3",
            "2:19: handoff.targets: expected a list of tables, found \"fixer\"",
            "3:1: reviewers: expected a list of tables, found a table",
        ],
    );
    refused_for(
        "reviewers = [\n  { name = 'a' },\n  'b',\n  { nmae = 'c' },\n]",
        &[
            "3:3: reviewers[1]: expected a table, found \"b\"",
            "4:5: reviewers[2].nmae: expected a known key (did you mean name?), found an unknown key",
        ],
    );
    refused_for(
        "[policy.repeat_limit]\n",
        &["1:1: policy.repeat_limit: expected a whole number from 1 to 1000000000, found a table"],
    );
}

#[test]
fn handoff_rules_without_a_target_are_refused() {
    refused_for(
        r#"
[handoff]
mode = "on"
auto_threshold = 5
auto_categories = ["bug", "typo"]
[[handoff.targets]]
name = "fixer"
coalesce = "yes"
[[handoff.targets]]
name = "fixer"
[[handoff.targets]]
[[handoff.routes]]
target = "fxier"
min_severity = "hihg"
categories = "bug"
paths = ["src/[", 3, "ok"]
[[handoff.routes]]
paths = ["a***"]
"#,
        &[
            r#"3:8: handoff.mode: expected one of "off", "threshold_auto", "full_auto", found "on""#,
            r#"4:18: handoff.auto_threshold: expected one of "nit", "low", "medium", "high", "critical", found 5"#,
            r#"5:27: handoff.auto_categories[1]: expected one of "bug", "security", "performance", "tests", "docs", "style", "maintainability", "other", found "typo""#,
            r#"8:12: handoff.targets[0].coalesce: expected true or false, found "yes""#,
            r#"10:8: handoff.targets[1].name: expected a name that no other target has, found "fixer""#,
            "11:1: handoff.targets[2].name: expected a name for the target, found nothing",
            r#"13:10: handoff.routes[0].target: expected a target that [[handoff.targets]] declares (did you mean "fixer"?), found "fxier""#,
            r#"14:16: handoff.routes[0].min_severity: expected one of "nit", "low", "medium", "high", "critical", found "hihg""#,
            r#"15:14: handoff.routes[0].categories: expected a list of categories, found "bug""#,
            r#"16:10: handoff.routes[0].paths[0]: expected a path pattern, found "src/[", wrong at character 5: invalid range pattern"#,
            r#"16:19: handoff.routes[0].paths[1]: expected a path pattern such as "src/**/*.rs", found 3"#,
            "17:1: handoff.routes[1].target: expected the name of a target, found nothing",
            r#"18:10: handoff.routes[1].paths[0]: expected a path pattern, found "a***", wrong at character 4: wildcards are either regular `*` or recursive `**`"#,
        ],
    );
    refused_for(
        "handoff.routes = [{ target = 'x' }]",
        &[
            r#"1:30: handoff.routes[0].target: expected a target that [[handoff.targets]] declares (there is none), or "default", found "x""#,
        ],
    );
}

#[test]
fn reviewers_with_the_same_name_or_a_bad_price_are_refused() {
    refused_for(
        r#"
author.price_per_call = inf
reviewers = [
  { name = "a", protocol = "chat", context_window = 0 },
  { name = "a", price_per_call = -0.5 },
  { name = " " },
  { protocol = "actions" },
  { name = "b", context_window = 1_000_000_001, price_per_call = nan },
]
"#,
        &[
            "2:25: author.price_per_call: expected a number from 0 to 1000000000, found inf",
            r#"4:28: reviewers[0].protocol: expected one of "actions", "findings", found "chat""#,
            "4:53: reviewers[0].context_window: expected a whole number from 1 to 1000000000, found 0",
            r#"5:12: reviewers[1].name: expected a name that no other reviewer has, found "a""#,
            "5:34: reviewers[1].price_per_call: expected a number from 0 to 1000000000, found -0.5",
            r#"6:12: reviewers[2].name: expected a name for the reviewer, found " ""#,
            "7:3: reviewers[3].name: expected a name for the reviewer, found nothing",
            "8:34: reviewers[4].context_window: expected a whole number from 1 to 1000000000, found 1000000001",
            "8:66: reviewers[4].price_per_call: expected a number from 0 to 1000000000, found NaN",
        ],
    );
}

#[test]
fn a_file_that_is_not_toml_is_refused() {
    refused(
        "[policy]\nrepeat_limit = 1\nrepeat_limit = 2\n",
        r"
config.toml:3:1: not valid TOML: duplicate key
  |
3 | repeat_limit = 2
  | ^^^^^^^^^^^^",
    );
    refused(
        "[policy\nrepeat_limit = 0\n",
        r"
config.toml:1:8: not valid TOML: unclosed table, expected `]`
  |
1 | [policy
  |        ^",
    );
}

/// Columns count characters, a tab counts as one, and control characters are replaced.
#[test]
fn the_underline_is_below_its_value() {
    refused(
        "\u{feff}[break_glass]\r\n\tlabel\t=\t\"\\n\"\r\n",
        r#"
config.toml:2:10: break_glass.label: expected one line of text, or "" to switch it off, found "\n"
  |
2 |  label = "\n"
  |          ^^^^"#,
    );
    refused(
        "reviewers = [{ name = 'Ünïcödé' }, { name = 'Ünïcödé' }]",
        r#"
config.toml:1:45: reviewers[1].name: expected a name that no other reviewer has, found "Ünïcödé"
  |
1 | reviewers = [{ name = 'Ünïcödé' }, { name = 'Ünïcödé' }]
  |                                             ^^^^^^^^^"#,
    );
    let error = parse("policy.repeat_limit = 0 # \u{202e}").unwrap_err().to_string();
    assert!(error.contains("1 | policy.repeat_limit = 0 # \u{fffd}\n"), "{error}");
}

#[test]
fn only_a_part_of_a_long_line_is_shown() {
    let items = "'x', ".repeat(100);
    let error = parse(&format!("handoff.auto_categories = [{items}]")).unwrap_err().to_string();
    let complaint = error.rsplit("\n\n").next().unwrap();
    let excerpt: Vec<&str> = complaint.lines().skip(2).collect();
    let lead = format!("1 | {}", "'x', ".repeat(12));
    assert_eq!(excerpt, [format!("{lead}'x', ]"), format!("  | {}^^^", " ".repeat(60))]);
}

/// A deep or long file full of mistakes is refused as quickly as any other.
#[test]
fn a_file_full_of_mistakes_is_refused_quickly() {
    let error = parse(&"[[reviewers]]\n".repeat(5000)).unwrap_err().to_string();
    assert_eq!(error.matches("expected a name for the reviewer, found nothing").count(), 100);
    assert!(error.ends_with("\n\nconfig.toml: and 4900 more problems"), "{}", &error[error.len() - 100..]);
    for (open, close) in [("[", "]"), ("{ a = ", "}")] {
        let nested = format!("policy.repeat_limit = {}1{}", open.repeat(5000), close.repeat(5000));
        assert!(parse(&nested).is_err());
    }
    for dotted in
        [format!("{}a = 1", "policy.repeat_limit.".repeat(5000)), format!("[{}a]", "a.".repeat(5000))]
    {
        assert!(parse(&dotted).is_err());
    }
}

#[test]
fn a_reviewer_cannot_have_keys_of_another_kind() {
    refused_for(
        r#"
reviewers = [
  { name = "a", command = ["x"] },
  { name = "b", kind = "program" },
  { name = "c", kind = "program", command = "x", prompt_file = "p" },
  { name = "d", kind = "claude", command = [" "], env = ["A=B"], timeout = "25h" },
  { name = "e", kind = "openai", command = ["x"], base_url = "ftp://x" },
  { name = "f", kind = "openai", base_url = "http://example.com/v1", model = "m", api_key_env = "K" },
  { name = "g", kind = "robot", command = 3 },
]"#,
        &[
            "3:27: reviewers[0].command: expected a kind in the same table, found none",
            "4:3: reviewers[1].command: expected a list of texts: a program and its arguments, found nothing",
            r#"5:45: reviewers[2].command: expected a list of texts: a program and its arguments, found "x""#,
            r#"5:64: reviewers[2].prompt_file: expected no such key for the kind "program", found "p""#,
            "6:44: reviewers[3].command: expected a list of texts: a program and its arguments, found a list",
            r#"6:58: reviewers[3].env[0]: expected the name of an environment variable, found "A=B""#,
            "6:76: reviewers[3].timeout: expected a time from 1 second to 1 day, in seconds or as \"90s\", \"5m\", \"1h 30m\", found \"25h\"",
            "7:3: reviewers[4].model: expected the name of a model, found nothing",
            r#"7:44: reviewers[4].command: expected no such key for the kind "openai", found a list"#,
            r#"7:62: reviewers[4].base_url: expected the address of an endpoint, such as "http://127.0.0.1:11434/v1", found "ftp://x""#,
            r#"8:45: reviewers[5].base_url: expected an https address, because Cloture sends the API key there, found "http://example.com/v1""#,
            r#"9:24: reviewers[6].kind: expected one of "program", "claude", "codex", "openai", found "robot""#,
        ],
    );
    refused_for(
        "[author]\nkind = 'claude'\n",
        &["1:1: author.checkout: expected the path of a local checkout of the repository, found nothing"],
    );
    refused_for(
        "[author]\ncheckout = '.'\n",
        &["2:12: author.checkout: expected a kind in the same table, found none"],
    );
}

#[test]
fn an_error_in_the_journals_address_does_not_show_the_password() {
    refused(
        "[journal]\nurl = 'mysql://cloture:s3cret@db/cloture'",
        r#"
config.toml:2:7: journal.url: expected the address of a PostgreSQL database, such as "postgres://cloture@db.example.com/cloture", found a text that does not begin with postgres://
  |
2 | url = 'mysql://cloture:******@db/cloture'
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    for wrong in [
        "[journal]\nurl = 'postgres://cloture:s3cret@db:port/cloture'",
        "[journal]\nurl = 'postgres://cloture:s3cret@db'",
        "[journal]\nurl = 'postgres:///?password=s3cret&user=me'",
        "[journal]\nulr = 'postgres://cloture:s3cret@db/cloture'",
        "[journal]\nurl = 'postgres://cloture:s3cret@db/cloture",
        "[journal]\nurl = ['postgres://cloture:s3cret@db/cloture']",
        "[journal]\nurl = 5",
        "journal = 'postgres://cloture@db/cloture?password=s3cret'",
    ] {
        let error = parse(wrong).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("config.toml") && !shown.contains("s3cret"), "{shown}");
    }
    let right = parse("[journal]\nurl = 'postgres://cloture:s3cret@db/cloture'").unwrap();
    assert!(!format!("{right:?}").contains("s3cret"), "{right:?}");
}

#[test]
fn a_profile_that_would_misread_posts_is_refused() {
    refused(
        "[[profiles]]\nname = 'ours'\nlogins = ['x']\nfailure = [{ pattern = 'quota (' }]",
        r#"
config.toml:4:24: profiles[0].failure[0].pattern: expected a regular expression, found "quota (": unclosed group
  |
4 | failure = [{ pattern = 'quota (' }]
  |                        ^^^^^^^^^"#,
    );
    let with = |line: &str| format!("[[profiles]]\nname = 'ours'\nlogins = ['x']\n{line}");
    for (line, sentence) in [
        (
            "own_id = ['id']",
            r#"4:11: profiles[0].own_id[0]: expected a regular expression with a group, such as "id: (\\w+)", found "id""#,
        ),
        (
            "severity = [{ pattern = 'x' }]",
            r#"4:13: profiles[0].severity[0].is: expected one of "nit", "low", "medium", "high", "critical", found nothing"#,
        ),
        (
            "noise = [{ at = 'footer', pattern = 'x' }]",
            r#"4:17: profiles[0].noise[0].at: expected one of "line", "lead", "badge", "notice", "small", "summary", "comment", "heading", "anywhere", found "footer""#,
        ),
        (
            "verdict = [{ pattern = 'x', is = 'perhaps' }]",
            r#"4:34: profiles[0].verdict[0].is: expected one of "clean", "changes", found "perhaps""#,
        ),
        (
            "status = [{ pattern = 'x' }]",
            r#"4:11: profiles[0].status[0].is: expected one of "running", "completed", "failed", found nothing"#,
        ),
        (
            "retry_after = ['soon']",
            r#"4:16: profiles[0].retry_after[0]: expected a regular expression with a group hours, minutes or seconds, such as "in (?P<minutes>\\d+) min", found "soon""#,
        ),
        (
            "reactions = { clean = 'thumb' }",
            r#"4:23: profiles[0].reactions.clean: expected one of "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes", found "thumb""#,
        ),
        (
            "shared_logins = ['github-actions']",
            "4:17: profiles[0].shared_logins: expected body_marks beside it, because only they identify the reviewer's posts, found none",
        ),
        ("ids = [0]", "4:8: profiles[0].ids[0]: expected a whole number from 1 to 1000000000000, found 0"),
        (
            "ask_again = 7",
            r#"4:13: profiles[0].ask_again: expected one line of text, or "" if no comment asks the reviewer again, found 7"#,
        ),
        (
            "titel = 'none'",
            "4:1: profiles[0].titel: expected a known key (did you mean title?), found an unknown key",
        ),
        (
            "[[profiles]]\nname = 'theirs'\nlogins = ['coderabbitai']",
            "5:8: profiles[1].name: expected accounts that no other profile has, found the login coderabbitai, which the profile coderabbit has",
        ),
        (
            "[[profiles]]\nname = 'ours'",
            r#"5:8: profiles[1].name: expected a name that no other profile in this file has, found "ours""#,
        ),
        (
            "[[profiles]]\nname = 'nobody'",
            r#"5:8: profiles[1].name: expected the name of a built-in profile, or logins, ids or shared_logins beside it, found "nobody""#,
        ),
    ] {
        refused_for(&with(line), &[sentence]);
    }
    refused_for(
        "[[profiles]]\nlogins = ['@x']",
        &[
            "1:1: profiles[0].name: expected a name for the reviewer, found nothing",
            r#"2:11: profiles[0].logins[0]: expected a login without @ and [bot], such as "acme-reviewer", found "@x""#,
        ],
    );
}

#[test]
fn a_target_cannot_have_keys_of_another_kind() {
    refused_for(
        r#"
handoff.targets = [
  { name = "a", labels = ["x"] },
  { name = "b", kind = "command", body = "x" },
  { name = "c", kind = "issue", repository = "nonsense", assignees = ["@me", "a b"], timeout = 5 },
  { name = "d", kind = "repository_dispatch", labels = [] },
  { name = "e", kind = "comment", body = " " },
  { name = "f", kind = "webhook", secret_env = "A-B", timeout = "25h" },
  { name = "g", kind = "carrier pigeon", url = 3 },
  { name = "h", kind = "comment", body = "@x", command = ["y"] },
]"#,
        &[
            "3:26: handoff.targets[0].labels: expected a kind in the same table, found none",
            "4:3: handoff.targets[1].command: expected a list of texts: a program and its arguments, found nothing",
            r#"4:42: handoff.targets[1].body: expected no such key for the kind "command", found "x""#,
            r#"5:46: handoff.targets[2].repository: expected a repository as OWNER/NAME, found "nonsense""#,
            r#"5:71: handoff.targets[2].assignees[0]: expected a login, found "@me""#,
            r#"5:78: handoff.targets[2].assignees[1]: expected a login, found "a b""#,
            r#"5:96: handoff.targets[2].timeout: expected no such key for the kind "issue", found 5"#,
            "6:3: handoff.targets[3].event_type: expected the name of an event, of at most 100 characters, found nothing",
            r#"6:56: handoff.targets[3].labels: expected no such key for the kind "repository_dispatch", found a list"#,
            r#"7:42: handoff.targets[4].body: expected the text at the start of the comment, such as "@agent fix these", found " ""#,
            "8:3: handoff.targets[5].url: expected an https address, or an http address of this machine, found nothing",
            r#"8:48: handoff.targets[5].secret_env: expected the name of an environment variable, found "A-B""#,
            r#"8:65: handoff.targets[5].timeout: expected a time from 1 second to 1 day, in seconds or as "90s", "5m", "1h 30m", found "25h""#,
            r#"9:24: handoff.targets[6].kind: expected one of "command", "issue", "repository_dispatch", "comment", "webhook", found "carrier pigeon""#,
            r#"10:58: handoff.targets[7].command: expected no such key for the kind "comment", found a list"#,
        ],
    );
    let long = "e".repeat(101);
    let event =
        format!("[[handoff.targets]]\nname = 'a'\nkind = 'repository_dispatch'\nevent_type = '{long}'");
    assert!(parse(&event).is_err());
    assert!(parse(&event.replace(&long, &long[1..])).is_ok());
}

/// The address may have a password, and its path may be a secret.
#[test]
fn an_error_in_a_webhooks_address_does_not_show_the_address() {
    refused(
        "[[handoff.targets]]\nname = 'a'\nkind = 'webhook'\nurl = 'http://me:secret@hooks.example.com/secret'",
        r"
config.toml:4:7: handoff.targets[0].url: expected an https address, or an http address of this machine, found an unencrypted address (http) of another machine
  |
4 | url = …
  |       ^",
    );
    for target in ["url = 'htps://me:secret@x'", "url = 'https://me:secret@x'\nkind = 'issue'"] {
        let error = parse(&format!("[[handoff.targets]]\nname = 'a'\n{target}")).unwrap_err().to_string();
        assert!(error.contains("handoff.targets[0].url: expected") && !error.contains("secret"), "{error}");
    }
}

/// S4: the author's agent pushes, so it needs `drive`.
#[test]
fn repositories_listed_twice_or_with_an_author_but_no_drive_are_refused() {
    refused_for(
        r#"
repositories = [
  { name = "acme/shop", drive = "yes" },
  { name = "Acme/Shop" },
  { name = "acme" },
  { drive = true },
  { name = "acme/site", author = true, reviewers = ["codex", 3] },
]"#,
        &[
            r#"3:33: repositories[0].drive: expected true or false, found "yes""#,
            r#"4:12: repositories[1].name: expected a repository that no other entry has, found "Acme/Shop""#,
            r#"5:12: repositories[2].name: expected a repository as OWNER/NAME, found "acme""#,
            "6:3: repositories[3].name: expected a repository as OWNER/NAME, found nothing",
            "7:34: repositories[4].author: expected false, or `drive = true` in the same entry, found true",
            "7:62: repositories[4].reviewers[1]: expected the name of a reviewer, found 3",
        ],
    );
}

#[test]
fn a_bad_operator_and_bad_notifications_are_refused() {
    refused_for(
        r#"
[operator]
mention = "acme/leads"
label = " "
[notifications]
when = "always"
min_severity = "bad"
how = "desktop"
command = ["tell"]
"#,
        &[
            r#"3:11: operator.mention: expected a person or team to mention, such as "@alice" or "@acme/leads", found "acme/leads""#,
            r#"4:9: operator.label: expected the name of a label, or "" for none, found " ""#,
            r#"6:8: notifications.when: expected one of "off", "on", "severity", found "always""#,
            r#"7:16: notifications.min_severity: expected one of "nit", "low", "medium", "high", "critical", found "bad""#,
            r#"9:11: notifications.command: expected no such key unless how = "command", found a list"#,
        ],
    );
    refused_for(
        "notifications.how = 'command'",
        &["1:1: notifications.command: expected a list of texts: a program and its arguments, found nothing"],
    );
    refused_for(
        "[notifications]\nhow = 'pigeon'\ncommand = ['tell']",
        &[r#"2:7: notifications.how: expected one of "bell", "osc9", "desktop", "command", found "pigeon""#],
    );
}

#[test]
fn an_unknown_reviewer_of_a_repository_suggests_the_nearest_one() {
    refused(
        "[[repositories]]\nname = 'acme/shop'\nreviewers = ['coderabbit', 'codrabbit']",
        r#"
config.toml:3:28: repositories[0].reviewers[1]: expected a known reviewer (did you mean "coderabbit"?), found "codrabbit"
  |
3 | reviewers = ['coderabbit', 'codrabbit']
  |                            ^^^^^^^^^^^"#,
    );
    refused_for(
        "[[repositories]]\nname = 'acme/shop'\nreviewers = ['Orange', 'CodeRabbit', 'limes', 'nobody-like-this']\n\
         [[reviewers]]\nname = 'orange'\n[[profiles]]\nname = 'lime'\nlogins = ['lime-bot']\n",
        &[
            r#"3:14: repositories[0].reviewers[0]: expected a known reviewer (did you mean "orange"?), found "Orange""#,
            r#"3:24: repositories[0].reviewers[1]: expected a known reviewer (did you mean "coderabbit"?), found "CodeRabbit""#,
            r#"3:38: repositories[0].reviewers[2]: expected a known reviewer (did you mean "lime"?), found "limes""#,
            r#"3:47: repositories[0].reviewers[3]: expected a reviewer of [[reviewers]], of [[profiles]] or of the list that `cloture reviewers` prints, found "nobody-like-this""#,
        ],
    );
    // A reviewer with a mistake of its own is known.
    refused_for(
        "[[repositories]]\nname = 'acme/shop'\nreviewers = ['orange']\n[[reviewers]]\nname = 'orange'\nkind = 'robot'",
        &[r#"6:8: reviewers[0].kind: expected one of "program", "claude", "codex", "openai", found "robot""#],
    );
    let right = "[[repositories]]\nname = 'acme/shop'\nreviewers = ['orange', 'lime', 'copilot']\n\
                 [[reviewers]]\nname = 'orange'\n[[profiles]]\nname = 'lime'\nlogins = ['lime-bot']\n";
    parse(right).unwrap();
}

#[test]
fn a_profile_without_accounts_suggests_the_built_in_one() {
    refused_for(
        "[[profiles]]\nname = 'codrabbit'\nask_again = ''",
        &[
            r#"2:8: profiles[0].name: expected the name of a built-in profile (did you mean "coderabbit"?), or logins, ids or shared_logins beside it, found "codrabbit""#,
        ],
    );
}

#[test]
fn an_unknown_target_of_a_route_suggests_the_nearest_one() {
    refused_for(
        "[[handoff.targets]]\nname = 'fixer'\n[[handoff.routes]]\ntarget = 'fxier'",
        &[
            r#"4:10: handoff.routes[0].target: expected a target that [[handoff.targets]] declares (did you mean "fixer"?), found "fxier""#,
        ],
    );
}
