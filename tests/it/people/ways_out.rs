//! The ways out of a loop (L6), the break-glass label (R7) and `cloture pr`, carried out on the simulator
//! with intent and outcome in the journal.

use super::world::World;
use crate::support::simulated;
use cloture::config::Config;
use cloture::domain::review_loop::Exit;
use cloture::domain::snapshot::PullRequestSnapshot;
use cloture::github::permission;
use cloture::github::write::MergeMethod;
use cloture::github::writer::WritePace;
use cloture::github::{Client, Reader, Writer};
use cloture::journal::{Journal, JournalAddress, JournalOptions, PullRequestKey, RecordFilter};
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::{Fault, FaultKind, PullState};
use cloture::supervisor::LoopCommand;
use cloture::supervisor::computed_state::RepositoryRules;
use cloture::supervisor::history::History;
use cloture::supervisor::people::stored::compute_stored;
use cloture::supervisor::people::ways_out::way_out;
use cloture::supervisor::people::{PlanOutcome, Way, WayOut, WayOutMeans, WayOutQuery, ways_out, write_out};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A person at the simulator, with a journal.
struct Person {
    world: World,
    config: Config,
    profiles: Profiles,
    client: Client,
    journal: Journal,
}

impl Person {
    async fn new(config: &str) -> Person {
        let world = World::new().await;
        let client = simulated::client(&world.simulator.url(), "secret", simulated::PATIENT);
        let file = JournalAddress::file(world.home.path().join("state").join(JournalAddress::FILE_NAME));
        let journal = Journal::open(&file, JournalOptions::new(world.simulator.now())).await.unwrap().journal;
        let config = Config::parse(Path::new("config.toml"), config.as_bytes()).unwrap();
        Person { world, config, profiles: Profiles::built_in().unwrap(), client, journal }
    }

    fn about(&self) -> PullRequestKey {
        let address = simulated::address("acme/shop", 1);
        let host = self.client.host().name().to_owned();
        PullRequestKey { host, repository: address.repository, number: address.number }
    }

    async fn look(&self) -> Arc<PullRequestSnapshot> {
        let reader = Reader::new(self.client.clone());
        Arc::new(reader.read(&simulated::address("acme/shop", 1)).await.unwrap().snapshot)
    }

    /// All ways out, as they are planned now.
    async fn ways(&self, exit: Option<&Exit>) -> Vec<WayOut> {
        let history = History::load(&self.journal, &self.about()).await.unwrap();
        let computed = compute_stored(&self.look().await, &history, &self.config, &self.profiles);
        let rules = RepositoryRules::of(&self.config, &self.profiles, &self.about().repository, false);
        let methods = permission::ask(&self.client, &self.about().repository).await.unwrap().methods;
        let query = WayOutQuery {
            computed: &computed,
            history: &history,
            rules: &rules,
            exit,
            methods: &methods,
            by: "dana",
            reason: None,
        };
        let ways = ways_out(&query).unwrap();
        for way in &ways {
            assert_eq!(way_out(way.way, &query).unwrap(), *way, "the same state gives the same plan");
        }
        ways
    }

    async fn way(&self, way: Way) -> WayOut {
        self.ways(None).await.into_iter().find(|found| found.way == way).unwrap()
    }

    async fn write(&self, way: &WayOut) -> PlanOutcome {
        let WayOutMeans::Write(planned) = &way.means else { panic!("nothing to write: {way:?}") };
        let pace = WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO], attempts: 1 };
        let writer = Writer::new(self.client.clone(), pace);
        write_out(planned, "dana", &self.about(), &self.journal, &writer).await
    }

    /// Carries out one way, which must succeed, and returns it.
    async fn done(&self, way: Way) -> WayOut {
        let found = self.way(way).await;
        let done = self.write(&found).await;
        assert_eq!(found.trouble(&done), None, "{done:?}");
        found
    }

    /// The keys of the intents and of the outcomes.
    async fn names(&self) -> (Vec<String>, Vec<String>) {
        let records = self.journal.records(RecordFilter::default()).await.unwrap();
        let of = |kind: &str| {
            let keys =
                records.iter().filter(|record| record.kind == kind).filter_map(|record| record.key.clone());
            keys.collect::<Vec<String>>()
        };
        (of("intent"), of("outcome"))
    }
}

fn refusal(way: &WayOut) -> &str {
    match &way.means {
        WayOutMeans::Not(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn l6_every_way_says_what_it_does_or_why_it_is_not_possible() {
    let person = Person::new("").await;
    let ways = person.ways(Some(&Exit::RoundCap { rounds: 3, author_gave_up: false })).await;
    let names: Vec<&str> = ways.iter().map(|way| way.way.name()).collect();
    assert_eq!(
        names,
        [
            "merge as it is, with a merge commit",
            "merge as it is, squashed",
            "merge as it is, rebased",
            "approve in spite of the open findings",
            "close and reopen",
            "push the last fix by hand",
            "grant one more round",
            "break glass",
            "mend the glass",
        ]
    );
    let head = person.world.pull().head[..8].to_owned();
    assert_eq!(
        ways[1].sentences,
        [
            format!("Merge acme/shop#1 at {head} with one squashed commit."),
            "State now: 3 findings are left to fix.".to_owned(),
            "3 findings are left unsettled.".to_owned()
        ]
    );
    assert_eq!(ways[4].sentences[..2], ["Close acme/shop#1 without merging it.", "Reopen acme/shop#1."]);
    assert_eq!(ways[5].means, WayOutMeans::ByHand);
    assert!(ways[5].sentences[0].contains("to the branch discount of acme/shop yourself"), "{:?}", ways[5]);
    let grant = LoopCommand::GrantRound { by: "dana".to_owned(), why: String::new() };
    assert_eq!(ways[6].means, WayOutMeans::Tell(grant));
    assert_eq!(refusal(&ways[8]), "the glass is not broken");
    let before = person.ways(None).await;
    assert_eq!(refusal(&before[6]), "the author's rounds are not spent, so there is nothing to grant");

    person.done(Way::Merge(MergeMethod::Squash)).await;
    assert_eq!(person.world.pull().state, PullState::Merged);
    for way in person.ways(Some(&Exit::RoundCap { rounds: 3, author_gave_up: false })).await.iter().take(8) {
        assert_eq!(refusal(way), "it is merged already", "{way:?}");
    }
    let (intents, outcomes) = person.names().await;
    assert_eq!(intents, outcomes);
    assert_eq!(intents.len(), 1);
    assert!(
        intents[0].starts_with("acme/shop#1/person/merge/") && intents[0].ends_with("/squash/1"),
        "{intents:?}"
    );
}

#[tokio::test]
async fn an_approval_is_posted_once_however_often_it_is_chosen() {
    let person = Person::new("").await;
    person.done(Way::Approve).await;
    person.done(Way::Approve).await;
    assert_eq!(person.world.changes(), ["review"]);
}

#[tokio::test]
async fn closing_and_reopening_are_two_writes_and_the_first_is_not_repeated() {
    let person = Person::new("").await;
    person.world.done("src/a.rs:1", &["queue"]).await;
    let way = person.way(Way::CloseAndReopen).await;
    assert_eq!(way.sentences.len(), 3, "H1: the queue comes back, so nothing is lost: {:?}", way.sentences);
    let broken = FaultKind::Status { status: 500, message: String::new(), takes_effect: false };
    person.world.simulator.inject(Fault::always("reopenPullRequest", broken));
    let done = person.write(&way).await;
    let trouble = way.trouble(&done).unwrap();
    assert!(
        trouble.starts_with("acme/shop#1 is closed now and was not reopened. It was not done: "),
        "{trouble}"
    );
    assert!(trouble.ends_with("and does not close it a second time."), "{trouble}");
    assert_eq!(
        (person.world.changes(), person.world.pull().state),
        (vec!["close".to_owned()], PullState::Closed)
    );

    person.world.simulator.clear_faults();
    let rest = person.done(Way::CloseAndReopen).await;
    assert_eq!(rest.sentences[0], "Reopen acme/shop#1.");
    assert_eq!(person.world.changes(), ["close", "reopen"]);
    assert_eq!(person.world.pull().state, PullState::Open);
    person.world.simulator.advance(Duration::from_mins(1));
    person.done(Way::CloseAndReopen).await;
    assert_eq!(
        person.world.changes(),
        ["close", "reopen", "close", "reopen"],
        "another time is another write"
    );
    let (intents, outcomes) = person.names().await;
    assert_eq!(intents.len(), 4, "the reopening that failed was finished under its own name: {intents:?}");
    assert_eq!(intents, outcomes);
}

#[tokio::test]
async fn r7_the_label_breaks_and_mends_the_glass_as_often_as_a_person_likes() {
    let person = Person::new("[break_glass]\nlabel = 'stop'\n").await;
    for _ in 0..2 {
        person.done(Way::BreakGlass).await;
        assert_eq!(person.world.pull().labels, ["stop"]);
        assert_eq!(refusal(&person.way(Way::BreakGlass).await), "the glass is broken already");
        let mended = person.done(Way::MendGlass).await;
        assert_eq!(mended.sentences[0], "Take the label \"stop\" off acme/shop#1.");
        assert_eq!(person.world.pull().labels, [""; 0]);
    }
    assert_eq!(person.world.changes(), ["label", "unlabel", "label", "unlabel"]);
    let (intents, outcomes) = person.names().await;
    assert_eq!(intents, outcomes);
    let expected = ["label/stop/1", "unlabel/stop/1", "label/stop/2", "unlabel/stop/2"];
    assert_eq!(intents, expected.map(|name| format!("acme/shop#1/person/{name}")));
}

#[tokio::test]
async fn r7_without_a_label_a_phrase_breaks_the_glass_and_only_its_writer_mends_it() {
    let person = Person::new("[break_glass]\nlabel = ''\nphrase = '/stop it'\n").await;
    let way = person.way(Way::BreakGlass).await;
    assert_eq!(way.means, WayOutMeans::ByHand, "R5: a post with Cloture's marker does not count");
    assert!(way.sentences[0].starts_with("Comment \"/stop it\" on acme/shop#1 yourself"), "{way:?}");
    let comment = r#"do = [{ comment = { by = "erin", body = "/stop it" } }]"#;
    person.world.simulator.perform_toml("acme/shop#1", comment).unwrap();
    let mend = person.way(Way::MendGlass).await;
    assert!(refusal(&mend).starts_with("erin broke the glass with a comment"), "{mend:?}");
}

/// Every write of `cloture pr` has an intent before it and an outcome after it.
#[tokio::test]
async fn every_write_of_pr_is_in_the_journal() {
    let world = World::new().await;
    let pr = async |what: &[&str]| {
        let run = world.run(&[&["pr", "acme/shop#1"], what, &["--yes", "--json"]].concat()).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    };
    pr(&["label", "old"]).await;
    pr(&["unlabel", "old"]).await;
    pr(&["label", "old"]).await;
    pr(&["comment", "--body", "Hello."]).await;
    pr(&["comment", "--body", "Hello."]).await;
    pr(&["dispatch", "fix"]).await;
    pr(&["dispatch", "fix"]).await;
    pr(&["close"]).await;
    assert_eq!(world.changes(), ["label", "unlabel", "label", "comment", "dispatch", "dispatch", "close"]);
    let (intents, outcomes) = (world.records("intent").await, world.records("outcome").await);
    let keys = |records: &[serde_json::Value]| -> Vec<String> {
        records.iter().map(|record| record["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&intents), keys(&outcomes));
    assert_eq!(intents.len(), 8, "{:?}", keys(&intents));
    assert!(intents.iter().all(|record| record["by"] == "dana" && record["number"] == 1));
    assert_eq!(intents[0]["body"]["does"], "Put the label \"old\" on acme/shop#1.");
    assert_eq!(outcomes[4]["body"]["outcome"], "It was there already, so nothing was sent.");

    let refused = world.run(&["pr", "acme/shop#1", "merge", "--yes", "--json"]).await;
    assert_ne!(refused.code, 0, "{refused:?}");
    assert_eq!(world.records("intent").await.len(), 9);
    assert_eq!(world.records("outcome").await.len(), 8, "a refused write may be tried again");
}

/// The terminal's menu and the command line plan with the same keys.
#[tokio::test]
async fn the_same_approval_from_the_menu_and_from_the_command_is_posted_once() {
    let person = Person::new("").await;
    person.done(Way::Approve).await;
    let approve = ["pr", "acme/shop#1", "approve", "--yes", "--json"];
    let again = person.world.run(&approve).await;
    assert_eq!((again.code, again.err.as_str()), (0, ""), "{again:?}");
    assert_eq!(person.world.changes(), ["review"]);
    let (intents, outcomes) = person.names().await;
    assert_eq!(intents, outcomes);
    let keys: Vec<_> = intents.iter().filter_map(|name| name.rsplit_once('/')).map(|(key, _)| key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1], "both have the same key");

    let under_another_key = person.world.run(&[&approve[..], &["--key", "second"]].concat()).await;
    assert_eq!((under_another_key.code, under_another_key.err.as_str()), (0, ""), "{under_another_key:?}");
    assert_eq!(person.world.changes(), ["review"], "this head is approved already");
    let (intents, _) = person.names().await;
    assert!(!intents[2].starts_with(keys[0]), "a caller's own key takes the head's place: {intents:?}");
}
