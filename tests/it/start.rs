//! Starting and quitting the terminal: the real program in a pseudo-terminal, with and without a journal, a
//! token, a configuration, a checkout and a network.

#![cfg(unix)]

mod first;
mod leaving;
mod states;
