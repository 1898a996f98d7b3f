//! The author's agent: a real program in a real checkout, started once per head under every fault.

use super::Operation;
use super::dispatches::{begins, calls, has_hung, time_limit};
use super::stage::Stage;
use super::state::forge;
use super::table::Told;
use super::trouble::Trouble;
use crate::support::folder;
use crate::support::harness::{Place, SEVEN, finding, review};
use cloture::simulator::Fault;
use cloture::supervisor::LoopCommand as Order;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

const DATE: &str = "2026-03-02T09:00:00Z";

/// An author that adds a line far from every finding and pushes. The same head always gets the same commit.
const FIX: &str = "export GIT_AUTHOR_DATE=2026-03-02T09:00:00Z GIT_COMMITTER_DATE=2026-03-02T09:00:00Z\n\
    echo another >> notes.txt && git add notes.txt && git -c user.name=T -c user.email=t@example.com \
    commit --quiet -m fix && git push --quiet origin HEAD:discount";

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", DATE)
        .env("GIT_COMMITTER_DATE", DATE)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The pull request's branch in a real repository.
struct Branch {
    _folder: TempDir,
    remote: PathBuf,
    checkout: PathBuf,
}

impl Branch {
    fn new() -> Branch {
        let folder = folder::temporary();
        let (remote, checkout) = (folder.path().join("acme/shop.git"), folder.path().join("checkout"));
        std::fs::create_dir_all(&remote).unwrap();
        git(&remote, &["init", "--quiet", "--bare", "--initial-branch=main"]);
        git(folder.path(), &["clone", "--quiet", remote.to_str().unwrap(), checkout.to_str().unwrap()]);
        git(&checkout, &["switch", "--quiet", "-c", "discount"]);
        std::fs::write(checkout.join("notes.txt"), "one\n").unwrap();
        git(&checkout, &["add", "notes.txt"]);
        git(&checkout, &["commit", "--quiet", "-m", "one"]);
        git(&checkout, &["push", "--quiet", "origin", "discount"]);
        git(&checkout, &["switch", "--quiet", "--detach"]);
        Branch { _folder: folder, remote, checkout }
    }

    fn head(&self) -> String {
        git(&self.remote, &["rev-parse", "discount"])
    }

    /// Tells the simulator about a push.
    fn deliver(&self, place: &Place) {
        let head = self.head();
        if place.pull(SEVEN).head != head {
            let notes = git(&self.remote, &["show", "discount:notes.txt"]);
            place.play(&format!(
                "{{ push = {{ by = 'erin', sha = '{head}', files = {{ 'notes.txt' = '''\n{notes}\n''' }} }} }}"
            ));
        }
    }
}

pub(crate) async fn operation() -> Operation {
    let (wanted, asked, _) = history(None, 0, None).await;
    let wanted: Arc<[String]> = wanted.into();
    Operation {
        name: "dispatch: author".to_owned(),
        runs_programs: false,
        under: Box::new(move |trouble| {
            let wanted = Arc::clone(&wanted);
            Ok(Box::pin(async move { history(Some(trouble), asked, Some(wanted)).await.2 }))
        }),
    }
}

/// A finding, an author round, a clean review. A fault of the forge begins after `asked` requests, when the
/// author is at work or done. A fault of this machine begins just before.
async fn history(
    trouble: Option<Trouble>,
    asked: usize,
    wanted: Option<Arc<[String]>>,
) -> (Vec<String>, usize, Told) {
    let branch = Branch::new();
    let first = branch.head();
    let place = Place::with_head(&first).await;
    let author = place.script("author", &format!("{}{FIX}", begins(trouble)));
    let config = format!(
        "[policy]\nmax_rounds = 2\n[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['coderabbit']\n\
         [author]\nkind = 'program'\ncommand = ['{author}']\ncheckout = '{}'\n{}",
        branch.checkout.display(),
        time_limit(trouble)
    );
    let mut stage = Stage::new(place, config, trouble).await;
    stage.tick().await;
    let problem = finding("a", "src/cart.rs", 3, "The subtraction underflows", "🔴 Critical");
    stage.place.play(&review(&[problem]));
    stage.strike_here().await;
    if let Some(kind) = trouble.filter(|it| *it != Trouble::Hangs).and_then(|it| it.on_forge("repository")) {
        let nth = u32::try_from(asked).unwrap() + 1;
        stage.place.simulator.inject(Fault { on: "*".to_owned(), nth, times: 0, kind });
    }
    let before = stage.place.simulator.request_count();
    stage.tick().await;
    let asked = stage.place.simulator.request_count() - before;
    let left = |stage: &Stage| {
        let mut all = forge(&stage.place.simulator);
        // A round that hangs is spent, and the next one does the work.
        let worked = calls(&stage.place) - has_hung(&stage.place);
        all.push(format!("the author worked {worked} times"));
        all
    };
    stage.endure(wanted.as_deref(), left).await;
    stage.look_at_journal().await;
    stage.told.tries = has_hung(&stage.place);
    stage.end().await;
    let mut is_reviewed = false;
    let others = |stage: &Stage| -> Vec<Order> {
        branch.deliver(&stage.place);
        if stage.place.pull(SEVEN).head != first && !is_reviewed {
            stage.place.play("{ resolve = { by = 'coderabbitai', thread = 'a' } }");
            stage.place.play(&review(&[]));
            is_reviewed = true;
        }
        Vec::new()
    };
    let found = stage.settle(wanted.as_deref(), left, others).await;
    let calls = calls(&stage.place);
    assert!(wanted.is_some() || calls == 1, "{found:#?}");
    stage.told.tries = stage.told.tries.max(calls);
    let tries = stage.told.tries;
    stage.told.expect(tries <= 12, || format!("it was tried {tries} times"));
    stage.stop().await;
    (found, asked, stage.told)
}
