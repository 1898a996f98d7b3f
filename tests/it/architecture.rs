//! Which way the arrows point, and what the pure core may not touch. See `src/lib.rs` for the invariants in
//! words.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of `src`, the innermost first. A room may import itself and every room of a line above its own;
/// a module listed by its own name stands where it is listed and not where the rest of its room does.
const LAYERS: [&[&str]; 13] = [
    &["domain", "output::sanitize"],
    &["agents::bounded_file"],
    &["agents::http", "agents::process", "agents::secret", "replies"],
    &["github", "journal", "output", "reviewers", "simulator"],
    &["agents::authors"],
    &["config", "failure"],
    &["agents"],
    &["supervisor"],
    &["tui"],
    &["app"],
    &["commands"],
    &["cli"],
    &["main"],
];

/// Foreign crates that only one module may know.
const OWNED: [(&str, &str); 4] =
    [("octocrab", "github"), ("sqlx", "journal"), ("ratatui", "tui"), ("crossterm", "tui")];

/// What would make the same input give two outputs, or reach outside.
const IMPURE: [&str; 22] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::io",
    "std::thread",
    "std::path",
    "SystemTime",
    "Instant",
    "Timestamp::now",
    "Zoned::now",
    "HashMap",
    "HashSet",
    "RandomState",
    "tokio",
    "rand::",
    "println!",
    "eprintln!",
    "async fn",
    ".await",
    "static mut",
    "thread_local!",
];

#[test]
fn arrows_point_inward() {
    let problems: Vec<String> = sources().iter().flat_map(|(path, code)| wrong_arrows(path, code)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_place_in_the_list_exists() {
    let sources = sources();
    let stale: Vec<&&str> = LAYERS
        .iter()
        .flat_map(|rooms| rooms.iter())
        .filter(|room| {
            !sources.keys().any(|path| place_of(&module_of(path)).is_some_and(|(at, _)| at == **room))
        })
        .collect();
    assert!(stale.is_empty(), "no module is called {stale:?} any more");
}

#[test]
fn only_main_writes_to_the_error_stream_and_decides_the_exit_code() {
    let words = ["eprintln!", "eprint!", "stderr()", "ExitCode", "process::exit", "process::abort"];
    only_in(&["main.rs"], &words);
}

#[test]
fn only_the_system_clock_asks_for_the_time_of_day() {
    only_in(&["supervisor/clock.rs"], &["Timestamp::now", "Zoned::now", "SystemTime"]);
}

#[test]
fn t8_a_loop_comes_into_being_in_one_place_and_only_its_own_module_changes_it() {
    // The fields are private, so every other change goes through `ReviewLoop::wake`.
    only_in(&["supervisor/obeyed_commands.rs"], &["ReviewLoop::new(", "ReviewLoop::deserialize("]);
    only_in(&["domain/review_loop.rs"], &["ReviewLoop::default("]);
    let module = &sources()[Path::new("domain/review_loop.rs")];
    let fields = module.split_once("pub struct ReviewLoop {").and_then(|(_, rest)| rest.split_once('}'));
    let (fields, _) = fields.expect("the loop is declared there");
    assert!(!fields.contains("pub "), "a field of the loop is public: {fields}");
}

#[test]
fn only_the_test_controls_read_their_variable() {
    only_in(&["app/session/test_control.rs"], &["CLOTURE_TEST_"]);
}

/// Holds that these files, and no others, contain the words.
fn only_in(files: &[&str], words: &[&str]) {
    let sources = sources();
    let named = |path: &Path| files.iter().any(|file| path == Path::new(file));
    for (path, code) in &sources {
        for word in words.iter().filter(|word| code.contains(**word)) {
            assert!(named(path), "{} must not contain {word}", path.display());
        }
    }
    let seen = sources
        .iter()
        .filter(|(path, _)| named(path))
        .flat_map(|(_, code)| words.iter().map(|w| code.contains(w)));
    assert!(seen.into_iter().any(|seen| seen), "{files:?} no longer contain any of {words:?}");
}

#[test]
fn the_domain_is_pure() {
    let sources = sources();
    let domain = sources.iter().filter(|(path, _)| top_level(&module_of(path)) == "domain");
    let problems: Vec<String> = domain.clone().flat_map(|(path, code)| impurities(path, code)).collect();
    assert!(domain.count() > 10, "the domain's files were not found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_wrong_arrow_and_an_impurity_are_found() {
    let path = Path::new("domain/machine.rs");
    for bad in [
        "use crate::config::Config;",
        "fn f() { crate::commands::simulate::simulate(); }",
        "use crate::{domain::policy, reviewers};",
        "use super::super::config;",
        "use octocrab::Octocrab;",
    ] {
        assert_eq!(wrong_arrows(path, bad).len(), 1, "{bad}");
    }
    for bad in ["let now = std::time::Instant::now();", "use std::collections::HashMap;", "std::fs::read(p)"]
    {
        assert!(!impurities(path, bad).is_empty(), "{bad}");
    }
    assert_eq!(
        code_of("let a = 1; // HashMap\n/* tokio */ let b = \"//\";"),
        "let a = 1; \n let b = \"//\";"
    );
    assert!(wrong_arrows(path, "use super::policy::Policy; use crate::domain::place;").is_empty());
}

fn wrong_arrows(path: &Path, code: &str) -> Vec<String> {
    let module = module_of(path);
    if module == "lib" {
        return Vec::new();
    }
    let Some((room, layer)) = place_of(&module) else {
        return vec![format!("{module} has no place in LAYERS yet")];
    };
    let mut problems = Vec::new();
    for import in imports_of_ours(path, code) {
        let inward = place_of(&import).is_none_or(|(other, below)| other == room || below < layer);
        if !inward {
            problems.push(format!("{}: {module} must not import {import}", path.display()));
        }
    }
    for (foreign, owner) in OWNED {
        if top_level(&module) != owner && code.contains(&format!("{foreign}::")) {
            problems.push(format!("{}: only {owner} may know {foreign}", path.display()));
        }
    }
    problems
}

/// The longest name in [`LAYERS`] that a module belongs to, and its layer. None for an item of the crate's
/// root.
fn place_of(module: &str) -> Option<(&'static str, usize)> {
    let layers = LAYERS.iter().enumerate();
    let places = layers.flat_map(|(layer, rooms)| rooms.iter().map(move |room| (*room, layer)));
    let is_in = |room: &str| module == room || module.strip_prefix(room).is_some_and(|m| m.starts_with("::"));
    places.filter(|(room, _)| is_in(room)).max_by_key(|(room, _)| room.len())
}

fn top_level(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

/// The modules of ours that the code names, by `crate::` or by climbing up with `super::`.
fn imports_of_ours(path: &Path, code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("crate::") {
        let rest = &code[start + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(top_level_of_group(group)),
            None => found.extend(module_path(rest)),
        }
    }
    // `src/a/b.rs` is two levels below the crate's root; one `super` more than that is outside its module.
    let depth = path.components().count();
    let climb = "super::".repeat(depth);
    for (start, _) in code.match_indices(&climb) {
        found.extend(module_path(&code[start + climb.len()..]));
    }
    found
}

/// The first two names of a path, which is as fine as [`LAYERS`] gets: `agents::http` of
/// `agents::http::Address`.
fn module_path(text: &str) -> Option<String> {
    let room = identifier(text)?;
    let inner = text[room.len()..].strip_prefix("::").and_then(identifier);
    Some(inner.map_or_else(|| room.clone(), |inner| format!("{room}::{inner}")))
}

fn top_level_of_group(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut names = vec![String::new()];
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(String::new()),
            _ if depth == 0 => names.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    names.iter().filter_map(|name| module_path(name.trim())).collect()
}

fn identifier(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn impurities(path: &Path, code: &str) -> Vec<String> {
    let found = IMPURE.iter().filter(|word| code.contains(**word));
    found.map(|word| format!("{}: the core must not touch {word}", path.display())).collect()
}

/// `agents::http` for `agents/http.rs` and for everything below `agents/http/`.
fn module_of(path: &Path) -> String {
    let parts = path.iter().take(2).map(|part| part.to_string_lossy().trim_end_matches(".rs").to_owned());
    parts.collect::<Vec<_>>().join("::")
}

/// Every source file below `src`, without its comments and its unit tests.
fn sources() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if path.is_dir() {
                folders.push(path);
            } else if is_test || path.parent().unwrap().ends_with("tests") {
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = code_of(text.split("#[cfg(test)]").next().unwrap());
                files.insert(path.strip_prefix(&root).unwrap().to_owned(), code);
            }
        }
    }
    files
}

/// The text without comments. Strings are left in place, so that `"//"` is no comment.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").map_or(rest.len(), |end| end + 2)..];
        } else if c == '"' {
            let mut escaped = false;
            let inside = rest[1..].char_indices().find(|&(_, c)| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = inside.map_or(rest.len(), |(index, _)| index + 2);
            code.push_str(&rest[..end]);
            rest = &rest[end..];
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    code
}
