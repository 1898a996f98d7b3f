//! Passes on the variable that says where a program built for coverage writes its counts. Tests clear the
//! environment, and without the variable the counts land in the working directory.

use std::ffi::OsString;

pub(crate) fn variable() -> Option<(&'static str, OsString)> {
    let name = "LLVM_PROFILE_FILE";
    std::env::var_os(name).map(|file| (name, file))
}
