//! The program under test counts which of its lines were run, where it was built to, and has to be told where to leave the
//! counts: otherwise a run that is given no other variables leaves them in the folder that it is run in.

use std::ffi::OsString;

pub(crate) fn variable() -> Option<(&'static str, OsString)> {
    let name = "LLVM_PROFILE_FILE";
    std::env::var_os(name).map(|file| (name, file))
}
