//! A soak test: hours of virtual time, hundreds of pull requests, random bots, authors and people, faults and
//! crashes. After every step the test checks the invariants on the simulated GitHub and in Cloture.
//!
//! `CLOTURE_SOAK_SEED`, `CLOTURE_SOAK_PULLS` and `CLOTURE_SOAK_HOURS` choose another run or a larger one.
//! `CLOTURE_SOAK_TELL` prints every step. The seed alone decides what the world does. Which request a fault
//! strikes also depends on the order in which the requests of one poll arrive.
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
