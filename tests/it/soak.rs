//! A soak: hours of virtual time, hundreds of pull requests, bots, authors and people by chance, faults and crashes all the
//! way. After every step both sides are held against what must always be so.
//!
//! `CLOTURE_SOAK_SEED`, `CLOTURE_SOAK_PULLS` and `CLOTURE_SOAK_HOURS` ask for another one, or a larger one;
//! `CLOTURE_SOAK_TELL` has every step told. What the world does
//! follows from the seed alone; which request a fault hits also depends on how the requests of one poll overtake each
//! other.
#![cfg(unix)]

mod bite;
mod course;
mod forge_side;
mod inhabitants;
mod lives;
#[cfg(target_os = "linux")]
mod memory;
mod our_side;
mod person;
mod rest;
mod weather;
mod world;

use crate::support::simulated;
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
