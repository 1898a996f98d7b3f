//! What people do to threads, from outside: the real program, over HTTP, against the simulator, with a journal.

mod acts;
mod driven;
mod interrupted;
mod lists;
mod routing;
mod telling;
mod ways_out;
mod world;
