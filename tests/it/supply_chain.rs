//! The dependencies: their sources, licences and banned crates. These tests use no network, so they do not
//! check advisories; `cargo deny` in CI does.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Licences that allow redistribution.
const LICENCES: [&str; 14] = [
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

/// A crate with a licence file (MIT) and no licence name.
const WITHOUT_LICENCE_NAME: [&str; 1] = ["jsonpath-rust"];

/// Another TLS library, or crates that need a system library.
const BANNED: [&str; 5] = ["openssl", "openssl-sys", "native-tls", "libgit2-sys", "curl-sys"];

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".to_owned());
    let version =
        Command::new(std::env::var("RUSTC").unwrap_or("rustc".to_owned())).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let platform = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(cargo)
        // Crates for other platforms may not be downloaded.
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Whether a licence expression allows redistribution.
fn is_allowed(terms: &str) -> bool {
    let either = |terms: &str| {
        let one_of: Vec<&str> = terms.split(" OR ").flat_map(|terms| terms.split('/')).collect();
        one_of.iter().any(|terms| LICENCES.contains(&terms.trim_matches(['(', ')', ' '])))
    };
    terms.split(" AND ").all(either)
}

#[test]
fn every_dependency_comes_from_the_registry_under_an_allowed_licence() {
    assert!(is_allowed("MIT OR GPL-3.0") && is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    let mut wrong = BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        match package["source"].as_str() {
            None => assert_eq!(name, "cloture", "only this crate is not from a registry"),
            Some(source) if source.starts_with("registry+") => {}
            Some(source) => drop(wrong.insert(format!("{name} comes from {source}"))),
        }
        match package["license"].as_str() {
            Some(terms) if is_allowed(terms) => {}
            None if WITHOUT_LICENCE_NAME.contains(&name) => {}
            terms => drop(wrong.insert(format!("{name} is under {terms:?}"))),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn there_is_one_tls_library_and_no_system_library() {
    let lock = include_str!("../../Cargo.lock");
    let names: BTreeSet<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    for banned in BANNED {
        assert!(!names.contains(banned), "{banned} is a dependency");
    }
    assert!(names.contains("rustls"));
}

/// Cargo compares each download with its checksum.
#[test]
fn every_locked_package_has_a_checksum() {
    let lock = include_str!("../../Cargo.lock");
    let packages = lock.matches("\nsource = \"registry+").count();
    assert_eq!(lock.matches("\nchecksum = \"").count(), packages);
}
