//! stub
pub const BATCH_WITH_CHECKS: usize = 37;
pub const BATCH: usize = 40;
