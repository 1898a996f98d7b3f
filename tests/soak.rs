//! A soak: hours of virtual time, hundreds of pull requests, bots, authors and people by chance, faults and crashes all the
//! way. After every step both sides are held against what must always be so.
//!
//! `CLOTURE_SOAK_SEED`, `CLOTURE_SOAK_PULLS` and `CLOTURE_SOAK_HOURS` ask for another one, or a larger one;
//! `CLOTURE_SOAK_TELL` has every step told. What the world does
//! follows from the seed alone; which request a fault hits also depends on how the requests of one poll overtake each
//! other.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "soak/bite.rs"]
mod bite;
#[path = "soak/course.rs"]
mod course;
mod dice;
#[path = "soak/forge_side.rs"]
mod forge_side;
#[path = "supervisor/harness.rs"]
#[expect(dead_code, reason = "the supervisor's own tests use the rest")]
mod harness;
#[path = "soak/inhabitants.rs"]
mod inhabitants;
#[path = "soak/lives.rs"]
mod lives;
#[cfg(target_os = "linux")]
#[path = "soak/memory.rs"]
mod memory;
#[path = "soak/our_side.rs"]
mod our_side;
#[path = "soak/person.rs"]
mod person;
#[path = "soak/rest.rs"]
mod rest;
mod simulated;
#[path = "soak/weather.rs"]
mod weather;
#[path = "soak/world.rs"]
mod world;

use course::Course;
use world::Size;

#[test]
fn nothing_is_lost_and_nothing_done_twice_for_hours() {
    let size = Size::of_environment();
    let mut course = Course::new(size);
    course.run();
    rest::come_to_rest(&mut course);
    simulated::show(&course.summary());
}
