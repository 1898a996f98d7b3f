//! Which way the arrows point, and what the pure core may not touch. See `src/lib.rs` for the invariants in
//! words.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each top-level module may import of ours. A module that is not listed fails the test, so that adding
/// one means deciding where it stands.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("process", &[]),
    ("secret", &[]),
    ("http", &[]),
    ("github", &["domain", "http", "process", "secret"]),
    ("simulator", &["domain"]),
    ("object", &[]),
    ("reviewers", &["domain", "http", "object", "process", "secret"]),
    ("authors", &["domain", "process", "reviewers"]),
    ("journal", &["domain"]),
    ("config", &["authors", "domain", "github", "http", "journal", "reviewers"]),
    ("manual", &["cli"]),
    ("clean", &[]),
    ("thread_line", &["domain"]),
    ("failure", &["clean", "github"]),
    ("forge", &["config", "domain", "failure", "github"]),
    ("columns", &["clean", "domain"]),
    (
        "status",
        &[
            "clean",
            "columns",
            "config",
            "domain",
            "failure",
            "forge",
            "github",
            "journal",
            "people",
            "reviewers",
            "session",
            "supervisor",
            "thread_line",
        ],
    ),
    ("people", &["config", "domain", "failure", "github", "journal", "notify", "supervisor", "targets"]),
    (
        "inbox",
        &[
            "clean",
            "columns",
            "config",
            "domain",
            "failure",
            "forge",
            "github",
            "journal",
            "people",
            "reviewers",
            "session",
            "thread_line",
        ],
    ),
    (
        "queue",
        &[
            "clean",
            "columns",
            "config",
            "domain",
            "failure",
            "forge",
            "inbox",
            "people",
            "reviewers",
            "session",
            "supervisor",
            "targets",
        ],
    ),
    ("review", &["clean", "config", "domain", "failure", "forge", "github", "reviewers", "thread_line"]),
    (
        "doctor",
        &[
            "clean",
            "config",
            "domain",
            "failure",
            "forge",
            "github",
            "journal",
            "reviewers",
            "status",
            "targets",
        ],
    ),
    (
        "act",
        &[
            "clean",
            "domain",
            "failure",
            "forge",
            "github",
            "journal",
            "people",
            "reviewers",
            "session",
            "supervisor",
        ],
    ),
    (
        "supervisor",
        &[
            "authors",
            "clean",
            "config",
            "domain",
            "failure",
            "github",
            "journal",
            "notify",
            "reviewers",
            "targets",
        ],
    ),
    ("session", &["config", "failure", "forge", "github", "journal", "people", "reviewers", "supervisor"]),
    (
        "watch",
        &["clean", "config", "domain", "failure", "github", "journal", "notify", "people", "supervisor"],
    ),
    ("tui", &["clean", "config", "domain", "failure", "github", "journal", "people", "supervisor"]),
    (
        "demo",
        &[
            "authors",
            "config",
            "domain",
            "failure",
            "forge",
            "github",
            "http",
            "journal",
            "process",
            "reviewers",
            "session",
            "simulator",
            "supervisor",
            "tui",
        ],
    ),
    (
        "launch",
        &[
            "config",
            "domain",
            "failure",
            "forge",
            "github",
            "journal",
            "reviewers",
            "session",
            "supervisor",
            "tui",
        ],
    ),
    ("history", &["clean", "failure", "github", "journal"]),
    ("targets", &["clean", "config", "domain", "github", "http", "process", "reviewers"]),
    ("notify", &["clean", "config", "domain", "process"]),
    ("simulate", &["domain", "config", "object", "reviewers", "thread_line"]),
    ("bound", &["domain", "config"]),
    ("classify", &["clean", "domain", "object", "reviewers"]),
    ("roster", &["clean", "reviewers"]),
    ("cli", &["act", "domain", "failure", "people", "supervisor"]),
    ("lib", &[]),
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
fn the_domain_is_pure() {
    let sources = sources();
    let domain = sources.iter().filter(|(path, _)| module_of(path) == "domain");
    let problems: Vec<String> = domain.clone().flat_map(|(path, code)| impurities(path, code)).collect();
    assert!(domain.count() > 10, "the domain's files were not found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_wrong_arrow_and_an_impurity_are_found() {
    let path = Path::new("domain/machine.rs");
    for bad in [
        "use crate::config::Config;",
        "fn f() { crate::simulate::simulate(); }",
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
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == module) else {
        return if module == "main" {
            Vec::new()
        } else {
            vec![format!("{module} has no place in ARROWS yet")]
        };
    };
    let mut problems = Vec::new();
    for import in imports_of_ours(path, code) {
        if module != "lib" && import != module && !allowed.contains(&import.as_str()) {
            problems.push(format!("{}: {module} must not import {import}", path.display()));
        }
    }
    for (foreign, owner) in OWNED {
        if module != owner && code.contains(&format!("{foreign}::")) {
            problems.push(format!("{}: only {owner} may know {foreign}", path.display()));
        }
    }
    problems
}

/// The top-level modules of ours that the code names, by `crate::` or by climbing up with `super::`.
fn imports_of_ours(path: &Path, code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("crate::") {
        let rest = &code[start + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(top_level_of_group(group)),
            None => found.extend(identifier(rest)),
        }
    }
    // `src/a/b.rs` is two levels below the crate's root; one `super` more than that is outside its module.
    let depth = path.components().count();
    let climb = "super::".repeat(depth);
    for (start, _) in code.match_indices(&climb) {
        found.extend(identifier(&code[start + climb.len()..]));
    }
    found
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
    names.iter().filter_map(|name| identifier(name.trim())).collect()
}

fn identifier(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn impurities(path: &Path, code: &str) -> Vec<String> {
    let found = IMPURE.iter().filter(|word| code.contains(**word));
    found.map(|word| format!("{}: the core must not touch {word}", path.display())).collect()
}

fn module_of(path: &Path) -> String {
    let first = path.components().next().map(|c| c.as_os_str().to_string_lossy().into_owned());
    first.unwrap_or_default().trim_end_matches(".rs").to_owned()
}

/// Every source file below `src`, without its comments and its unit tests.
fn sources() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
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
