//! L13: a repository has one identity. Names in any spelling, renames, transfers, and names that another
//! repository took over.

use super::crash::{one_life, runtime};
use super::driven::{answer, config, reported};
use crate::support::harness::{EIGHT, Fatal, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use cloture::simulator::Scenario;

const STORE: &str = "acme/store#7";

fn rename(to: &str) -> String {
    format!("{{ rename = {{ by = 'dana', to = '{to}' }} }}")
}

/// The reviews that the driven reviewer posted. A reply is a review without a text, too.
fn reviews(place: &Place, name: &str) -> usize {
    place.pull(name).reviews.iter().filter(|review| !review.body.is_empty()).count()
}

fn calls(place: &Place) -> usize {
    place.read("calls").lines().count()
}

/// A shop whose driven reviewer has a finding at the first head, and accepts the second.
async fn shop() -> (Place, String) {
    shop_in(Place::new().await)
}

fn shop_in(place: Place) -> (Place, String) {
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    answer(&place, 2, &[("@1", "resolve", "accepts", "Fixed.")], &[]);
    (place, config)
}

/// The shop, and a desk whose #7 is another pull request.
async fn shop_and_desk() -> (Place, String) {
    let desk = r#"
        [[repository]]
        name = "acme/desk"
        members = { dana = "owner", erin = "collaborator" }
        files = { "src/desk.rs" = "// Nothing.\n" }

        [[pull_request]]
        repository = "acme/desk"
        number = 7
        title = "Paint the desk"
        author = "erin"
        branch = "paint"
        files = { "src/desk.rs" = "pub fn paint() {}\n" }
    "#;
    let shop = include_str!("../support/scenarios/shop.toml");
    let shop = shop.replace("SHA", "0123456789abcdef0123456789abcdef01234567");
    let scenario = Scenario::parse(&format!("{shop}\n{desk}"), "shop-and-desk.toml").unwrap();
    shop_in(Place::of(&scenario).await)
}

async fn run_on(place: &Place, config: &str, on: &[&str]) -> Run {
    place.run_as("one", config, on, Settings::default()).await
}

/// The records of a kind.
async fn count(place: &Place, kind: &str) -> usize {
    place.records().await.iter().filter(|record| record.kind == kind).count()
}

#[tokio::test]
async fn l13_a_name_in_another_spelling_is_the_same_pull_request() {
    let (place, config) = shop().await;
    let run = run_on(&place, &config, &["ACME/Shop#7"]).await;
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("issues_found"));
    assert_eq!(run.view().name().to_string(), SEVEN, "GitHub's spelling is shown");
    run.stop().await;
    let run = run_on(&place, &config, &["Acme/SHOP#7"]).await;
    run.ticks(2).await;
    run.stop().await;
    assert_eq!((calls(&place), reviews(&place, SEVEN)), (1, 1), "one history, whatever the spelling");
    let records = place.records().await;
    assert!(records.iter().all(|record| record.pull_request.as_ref().unwrap().to_string() == SEVEN));
}

/// The reviewer is paid once for each head, whatever name the next start uses.
#[tokio::test]
async fn l13_a_repository_that_was_renamed_before_the_start_keeps_its_history() {
    for to in ["acme/store", "mallory/shop"] {
        let (place, config) = shop().await;
        let run = run_on(&place, &config, &[SEVEN]).await;
        run.ticks(2).await;
        run.stop().await;
        assert_eq!((calls(&place), reviews(&place, SEVEN)), (1, 1));

        place.play(&rename(to));
        let new = format!("{to}#7");
        // The new name is not known yet, and the configuration still has the old one.
        let run = run_on(&place, &config, &[&new]).await;
        run.ticks(2).await;
        assert_eq!((calls(&place), reviews(&place, SEVEN)), (1, 1), "{to}: nothing is asked twice");
        assert_eq!(run.exit().as_deref(), Some("issues_found"), "{to}");
        run.stop().await;

        place.play(&push(1));
        let run = run_on(&place, &config, &[SEVEN]).await;
        run.ticks(3).await;
        assert_eq!((calls(&place), reviews(&place, SEVEN)), (2, 2), "{to}: the new head is reviewed");
        assert_eq!(run.exit().as_deref(), Some("success"), "{to}");
        assert_eq!(run.view().name().to_string(), new);
        assert!(place.pull(SEVEN).threads[0].resolved, "{to}");
        run.stop().await;

        let posts = place.posts();
        for name in [SEVEN, &new] {
            let run = run_on(&place, &config, &[name]).await;
            run.ticks(2).await;
            run.stop().await;
        }
        assert_eq!(place.posts(), posts, "{to}: nothing is posted twice");
        assert_eq!((calls(&place), count(&place, "asked").await), (2, 2), "{to}");
    }
}

#[tokio::test]
async fn l13_a_rename_while_it_is_watched_does_not_stop_the_loop() {
    // One pull request is read in full at each poll; several are compared by their ids.
    for on in [vec![SEVEN], vec![SEVEN, EIGHT]] {
        let (place, config) = shop().await;
        let run = run_on(&place, &config, &on).await;
        run.ticks(2).await;
        assert_eq!((calls(&place), reviews(&place, SEVEN)), (on.len(), 1));
        place.play(&rename("acme/store"));
        run.tick().await;
        assert_eq!(
            run.view().name().to_string(),
            STORE,
            "{on:?}: the new name is noticed without other news"
        );
        place.play(&push(1));
        run.ticks(3).await;
        assert_eq!((calls(&place), reviews(&place, SEVEN)), (on.len() + 1, 2), "{on:?}");
        assert_eq!(run.exit().as_deref(), Some("success"), "{on:?}");
        run.stop().await;
        assert_eq!(count(&place, "asked").await, on.len() + 1);
    }
}

/// L9: the kill at every commit of a loop in whose middle the repository is renamed.
#[test]
fn l13_a_rename_in_mid_loop_survives_a_kill_at_every_commit() {
    let world = runtime();
    let mut expected = None;
    for at in std::iter::once(usize::MAX).chain(1..) {
        let (place, config) = world.block_on(shop());
        let is_done = |run: &Run| {
            if reviews(&place, SEVEN) == 1 && place.simulator.pull_request(STORE).is_none() {
                place.play(&rename("acme/store"));
                place.play(&push(1));
            }
            run.exit().as_deref() == Some("success") && place.pull(SEVEN).threads[0].resolved
        };
        let ended = one_life(&world, &place, &config, Some(&Fatal::at(at)), is_done).is_some();
        if !ended {
            let ended = one_life(&world, &place, &config, None, is_done);
            assert!(ended.is_some(), "commit {at}: it does not come to an end");
        }
        let mut posts = place.posts();
        posts.sort();
        assert_eq!(&posts, expected.get_or_insert_with(|| posts.clone()), "commit {at}: each post once");
        if ended && at != usize::MAX {
            assert!(at > 10, "the history has only {at} commits");
            return;
        }
    }
}

#[tokio::test]
async fn l13_two_names_of_one_pull_request_are_one_loop() {
    let (place, config) = shop().await;
    place.play(&rename("acme/store"));
    let run = run_on(&place, &config, &[SEVEN, STORE]).await;
    run.ticks(3).await;
    assert_eq!((calls(&place), reviews(&place, SEVEN)), (1, 1));
    let board = run.board();
    assert_eq!(board.pull_requests.len(), 1);
    for name in [SEVEN, STORE, "ACME/Store#7"] {
        let view = board.get(&crate::support::harness::address(name)).unwrap();
        assert_eq!(view.exit().unwrap().name(), "issues_found", "{name}");
    }
    run.stop().await;
}

#[tokio::test]
async fn l13_an_old_name_that_another_repository_took_is_another_pull_request() {
    let (place, config) = shop_and_desk().await;
    let run = run_on(&place, &config, &[SEVEN]).await;
    run.ticks(2).await;
    assert_eq!(calls(&place), 1);

    // While it is watched: the loop stays with its pull request.
    place.play(&rename("acme/store"));
    place.play_on("acme/desk#7", &rename("acme/shop"));
    place.play_on(STORE, &push(1));
    run.ticks(3).await;
    assert_eq!(run.view().name().to_string(), STORE);
    assert_eq!((calls(&place), reviews(&place, STORE)), (2, 2));
    assert_eq!(reviews(&place, SEVEN), 0, "nothing is written to the repository with the old name");
    run.stop().await;

    // By its name: the repository that has the name now, with a history of its own.
    std::fs::write(place.path("answer-1"), r#"{"actions": [], "findings": [], "summary": "Fine."}"#).unwrap();
    let run = run_on(&place, &config, &[SEVEN]).await;
    run.ticks(2).await;
    assert_eq!(run.view().snapshot().unwrap().title, "Paint the desk");
    assert_eq!((calls(&place), reviews(&place, SEVEN)), (3, 1));
    run.stop().await;
    let run = run_on(&place, &config, &[STORE, SEVEN]).await;
    run.ticks(2).await;
    assert_eq!(run.board().pull_requests.len(), 2);
    run.stop().await;
    assert_eq!(calls(&place), 3, "neither is asked again");
}

/// H4: the key of a task does not change with the name.
#[tokio::test]
async fn l13_a_task_that_was_sent_before_the_rename_is_not_sent_again() {
    let place = Place::new().await;
    let config = "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['coderabbit']\n\
        [handoff]\nmode = 'threshold_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n";
    let run = run_on(&place, config, &[SEVEN]).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.ticks(2).await;
    place.play("{ merge = { by = 'dana' } }");
    run.tick().await;
    assert_eq!(place.simulator.issues().len(), 1);
    place.play(&rename("acme/store"));
    run.ticks(2).await;
    run.stop().await;
    for name in [STORE, SEVEN] {
        let run = run_on(&place, config, &[name]).await;
        run.ticks(2).await;
        run.stop().await;
    }
    assert_eq!((place.simulator.issues().len(), count(&place, "merged").await), (1, 1));
}

/// Over REST, GitHub answers the old name with the address to send the same request to.
#[tokio::test]
async fn l13_a_write_after_the_rename_goes_to_the_renamed_repository() {
    let place = Place::new().await;
    let config = "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['coderabbit']\n\
        [handoff]\nmode = 'threshold_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n\
        repository = 'acme/shop'\n";
    let run = run_on(&place, config, &[SEVEN]).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.ticks(2).await;
    place.play(&rename("acme/store"));
    place.play("{ merge = { by = 'dana' } }");
    run.ticks(2).await;
    assert_eq!(place.simulator.issues().len(), 1, "the target's old name leads to the new repository");
    run.stop().await;
}
