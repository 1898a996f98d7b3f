//! The pages name files, and tests that hold what they claim. All of these exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: [&str; 6] =
    ["ARCHITECTURE.md", "BENCHMARKS.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "docs"];

/// Folders in which a path on a page must exist. Other paths, and places such as `src/a.rs:12`, are examples.
const FOLDERS: [&str; 6] = ["src/", "tests/", "docs/", "assets/", "benches/", ".ci/"];

/// A function's name on a page is taken for a test's from this many underscores on.
const UNDERSCORES_OF_A_TEST: usize = 4;

#[test]
fn every_file_and_test_that_a_page_names_exists() {
    let functions: BTreeSet<String> = ["src", "tests", "benches"]
        .iter()
        .flat_map(|folder| files(folder))
        .flat_map(|path| functions(&path))
        .collect();
    let mut cited = 0;
    let mut missing = Vec::new();
    for page in PAGES.iter().flat_map(|page| files(page)) {
        for span in code_spans(&read(&page)) {
            let is_path =
                FOLDERS.iter().any(|folder| span.starts_with(folder)) && !span.contains(['*', '{', '…', ':']);
            let is_test = span.matches('_').count() >= UNDERSCORES_OF_A_TEST && is_identifier(&span);
            let exists = if is_path {
                root().join(span.split(' ').next().unwrap_or_default()).exists()
            } else {
                functions.contains(&span)
            };
            cited += usize::from(is_path || is_test);
            if (is_path || is_test) && !exists {
                missing.push(format!("{}: {span}", page.display()));
            }
        }
    }
    assert!(cited > 50, "only {cited} citations were found: the search does not see them");
    assert!(missing.is_empty(), "these do not exist:\n{}", missing.join("\n"));
}

#[test]
fn code_spans_are_found_outside_fences() {
    let page = "a `src/a.rs` and\n```sh\n`not_this_one_at_all`\n```\nthen `b_c_d_e_f`";
    assert_eq!(code_spans(page), ["src/a.rs", "b_c_d_e_f"]);
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// What stands between backticks, outside fenced blocks.
fn code_spans(page: &str) -> Vec<String> {
    let mut spans = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(ToOwned::to_owned));
        }
    }
    spans
}

fn functions(path: &Path) -> Vec<String> {
    let text = read(path);
    let after = text.split("fn ").skip(1);
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

/// A page, or every file below a folder.
fn files(path: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![PathBuf::from(path)];
    while let Some(path) = left.pop() {
        if root().join(&path).is_dir() {
            let entries = fs::read_dir(root().join(&path)).unwrap();
            left.extend(entries.map(|entry| path.join(entry.unwrap().file_name())));
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "md") {
            found.push(path);
        }
    }
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
