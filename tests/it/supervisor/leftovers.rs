//! What an author round leaves behind when Cloture is killed, and who removes it.

use super::authors::{Shop, argues_for_ever, git};
use crate::support::harness::SEVEN;
use crate::support::program::{Run, finish, program};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// An agent that says that it has begun, and works until the test lets it end.
const WORKS: &str =
    "cat > /dev/null; echo begun > \"$here/begun\"; while [ ! -e \"$here/go\" ]; do sleep 0.05; done";

/// The program on the shop, with a folder of its own for temporary files.
fn cloture(shop: &Shop, arguments: &[&str]) -> Command {
    let place = &shop.place;
    fs::create_dir_all(place.path("tmp")).unwrap();
    fs::write(
        place.path("config.toml"),
        shop.config.replace("[policy]\n", "[policy]\npoll_interval = '1s'\n"),
    )
    .unwrap();
    let url = place.simulator.url();
    let (config, state) = (place.path("config.toml"), place.path("state"));
    let own =
        ["--api-url", &url, "--config", config.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
    let mut command = program(place.folder.path(), &[&own, arguments].concat());
    command.env("TMPDIR", place.path("tmp"));
    command
}

async fn look_once(shop: &Shop) -> Run {
    let run = finish(cloture(shop, &["watch", "--once", SEVEN])).await;
    assert_ne!(run.code, 70, "{run:?}");
    run
}

/// Waits for something that another process does.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), waiting).await.is_ok(), "{what}");
}

/// The folders in the temporary folder.
fn folders(shop: &Shop) -> Vec<PathBuf> {
    let entries = fs::read_dir(shop.place.path("tmp")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// The work trees that git knows, without the checkout itself.
fn trees(checkout: &Path) -> Vec<String> {
    let listed = git(checkout, &["worktree", "list", "--porcelain"]);
    let trees = listed.lines().filter_map(|line| line.strip_prefix("worktree "));
    trees.skip(1).map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn the_next_start_removes_the_clone_of_a_killed_round_once_nobody_uses_it() {
    let shop = Shop::new(WORKS).await;
    argues_for_ever(&shop.place);
    let checkout = shop.repository.path().join("checkout");
    // None of these are a round's: a person's work tree, one on a disk that is not mounted, and a folder.
    let (persons, unmounted) = (shop.place.path("persons/work"), shop.place.path("unmounted/work"));
    for tree in [&persons, &unmounted] {
        git(&checkout, &["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
    }
    fs::remove_dir_all(unmounted.parent().unwrap()).unwrap();
    let foreign = shop.place.path("tmp/cloture-work-of-somebody");
    fs::create_dir_all(&foreign).unwrap();
    let others = trees(&checkout);
    assert_eq!(others.len(), 2);

    let mut first = cloture(&shop, &["watch", SEVEN]).stdout(Stdio::null()).spawn().unwrap();
    until("the agent never began", || shop.place.path("begun").exists()).await;
    first.kill().await.unwrap();
    let left = folders(&shop);
    assert_eq!((left.len(), trees(&checkout)), (2, others.clone()), "{left:?}");
    let round = left.into_iter().find(|folder| *folder != foreign).unwrap();
    assert!(round.join("work/.git").exists());

    // The agent ends with Cloture.
    let lock = File::open(round.join("lock")).unwrap();
    until("the agent never ends", || lock.try_lock().is_ok()).await;
    // As long as somebody uses the clone, such as an agent that left its process group, it is not touched.
    look_once(&shop).await;
    assert!(round.join("work/.git").exists());
    drop(lock);
    look_once(&shop).await;
    assert_eq!(folders(&shop), [foreign]);
    assert_eq!(trees(&checkout), others, "nothing else is touched");
}

/// A version that made linked work trees was killed before the update.
#[tokio::test]
async fn the_next_start_removes_a_linked_work_tree_of_an_earlier_version() {
    let shop = Shop::new(WORKS).await;
    let checkout = shop.repository.path().join("checkout");
    let folder = shop.place.path("tmp/cloture-work-1");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("lock"), "").unwrap();
    git(&checkout, &["worktree", "add", "--quiet", "--detach", folder.join("work").to_str().unwrap()]);
    assert_eq!(trees(&checkout).len(), 1);
    look_once(&shop).await;
    assert!(!folder.exists());
    assert_eq!(trees(&checkout), [""; 0]);
}

/// A restart of the machine may empty the temporary folder. Then only git's entry is left.
#[tokio::test]
async fn the_next_start_removes_gits_entry_for_a_work_tree_that_is_gone() {
    let shop = Shop::new(WORKS).await;
    let checkout = shop.repository.path().join("checkout");
    for folder in ["cloture-work-1", ".tmp1"] {
        let tree = shop.place.path("tmp").join(folder).join("work");
        git(&checkout, &["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
        fs::remove_dir_all(tree.parent().unwrap()).unwrap();
    }
    assert_eq!(trees(&checkout).len(), 2);
    look_once(&shop).await;
    assert_eq!(trees(&checkout), [""; 0]);
}
