//! L9 and H4 on the program itself: `cloture watch` and `cloture act` run as processes, over HTTP against the
//! simulator in this one, with their journal on disk. One of them gets SIGKILL right after a commit, or while
//! a request is held back. Then it is started again, and the forge must end as if nothing had happened.
//!
//! The test controls each process (`cloture::app::session::test_control`): time passes when the
//! test says so, and only after all work is done. The programs that Cloture runs (the reviewer, the author's
//! agent, the command of a handoff) are not killed with it, as in real life.

use super::authors::{FIX, Shop};
use super::crash::{forge, runtime};
use super::driven::{answer, reported};
use crate::support::harness::{MAJOR, SEVEN, finding, review};
use crate::support::simulated::show;
use cloture::app::session::test_control::{Order, Report, Terms, VARIABLE};
use cloture::journal::instance;
use cloture::simulator::{Fault, FaultKind, PullState};
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Where a process is killed. Commits and requests count from the start of that process.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    /// After this commit, before the process learns of it.
    Commit(u64),
    /// During this request, which never takes effect.
    Before(u32),
    /// After this request took effect, with its answer held back.
    After(u32),
}

/// Which process of the undisturbed history is killed, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kill {
    life: usize,
    at: At,
}

/// How one process went.
#[derive(Debug)]
struct Life {
    id: u32,
    /// None if it was killed.
    code: Option<i32>,
    commits: u64,
    /// For each of its requests, whether it was a write.
    requests: Vec<bool>,
    before_last_poll: Progress,
}

/// The commits and requests of a process so far.
#[derive(Debug, Default, Clone, Copy)]
struct Progress {
    commits: u64,
    requests: usize,
}

/// The results of one history.
#[derive(Debug)]
struct Left {
    forge: Value,
    facts: BTreeMap<String, usize>,
    /// How often the handoff command ran.
    runs: usize,
    /// Tasks whose arrival is uncertain.
    in_doubt: usize,
    /// How often the author's agent was dispatched.
    rounds: usize,
    lives: Vec<Life>,
}

/// A unique text, so that the test finds every copy of it.
const TOKEN: &str = "ghp_Ksesam0peny0urself";

const WATCH: &[&str] = &["watch", SEVEN];
const DISMISS: &[&str] =
    &["act", SEVEN, "src/cart.rs:7", "dismiss", "--reason", "Nobody calls it with nothing.", "--yes"];

/// A scenario with every kind of write: a driven reviewer, and an observed one that is asked at every head;
/// an author round; an escalated thread with label and reply; the round cap; a person's decision; the merge;
/// one task that becomes an issue and one that runs a command.
struct Stage {
    shop: Shop,
    reins: TcpListener,
}

impl Stage {
    async fn new() -> Stage {
        // Later than the clock of any machine: a decision gets the machine's time, or the forge's if that is
        // later.
        let shop = Shop::starting(FIX, "2126-03-02T09:00:00Z").await;
        let underflow = reported(3, "Subtraction underflows", "critical");
        answer(&shop.place, 1, &[], &[underflow, reported(7, "Empty slice panics", "high")]);
        let reply = ("@1", "reply", "seeks_change", "Still there.");
        answer(&shop.place, 2, &[reply, ("@2", "escalate", "seeks_change", "Worse.")], &[]);
        let agent = shop.place.script("agent", "cat > /dev/null; echo run >> \"$here/runs\"");
        let config = shop.config.replace("max_rounds = 2", "max_rounds = 1\nmax_attempts = 3");
        let config = config.replace("['orange']", "['orange', 'coderabbit']");
        let config = format!(
            "[operator]\nmention = '@acme/leads'\n{config}[handoff]\nmode = 'full_auto'\n\
             [[handoff.targets]]\nname = 'default'\nkind = 'issue'\nlabels = ['fix']\n\
             [[handoff.targets]]\nname = 'agent'\nkind = 'command'\ncommand = ['{agent}']\n\
             [[handoff.routes]]\ntarget = 'agent'\npaths = ['src/stock.rs']\n"
        );
        std::fs::write(shop.place.path("config.toml"), config).unwrap();
        let reins = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Stage { shop, reins }
    }

    /// All programs that the process starts inherit the ninth descriptor, so its output ends when all of them
    /// have ended.
    fn spawn(&self, arguments: &[&str]) -> Child {
        let place = &self.shop.place;
        let errors = File::options().append(true).create(true).open(place.path("errors")).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec 9>&1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cloture")])
            .args(["--api-url", &place.simulator.url()])
            .arg("--config")
            .arg(place.path("config.toml"))
            .arg("--state-dir")
            .arg(place.path("state"))
            .args(arguments)
            .env_clear()
            .env("HOME", place.folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GH_TOKEN", TOKEN)
            .env(VARIABLE, self.reins.local_addr().unwrap().port().to_string())
            .current_dir(place.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors)
            .kill_on_drop(true);
        command.spawn().unwrap()
    }

    /// Runs one process to its end or until it is killed. `dead` is the process that was killed before it.
    async fn live(&self, arguments: &[&str], at: Option<At>, dead: Option<u32>) -> Life {
        let simulator = &self.shop.place.simulator;
        let before = simulator.request_count();
        let (millis, stop_after) = (3_600_000, if let Some(At::Commit(n)) = at { Some(n) } else { None });
        match at {
            Some(At::Before(n)) => simulator.inject(Fault::nth("*", n, FaultKind::Stall { millis })),
            Some(At::After(n)) => simulator.inject(Fault::nth("*", n, FaultKind::Slow { millis })),
            Some(At::Commit(_)) | None => {}
        }
        let mut child = self.spawn(arguments);
        let id = child.id().unwrap();
        let mut output = child.stdout.take().unwrap();
        let output = tokio::spawn(async move {
            let mut text = String::new();
            output.read_to_string(&mut text).await.map(|_| text)
        });
        let (commits, before_last_poll) = (Cell::new(0), Cell::new(Progress::default()));
        let is_held = |outcome: &str| outcome.contains("fault: stall") || outcome.contains("fault: slow");
        let held = simulator.wait_until(|simulator| {
            at.is_some() && simulator.any_request(|request| is_held(&request.outcome))
        });
        let ended = async {
            tokio::select! {
                ended = child.wait() => Some(ended.unwrap()),
                () = self.ride(stop_after, dead, &commits, || {
                    let requests = simulator.request_count() - before;
                    before_last_poll.set(Progress { commits: commits.get(), requests });
                }) => None,
                () = held => None,
            }
        };
        let Ok(ended) = timeout(Duration::from_mins(3), ended).await else {
            panic!("{arguments:?} {at:?}: no end\n{}", self.shop.place.read("errors"))
        };
        if ended.is_none() {
            child.kill().await.unwrap();
            assert_eq!(child.wait().await.unwrap().signal(), Some(9));
        }
        // The programs that it started continue without it.
        let output = output.await.unwrap().unwrap();
        assert!(!output.contains(TOKEN), "{arguments:?} printed the token");
        simulator.clear_faults();
        let code = ended.map(|status| {
            let told = || format!("{arguments:?}: {output}{}", self.shop.place.read("errors"));
            status.code().unwrap_or_else(|| panic!("{status}: {}", told()))
        });
        let requests = simulator.requests_since(before).iter().map(|request| request.writes).collect();
        Life { id, code, commits: commits.get(), requests, before_last_poll: before_last_poll.get() }
    }

    /// Controls a process, and calls `polls` before each poll but the first. Returns at the commit after which
    /// the process has to stand still.
    async fn ride(&self, stop_after: Option<u64>, dead: Option<u32>, commits: &Cell<u64>, polls: impl Fn()) {
        let simulator = &self.shop.place.simulator;
        let (stream, _) = self.reins.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (reports, mut orders) = stream.into_split();
        say(&mut orders, &Terms { now: simulator.now(), stop_after }).await;
        let mut reports = BufReader::new(reports).lines();
        let (mut sleeps, mut is_woken) = (0, false);
        while let Ok(Some(line)) = reports.next_line().await {
            match serde_json::from_str(&line).unwrap() {
                Report::Commit(count) => {
                    commits.set(count);
                    if stop_after == Some(count) {
                        return;
                    }
                }
                // Something else woke the process in between.
                Report::Asleep if is_woken => {}
                Report::Asleep => {
                    sleeps += 1;
                    assert!(sleeps < 60, "the process never ends");
                    // The lease of the killed process holds once; then it expires.
                    if let (2, Some(dead)) = (sleeps, dead) {
                        self.let_lease_run_out(dead).await;
                    }
                    self.others_act();
                    say(&mut orders, &Order::Wake).await;
                    is_woken = true;
                }
                Report::Awake => {}
                Report::Woken(at) => {
                    is_woken = false;
                    polls();
                    let left = at.duration_since(simulator.now());
                    simulator.advance(Duration::try_from(left).unwrap_or(Duration::ZERO));
                    say(&mut orders, &Order::Now(simulator.now())).await;
                }
            }
        }
        // The process has released the lease and is about to end.
        std::future::pending::<()>().await;
    }

    /// By the database's clock, it would take minutes.
    async fn let_lease_run_out(&self, dead: u32) {
        let journal = self.shop.place.journal().await;
        for lease in journal.leases().await.unwrap() {
            if instance::name(&lease.holder).ends_with(&format!("/{dead}")) {
                assert!(journal.release(&lease).await.unwrap());
            }
        }
        journal.close().await.unwrap();
    }

    /// Lets the author's push arrive and the observed reviewer react.
    fn others_act(&self) {
        self.shop.deliver();
        let pull = self.shop.place.pull(SEVEN);
        let reviews = |by: &str| pull.reviews.iter().filter(|r| r.by == by && !r.body.is_empty()).count();
        let asked = pull.comments.iter().filter(|c| c.body.starts_with("@coderabbitai review")).count();
        // The driven reviewer always comes first, so that the order of the threads is fixed.
        let done = reviews("coderabbitai");
        if pull.state == PullState::Open && asked > done && reviews("dana") > done {
            let wraps = finding("a", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR);
            let findings = if done == 0 { vec![wraps] } else { Vec::new() };
            self.shop.place.play(&review(&findings));
        }
    }

    /// A person runs the program, reacts to how it ended, and runs it again. A killed process is run again as
    /// it was.
    async fn history(&self, kill: Option<Kill>) -> Left {
        let mut lives: Vec<Life> = Vec::new();
        let mut arguments = WATCH;
        loop {
            assert!(lives.len() < 12, "{kill:?}: no end: {lives:?}");
            let at = kill.filter(|kill| kill.life == lives.len()).map(|kill| kill.at);
            let dead = lives.iter().find(|life| life.code.is_none()).map(|life| life.id);
            let life = self.live(arguments, at, dead).await;
            let code = life.code;
            lives.push(life);
            match (arguments[0], code) {
                (_, None) => {}
                // L6: the round of an agent that had not started when Cloture was killed is spent, and no other
                // is left; a person steps in.
                ("watch", Some(14)) if self.shop.is_at_first_head() => {
                    self.shop.fix_by_hand();
                    self.shop.deliver();
                }
                ("watch", Some(14)) => arguments = DISMISS,
                ("act", Some(0)) => {
                    self.shop.place.play("{ merge = { by = 'dana' } }");
                    arguments = WATCH;
                }
                ("watch", Some(15)) => break,
                _ => panic!("{kill:?}: {lives:?}\n{}", self.shop.place.read("errors")),
            }
        }
        let place = &self.shop.place;
        let mut facts = BTreeMap::new();
        for fact in place.facts().await {
            *facts.entry(fact).or_default() += 1;
        }
        let records = place.records().await;
        let in_doubt = records.iter().filter(|record| {
            let why = record.body.get("unknown").and_then(Value::as_str);
            record.kind == "outcome" && why.is_some_and(|why| why.contains("interrupted"))
        });
        let mut forge = forge(&self.shop);
        // The order between a bot and a restarted process is not promised, and the round cap comes earlier after
        // a round that was lost.
        for posts in ["reviews", "comments"] {
            forge[posts].as_array_mut().unwrap().sort_by_key(ToString::to_string);
        }
        Left {
            forge,
            facts,
            runs: place.read("runs").lines().count(),
            in_doubt: in_doubt.count(),
            rounds: place.read("rounds").lines().count(),
            lives,
        }
    }
}

/// Sends to a process that may have ended.
async fn say(orders: &mut OwnedWriteHalf, what: &impl Serialize) {
    let line = format!("{}\n", serde_json::to_string(what).unwrap());
    let _ended = orders.write_all(line.as_bytes()).await;
}

fn history(kill: Option<Kill>) -> Left {
    runtime().block_on(async { Stage::new().await.history(kill).await })
}

/// Every file below a folder, with its content.
fn files(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else if let Ok(content) = std::fs::read(&path) {
            found.push((path, content));
        }
    }
}

/// S2, after every kind of write: reviews, replies, labels, an author round, a command, an issue.
#[test]
fn the_token_is_in_no_file_no_output_and_no_environment_of_what_is_run() {
    let (left, found) = runtime().block_on(async {
        let stage = Stage::new().await;
        let place = &stage.shop.place;
        // Each program saves its environment, and what it can see of its parent process.
        for name in ["reviewer", "author", "agent"] {
            let script = place.read(name).replacen(
                "#!/bin/sh\n",
                &format!(
                    "#!/bin/sh\nenv > '{0}.{name}' && tr '\\0' '\\n' < /proc/$PPID/cmdline >> '{0}.{name}'\n",
                    place.path("seen").display()
                ),
                1,
            );
            std::fs::write(place.path(name), script).unwrap();
        }
        let left = stage.history(None).await;
        let mut found = Vec::new();
        files(place.folder.path(), &mut found);
        files(stage.shop.repository.path(), &mut found);
        (left, found)
    });
    assert_eq!((left.runs, left.rounds), (1, 1));
    let names: Vec<String> =
        found.iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy().into()).collect();
    for name in ["seen.reviewer", "seen.author", "seen.agent", "journal.db", "errors"] {
        assert!(names.iter().any(|found| found == name), "{name} is not there: {names:?}");
    }
    let environments = found.iter().filter(|(path, _)| path.file_stem().is_some_and(|stem| stem == "seen"));
    assert!(environments.clone().all(|(_, content)| content.windows(5).any(|window| window == b"PATH=")));
    for (path, content) in &found {
        let is_in_it = content.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        assert!(!is_in_it, "the token is in {}", path.display());
    }
}

#[test]
fn l9_sigkill_at_every_commit_and_every_request_changes_nothing_in_the_end() {
    let undisturbed = history(None);
    let codes: Vec<Option<i32>> = undisturbed.lives.iter().map(|life| life.code).collect();
    assert_eq!(codes, [Some(14), Some(0), Some(15)], "the cap, a decision, the merge");
    let expected = &undisturbed.forge;
    assert_eq!(expected["comments"].as_array().unwrap().len(), 3, "asked twice, and the cap: {expected:#}");
    assert_eq!(expected["labels"], json!(["cloture:needs-a-person"]));
    assert_eq!(expected["issues"].as_array().unwrap().len(), 1);
    assert_eq!(expected["threads"].as_array().unwrap().len(), 3);
    assert_eq!((undisturbed.runs, undisturbed.rounds, undisturbed.in_doubt), (1, 1, 0));
    let once = ["decided", "dispatched", "merged"];
    assert!(once.iter().all(|kind| undisturbed.facts[*kind] == 1), "{:?}", undisturbed.facts);

    let points = points(&undisturbed.lives);
    let commits: u64 = undisturbed.lives.iter().map(|life| life.commits).sum();
    let requests: Vec<bool> = undisturbed.lives.iter().flat_map(|life| life.requests.clone()).collect();
    let writes = requests.iter().filter(|writes| **writes).count();
    let count = usize::try_from(commits).unwrap() + requests.len() + writes;
    assert_eq!(points.len(), count, "all points are tried");
    show(&format!(
        "SIGKILL: {count} points in {} processes: after {commits} commits, at {} requests, {writes} of them writes",
        undisturbed.lives.len(),
        requests.len()
    ));

    let (left, wrong, spared) = (Mutex::new(points), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let doubts = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(kill) = left.lock().unwrap().pop() else { return };
                    let found = history(Some(kill));
                    if found.lives.iter().all(|life| life.code.is_some()) {
                        let life = &found.lives[kill.life];
                        spared.lock().unwrap().push((kill, life.commits, life.requests.len()));
                    }
                    *doubts.lock().unwrap() += found.in_doubt;
                    let same = found.forge == *expected
                        && once.iter().all(|kind| found.facts.get(*kind) == Some(&1))
                        // H4: nobody can look for a command, so a person decides about one that may have run.
                        && found.runs <= 1
                        && (found.runs == 1 || found.in_doubt == 1)
                        && found.rounds <= 1;
                    if !same {
                        wrong.lock().unwrap().push(format!("{kill:?}: {found:#?}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} points; expected {expected:#}\n{}", wrong.len(), wrong.join("\n\n"));
    // A process may or may not start one more poll before it sees its end. If it survives, it never reached
    // the point: it ended with fewer commits or requests, and only that last poll can be missing.
    let spared = spared.into_inner().unwrap();
    show(&format!("SIGKILL: {} points were not reached: {spared:?}", spared.len()));
    let never_came = |(kill, commits, requests): &(Kill, u64, usize)| {
        let last_poll = undisturbed.lives[kill.life].before_last_poll;
        match kill.at {
            At::Commit(n) => *commits < n && n > last_poll.commits,
            At::Before(n) => {
                let n = usize::try_from(n).unwrap();
                *requests < n && n > last_poll.requests
            }
            At::After(_) => false,
        }
    };
    assert!(spared.iter().all(never_came), "not killed: {spared:?}");
    assert!(*doubts.lock().unwrap() > 0, "no kill hit the command under way");
}

/// Every commit, every request before it takes effect, and every write after it took effect.
fn points(lives: &[Life]) -> Vec<Kill> {
    let mut points = Vec::new();
    for (life, Life { commits, requests, .. }) in lives.iter().enumerate() {
        points.extend((1..=*commits).map(|n| Kill { life, at: At::Commit(n) }));
        for (n, writes) in (1..).zip(requests) {
            points.push(Kill { life, at: At::Before(n) });
            points.extend(writes.then_some(Kill { life, at: At::After(n) }));
        }
    }
    points
}
