//! What the program is made of: where it comes from, under which terms, and what must not be among it. It needs no network, so
//! it knows no advisories.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Terms that let anybody pass the program on as it is.
const TERMS: [&str; 14] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// A crate that only has a file with its terms in it: MIT, as was looked up.
const WITHOUT_A_NAME_FOR_THEM: [&str; 1] = ["jsonpath-rust"];

/// Another TLS beside rustls, or what would need a C library of the system.
const UNWANTED: [&str; 5] = ["openssl", "openssl-sys", "native-tls", "libgit2-sys", "curl-sys"];

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".to_owned());
    let version =
        Command::new(std::env::var("RUSTC").unwrap_or("rustc".to_owned())).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let platform = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(cargo)
        // What other platforms need may never have been downloaded here.
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Whether somebody may choose terms among these that are all right.
fn is_fine(terms: &str) -> bool {
    let either = |terms: &str| {
        let one_of: Vec<&str> = terms.split(" OR ").flat_map(|terms| terms.split('/')).collect();
        one_of.iter().any(|terms| TERMS.contains(&terms.trim_matches(['(', ')', ' '])))
    };
    terms.split(" AND ").all(either)
}

#[test]
fn everything_comes_from_the_registry_under_terms_that_fit_and_nothing_unwanted_is_in_it() {
    assert!(is_fine("MIT OR GPL-3.0") && is_fine("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!is_fine("GPL-3.0") && !is_fine("MIT AND GPL-3.0"));
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    let mut wrong = BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        match package["source"].as_str() {
            None => assert_eq!(name, "cloture", "only this is not from a registry"),
            Some(source) if source.starts_with("registry+") => {}
            Some(source) => drop(wrong.insert(format!("{name} comes from {source}"))),
        }
        match package["license"].as_str() {
            Some(terms) if is_fine(terms) => {}
            None if WITHOUT_A_NAME_FOR_THEM.contains(&name) => {}
            terms => drop(wrong.insert(format!("{name} is under {terms:?}"))),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn there_is_one_tls_and_no_library_of_the_system() {
    let lock = include_str!("../../Cargo.lock");
    let names: BTreeSet<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    for unwanted in UNWANTED {
        assert!(!names.contains(unwanted), "{unwanted} got in");
    }
    assert!(names.contains("rustls"));
}

/// What was downloaded is what was locked.
#[test]
fn every_package_of_the_lock_has_a_checksum() {
    let lock = include_str!("../../Cargo.lock");
    let packages = lock.matches("\nsource = \"registry+").count();
    assert_eq!(lock.matches("\nchecksum = \"").count(), packages);
}
