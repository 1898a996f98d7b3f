//! `config.example.toml` agrees with the code.

use super::parse;
use cloture::config::{Config, typed};
use serde_json::Value;
use std::collections::BTreeSet;

const EXAMPLE: &str = include_str!("../../../config.example.toml");

/// The example with its commented-out settings switched on.
pub(crate) fn switched_on() -> String {
    let lines = EXAMPLE.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if !setting.is_empty() && !setting.starts_with(' ') => setting,
        _ => line,
    });
    // `command` needs another value of `how`.
    lines.collect::<Vec<_>>().join("\n").replace("\nhow = \"bell\"\n", "\nhow = \"command\"\n")
}

/// The full names of all keys and tables in a value, without the indexes of lists.
fn keys(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    collect(value, &key, keys);
                    keys.insert(key);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, path, keys)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    collect(value, "", &mut found);
    found
}

fn known_keys() -> BTreeSet<String> {
    keys(&serde_json::to_value(typed::TypedConfig::blank()).unwrap())
}

fn keys_of(text: &str) -> BTreeSet<String> {
    keys(&toml::from_str(text).unwrap())
}

#[test]
fn a_copy_of_the_example_changes_nothing() {
    assert_eq!(parse(EXAMPLE).unwrap(), Config::default());
}

#[test]
fn the_example_names_every_key_and_no_other() {
    assert_eq!(keys_of(&switched_on()), known_keys());
    assert!(known_keys().contains("handoff.routes.min_severity"), "the keys of lists are included");
}

/// A key with a default is set to it, not commented out.
#[test]
fn the_example_has_the_default_of_every_key_with_one() {
    let without_a_default = |key: &String| {
        let in_a_list =
            ["handoff.targets", "handoff.routes", "profiles", "reviewers", "repositories", "watch"]
                .iter()
                .any(|list| key.starts_with(list));
        let in_author = key.starts_with("author.");
        let alone = [
            "github.api_url",
            "github.token_file",
            "journal.url",
            "operator.mention",
            "notifications.command",
        ];
        // The default colours depend on the theme.
        let in_colors = key.starts_with("tui.colors");
        in_a_list || in_author || in_colors || alone.contains(&key.as_str())
    };
    let expected: BTreeSet<String> = known_keys().into_iter().filter(|key| !without_a_default(key)).collect();
    assert_eq!(keys_of(EXAMPLE), expected);
}

#[test]
fn the_examples_lists_show_the_defaults() {
    let shown = parse(&switched_on()).unwrap();
    let least = "reviewers = [{ name = 'orange', kind = 'program', command = ['orange-review', '--careful'], \
                 env = ['ORANGE_TOKEN'] }]\nhandoff.targets = [{ name = 'fixer', kind = 'command', command = ['agent', 'fix'], \
                 env = ['AGENT_TOKEN'], directory = '/home/you/src/shop' }]\nrepositories = [{ name = 'acme/shop', \
                 reviewers = ['coderabbit', 'orange'] }]\n\
                 [author]\nkind = 'claude'\ncommand = ['claude', '--model', 'opus']\ncheckout = '/home/you/src/shop'\n\
                 env = ['ANTHROPIC_API_KEY', 'SSH_AUTH_SOCK']\nprompt_file = '/home/you/.config/cloture/fix.md'";
    let least = parse(least).unwrap();
    assert_eq!(shown.author.agent, least.author.agent);
    assert_eq!(shown.handoff.targets[0], least.handoff.targets[0]);
    let fixer = "fixer".into();
    assert_eq!(shown.targets[&fixer], least.targets[&fixer]);
    assert_eq!(shown.targets.len(), 5, "one of each kind");
    assert_eq!(shown.repositories, least.repositories);
    let mut reviewer = shown.reviewers[0].clone();
    assert_eq!(reviewer.price_per_call.take(), Some(0.25));
    assert_eq!(reviewer, least.reviewers[0]);
}

/// The comments name exactly the choices that the code accepts.
#[test]
fn the_example_names_the_choices_of_a_profile() {
    let section = EXAMPLE.split_once("# ---- Profiles").unwrap().1.split_once("# ---- Author").unwrap().0;
    let accepted = |key: &str, value: &str| {
        parse(&format!("[[profiles]]\nname = 'x'\nlogins = ['x']\n{key}").replace("VALUE", value)).is_ok()
    };
    let lists: [(&str, &[&str]); 7] = [
        ("kind = 'VALUE'", &["bot", "user", "any"]),
        ("posts = ['VALUE']", &["thread", "review", "comment", "check"]),
        ("title = 'VALUE'", &["none", "heading", "strong", "any_strong", "line"]),
        (
            "noise = [{ at = 'VALUE', pattern = 'x' }]",
            &["line", "lead", "badge", "notice", "small", "summary", "comment"],
        ),
        ("severity = [{ pattern = 'x', is = 'VALUE' }]", &["nit", "low", "medium", "high", "critical"]),
        (
            "body_layout = 'VALUE'",
            &["none", "folded_files", "folded_places", "folded_titles", "link_first", "link_last"],
        ),
        ("settles = ['VALUE']", &["thread", "edit", "reply"]),
    ];
    for (key, values) in lists {
        assert!(!accepted(key, "nonsense"), "{key}");
        for value in values {
            assert!(accepted(key, value), "{key}: {value}");
            assert!(section.contains(&format!("\"{value}\"")), "{value} is not documented");
        }
    }
}

/// One below and one above each range in the comments is refused.
#[test]
fn the_example_states_the_real_ranges() {
    let mut stated = 0;
    let mut comment = String::new();
    for line in EXAMPLE.lines() {
        if let Some(text) = line.strip_prefix("# ") {
            comment.push_str(text);
            comment.push(' ');
            continue;
        }
        if let Some((key, _)) = line.split_once(" = ")
            && let Some((_, range)) = comment.rsplit_once("From ")
            && !key.starts_with('#')
            && key != "poll_interval"
        {
            let mut numbers =
                range.split(' ').filter_map(|word| word.trim_end_matches(['.', ',']).parse().ok());
            let (least, most): (i64, i64) = (numbers.next().unwrap(), numbers.next().unwrap());
            for (value, allowed) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
                let read = parse(&format!("[policy]\n{key} = {value}"));
                assert_eq!(read.is_ok(), allowed, "{key} = {value}");
            }
            stated += 1;
        }
        comment.clear();
    }
    assert_eq!(stated, 13, "every number of the policy states its range");
}
