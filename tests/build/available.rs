//! The build script: it looks for two things that some tests need and not every machine has. The harness cannot ignore a test
//! while it runs, so these tests are ignored when they are compiled, each with its reason.
//!
//! - `has_shared`: the folder `shared` lies beside the repository. If you add it later, touch this file.
//! - `has_postgres`: `CLOTURE_TEST_POSTGRES` has the address of a server.
//!
//! Nothing in `src` depends on either.

#![expect(clippy::print_stdout, reason = "a build script speaks to cargo by its output")]

use std::env;
use std::path::Path;

/// Files of the folder that tests read.
const SHARED: [&str; 2] = ["../shared/bots/dev.jsonl", "../shared/github/schema.graphql"];

const POSTGRES: &str = "CLOTURE_TEST_POSTGRES";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_shared, has_postgres)");
    println!("cargo::rerun-if-changed=tests/build/available.rs");
    println!("cargo::rerun-if-env-changed={POSTGRES}");
    if SHARED.iter().all(|file| Path::new(file).is_file()) {
        println!("cargo::rustc-cfg=has_shared");
        // Only where they are: cargo would rebuild everything every time because of a missing file.
        for file in SHARED {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    if env::var_os(POSTGRES).is_some_and(|address| !address.is_empty()) {
        println!("cargo::rustc-cfg=has_postgres");
    }
}
