//! The build script: it looks for the things that some tests need and not every machine has. The test harness
//! cannot ignore a test while it runs, so the compiler marks these tests as ignored, each with its reason.
//!
//! - `has_shared`: the folder `shared` lies beside the repository.
//! - `has_postgres`: `CLOTURE_TEST_POSTGRES` has the address of a server.
//! - `has_python_and_curl`, `has_bash`: these programs are on the path.
//!
//! If you add the folder or a program later, touch this file. Nothing in `src` depends on any of this.

#![expect(clippy::print_stdout, reason = "a build script speaks to cargo by its output")]

use std::env;
use std::path::Path;

/// Files of the folder that tests read.
const SHARED: [&str; 2] = ["../shared/bots/dev.jsonl", "../shared/github/schema.graphql"];

const POSTGRES: &str = "CLOTURE_TEST_POSTGRES";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_shared, has_postgres, has_python_and_curl, has_bash)");
    println!("cargo::rerun-if-changed=tests/build/available.rs");
    println!("cargo::rerun-if-env-changed={POSTGRES}");
    if SHARED.iter().all(|file| Path::new(file).is_file()) {
        println!("cargo::rustc-cfg=has_shared");
        // Only where the files exist: cargo would rebuild everything every time because of a missing file.
        for file in SHARED {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    if env::var_os(POSTGRES).is_some_and(|address| !address.is_empty()) {
        println!("cargo::rustc-cfg=has_postgres");
    }
    if is_on_path("python3") && is_on_path("curl") {
        println!("cargo::rustc-cfg=has_python_and_curl");
    }
    if is_on_path("bash") {
        println!("cargo::rustc-cfg=has_bash");
    }
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
