//! The program as a child process of a host: its streams, signals and exit codes.

pub(crate) mod child;
mod http;
mod life;
mod proxied;
mod records;
#[cfg(target_os = "linux")]
mod shared;
mod signed_in;
mod stdio;
#[cfg(target_os = "linux")]
mod system_calls;
mod watched;
