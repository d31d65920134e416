//! Files in which other programs keep their servers.

use pintle_hosts::trial;

/// A file is read or refused with a line that it has, and texts of it stay whole when they are taken
/// apart for variables.
///
/// # Panics
///
/// If not.
pub fn hosts(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    trial::read_all(*kind, text);
}
