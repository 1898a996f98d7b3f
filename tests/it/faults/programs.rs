//! Start and stop of the real program under every fault, in a terminal and with `watch`.

use super::journal::{Disk, zero};
use super::stage::Stage;
use super::state::forge;
use super::table::Told;
use super::trouble::{NOBODY, Trouble, struck};
use super::{Operation, Running, poll};
use crate::support::coverage;
use crate::support::harness::{DRIVEN, Place, push, review};
use crate::support::here::{Here, WATCHED};
use crate::support::program::TOKEN;
use crate::support::pty::{Played, WITHOUT_ROOM};
use cloture::journal::{Journal, JournalAddress, JournalOptions, NewRecord};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

/// The promise is one second. A busy machine may take longer, and a program that hangs takes at least ten
/// times as long.
const AT_ONCE: Duration = Duration::from_secs(4);
/// The variable for a host that is not github.com.
const TOKENS: [&str; 2] = ["GH_TOKEN", "GH_ENTERPRISE_TOKEN"];
/// A timeout for one step, long enough for a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn operations() -> Vec<Operation> {
    let operation = |name: &str, under: fn(Trouble) -> Result<Running, &'static str>| Operation {
        name: name.to_owned(),
        runs_programs: true,
        under: Box::new(under),
    };
    vec![
        operation("start: terminal", |trouble| {
            if trouble.jump().is_some() {
                return Err(
                    "the machine's clock is not a test's to set; `start: watch` has a clock of its own",
                );
            }
            Ok(blocking(move || start_in_terminal(trouble)))
        }),
        operation("start: watch", |trouble| {
            Ok(match trouble.jump() {
                Some(_) => Box::pin(start_after_jump(trouble)),
                None => blocking(move || start_watching(trouble)),
            })
        }),
        operation("stop: terminal", |trouble| {
            if trouble.jump().is_some() || trouble == Trouble::DiskFull {
                return Err(
                    "neither can be made to happen to a program at work; `stop: watch` does it in this one",
                );
            }
            Ok(blocking(move || stop_terminal(trouble)))
        }),
        operation("stop: watch", |trouble| {
            Ok(match trouble {
                Trouble::ClockForward | Trouble::ClockBack | Trouble::DiskFull => {
                    Box::pin(stop_here(trouble))
                }
                _ => blocking(move || stop_watching(trouble)),
            })
        }),
    ]
}

fn blocking(cell: impl FnOnce() -> Told + Send + 'static) -> Running {
    Box::pin(async move {
        let told = tokio::task::spawn_blocking(cell).await;
        told.unwrap_or_else(|error| {
            let said = error.into_panic();
            let said = said.downcast_ref::<String>().cloned().unwrap_or_default();
            Told::broken(said)
        })
    })
}

/// The program's surroundings, with the fault in them.
struct Scene {
    here: Here,
    trouble: Trouble,
    disk: Disk,
}

impl Scene {
    /// A home with a journal of an earlier run.
    fn new(trouble: Trouble, config: &str) -> Scene {
        let here = Here::new();
        here.configure(config);
        let path = here.path("state").join(JournalAddress::FILE_NAME);
        Handle::current().block_on(async {
            let address = JournalAddress::file(&path);
            let journal =
                Journal::open(&address, JournalOptions::new(here.simulator().now())).await.unwrap().journal;
            journal.append_one(NewRecord::new("note", "somebody")).await.unwrap();
            journal.close().await.unwrap();
        });
        let disk = Disk::of(&path);
        Scene { here, trouble, disk }
    }

    fn journal(&self) -> PathBuf {
        self.here.path("state").join(JournalAddress::FILE_NAME)
    }

    /// Begins the fault before a start.
    fn begin_before(&mut self) {
        match self.trouble {
            Trouble::JournalDamaged => zero(&self.journal()),
            Trouble::NoSuchHost => NOBODY.clone_into(&mut self.here.url),
            _ => self.begin(),
        }
    }

    /// Begins the fault while the program runs.
    fn begin(&mut self) {
        self.trouble.begin(self.here.simulator(), "*", "repository");
        if self.trouble != Trouble::DiskFull {
            Handle::current().block_on(self.disk.strike(self.trouble, None));
        }
    }

    fn end(&mut self) {
        self.here.simulator().clear_faults();
        self.here.url = self.here.simulator().url();
        if self.trouble == Trouble::JournalLocked {
            Handle::current().block_on(self.disk.end(self.trouble));
        }
    }

    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let state = self.here.path("state").display().to_string();
        let fixed = ["--api-url", &self.here.url, "--state-dir", &state];
        fixed.iter().chain(more).map(|argument| (*argument).to_owned()).collect()
    }

    fn terminal(&self, is_without_room: bool) -> Played {
        let arguments = self.arguments(&[]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut environment = vec![("PATH", "/usr/bin:/bin"), ("USER", "somebody")];
        environment.extend(TOKENS.map(|name| (name, TOKEN)));
        let start = if is_without_room { Played::start_without_room } else { Played::start };
        start(self.here.home.path(), (160, 40), &arguments, &environment)
    }

    fn lines(&self, more: &[&str], is_without_room: bool) -> Command {
        let program = env!("CARGO_BIN_EXE_cloture");
        let mut command = if is_without_room {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", WITHOUT_ROOM, "sh", program]);
            command
        } else {
            Command::new(program)
        };
        command.args(self.arguments(&[&["watch"], more].concat())).env_clear();
        command.envs(coverage::variable());
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.here.home.path());
        command.envs(TOKENS.map(|name| (name, TOKEN)));
        command.current_dir(self.here.home.path()).stdin(Stdio::null());
        command
    }

    fn has_struck(&self, told: &mut Told) {
        let tries = struck(self.here.simulator());
        told.tries = tries;
        told.expect(self.trouble.on_forge("").is_none() || tries > 0, || "it never struck".to_owned());
    }

    /// Waits until the program has met the fault.
    fn until_met(&self) {
        let simulator = self.here.simulator();
        let is_on_forge = self.trouble.on_forge("").is_some();
        if !is_on_forge {
            // A new record makes the program write.
            self.here.perform("acme/shop#1", "{ comment = { by = 'erin', body = 'Please look again.' } }");
        }
        let before = simulator.request_count();
        let met = simulator.wait_until(|it| match self.trouble {
            Trouble::NoSuchHost => true,
            _ if is_on_forge => struck(it) > 0,
            _ => it.request_count() > before + 2,
        });
        Handle::current().block_on(async { timeout(PATIENCE, met).await }).unwrap();
    }
}

// ---- Start ------------------------------------------------------------------------------------------------

/// The screen's sentence about a fault.
fn signs(trouble: Trouble) -> &'static [&'static str] {
    match trouble {
        // Until the program knows more.
        Trouble::SlowLoris | Trouble::Hangs => &["Searching for"],
        Trouble::BadToken | Trouble::NotAllowed => &["not allowed"],
        Trouble::SecondaryLimit | Trouble::HourlyLimit => &["rate limited"],
        Trouble::Gone => &["found nothing there", "not there"],
        Trouble::DiskFull => &["no journal"],
        Trouble::JournalLocked => &["is busy", "no journal"],
        Trouble::JournalDamaged => &["was damaged"],
        _ => &["offline"],
    }
}

fn start_in_terminal(trouble: Trouble) -> Told {
    let mut told = Told::default();
    let mut scene = Scene::new(trouble, WATCHED);
    scene.begin_before();
    let mut played = scene.terminal(trouble == Trouble::DiskFull);
    if matches!(trouble, Trouble::SlowLoris | Trouble::Hangs) {
        scene.until_met();
    }
    let signs = signs(trouble);
    played.until(signs[0], |screen| signs.iter().any(|sign| screen.contents().contains(sign)));
    let contents = played.contents();
    let tells = [
        "offline", "allowed", "limit", "nothing", "journal", "Looking", "failed", "refused", "answered",
        "reach",
    ];
    for line in contents.lines().filter(|line| tells.iter().any(|word| line.contains(word))) {
        // The heading, without the names of the screens.
        let line = line.replace("cloture  1 Watch  2 Inbox  3 Handoff  4 Journal", "");
        told.show(line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    scene.end();
    if matches!(trouble, Trouble::NoSuchHost | Trouble::DiskFull) {
        played.press("q");
        played.ended();
        played = scene.terminal(false);
    } else {
        played.press("u");
    }
    for title in ["Change number 1", "Change number 2", "Change number 3"] {
        played.until_shown(title);
    }
    played.press("q");
    let ended = played.ended();
    told.expect(ended.success(), || format!("it ends with {ended:?}"));
    scene.has_struck(&mut told);
    told.compare(&forge(scene.here.simulator()), &forge(Here::new().simulator()));
    told
}

/// The last line of `watch` without a fault.
const ISSUES_FOUND: i32 = 10;

/// `watch` polls twice and gives up.
const IMPATIENT: &str = "[policy]\npoll_interval = '1s'\nmax_attempts = 2\n";

fn start_watching(trouble: Trouble) -> Told {
    let mut told = Told::default();
    let mut scene = Scene::new(trouble, IMPATIENT);
    scene.begin_before();
    // The program waits for a hanging server longer than a test can, and for a locked journal as long as its
    // busy timeout.
    let most = if trouble == Trouble::JournalLocked { "33s" } else { "5s" };
    let without_room = trouble == Trouble::DiskFull;
    let first = scene.lines(&["acme/shop#1", "--timeout", most], without_room).output().unwrap();
    let text = [first.stdout, first.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    for line in text.lines() {
        told.show(line);
    }
    scene.has_struck(&mut told);
    scene.end();
    let second = scene.lines(&["acme/shop#1", "--timeout", "20s"], false).output().unwrap();
    let said = String::from_utf8(second.stdout).unwrap();
    told.expect(second.status.code() == Some(ISSUES_FOUND), || {
        format!("afterwards: {:?} {said}", second.status)
    });
    let is_told = first.status.code() != Some(ISSUES_FOUND) || text.contains("damaged");
    told.expect(is_told && !told.shown.is_empty(), || format!("nobody was told: {text}"));
    let tries = told.tries;
    told.expect(tries <= 12, || format!("it asked {tries} times"));
    told.compare(&forge(scene.here.simulator()), &forge(Here::new().simulator()));
    told
}

/// A clock that was set between two runs.
async fn start_after_jump(trouble: Trouble) -> Told {
    let (wanted, _) = poll::history(None, None).await;
    let mut stage = Stage::new(Place::new().await, DRIVEN.to_owned(), Some(trouble)).await;
    stage.tick().await;
    stage.place.play(&review(&[poll::again("a")]));
    stage.tick().await;
    stage.restart().await;
    stage.strike_here().await;
    stage.place.play(&push(1));
    stage.place.play(&review(&[poll::again("b")]));
    stage.settle(Some(&wanted), |stage| forge(&stage.place.simulator), |_| Vec::new()).await;
    stage.stop().await;
    stage.told
}

// ---- Stop -------------------------------------------------------------------------------------------------

fn took(told: &mut Told, began: Instant) {
    let took = began.elapsed();
    told.show(format!("(left within {:.1} s)", took.as_secs_f64()));
    told.expect(took < AT_ONCE, || format!("leaving took {took:?}"));
}

fn stop_terminal(trouble: Trouble) -> Told {
    let mut told = Told::default();
    let mut scene = Scene::new(trouble, WATCHED);
    if trouble == Trouble::NoSuchHost {
        scene.begin_before();
    }
    let mut played = scene.terminal(false);
    if trouble == Trouble::NoSuchHost {
        played.until_shown("offline");
    } else {
        played.until_shown("The call recurses");
        scene.begin();
    }
    scene.until_met();
    let began = Instant::now();
    played.press("q");
    let ended = played.ended();
    took(&mut told, began);
    told.expect(ended.success(), || format!("it ends with {ended:?}"));
    scene.has_struck(&mut told);
    told
}

/// Two reviewers are expected and one came, so the loop waits.
const WAITING: &str = "[policy]\npoll_interval = '1s'\nmax_attempts = 1000\n\
    [[repositories]]\nname = 'acme/shop'\nreviewers = ['coderabbit', 'codex']\n";

fn stop_watching(trouble: Trouble) -> Told {
    let mut told = Told::default();
    let mut scene = Scene::new(trouble, WAITING);
    if trouble == Trouble::NoSuchHost {
        scene.begin_before();
    }
    let mut command = scene.lines(&["acme/shop#1"], false);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    // After its first line it handles signals.
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    told.show(line.trim());
    if trouble != Trouble::NoSuchHost {
        let simulator = scene.here.simulator();
        let polled = simulator.wait_until(|it| it.request_count() >= 2);
        Handle::current().block_on(async { timeout(PATIENCE, polled).await }).unwrap();
        scene.begin();
    }
    scene.until_met();
    let (began, code) = interrupt(child);
    took(&mut told, began);
    told.expect(code == Some(18) || code == Some(4) || code == Some(2), || format!("it ends with {code:?}"));
    scene.has_struck(&mut told);
    told
}

fn interrupt(mut child: Child) -> (Instant, Option<i32>) {
    let began = Instant::now();
    let id = child.id().to_string();
    // It may have ended by itself because it had nothing to wait for.
    let _ended = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status().unwrap();
    (began, child.wait().unwrap().code())
}

/// Faults that a test cannot cause in another process strike a supervisor in this one.
async fn stop_here(trouble: Trouble) -> Told {
    let mut stage = Stage::new(Place::new().await, DRIVEN.to_owned(), Some(trouble)).await;
    stage.tick().await;
    stage.strike_here().await;
    stage.place.play(&push(1));
    stage.place.play(&review(&[poll::again("a")]));
    stage.tick().await;
    let began = Instant::now();
    stage.stop().await;
    took(&mut stage.told, began);
    stage.told
}
