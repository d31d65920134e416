//! Clients of servers that are child processes.

#[cfg(target_os = "linux")]
mod child;
