//! People's acts on threads, from outside: the real program, over HTTP, against the simulator, with a
//! journal.

mod acts;
mod driven;
mod interrupted;
mod lists;
mod notifications;
mod routing;
mod undoing;
mod ways_out;
mod world;
