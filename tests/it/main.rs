//! The promises of the program, one module each. All modules are one test program, so the linker runs once.
//!
//! A test that changes its whole process, for example the logger, has its own file beside this folder.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod support;

mod act;
mod answer_schema;
mod architecture;
mod author_rounds;
mod bot_posts;
mod bot_reviews;
mod bound;
mod citations;
mod classify;
mod configuration;
mod decisions;
mod demo;
mod demo_acts;
mod docs;
mod doctor;
mod driven_reviewers;
mod duplicate_pairs;
mod duplicates;
mod errors;
mod faults;
mod files;
mod forge_polling;
mod forge_reading;
mod forge_writes;
mod fuzz;
mod github_client;
mod github_diff;
mod github_discovery;
mod github_documents;
mod github_polling;
mod github_reading;
mod github_writes;
mod identity;
mod invariants;
mod journal;
mod journal_command;
mod packaging;
mod people;
mod reply_intents;
mod review;
mod review_loop;
mod reviewer_adapters;
mod reviewer_request;
mod rules;
mod scale;
mod screens;
mod simulate;
mod simulator;
mod soak;
mod standard_output;
mod start;
mod status;
mod supervisor;
mod supply_chain;
mod targets;
mod terminal;
mod termination;
