//! Servers as real processes: how they start, what they get, and that all of them end.
#![cfg(target_os = "linux")]

mod ends;
mod host;
mod processes;
mod starts;
mod talks;
