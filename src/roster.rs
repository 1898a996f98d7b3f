//! `cloture reviewers`: the profiles in force, and where each came from.
