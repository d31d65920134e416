//! The program `pintle`, as people and scripts run it.

#[cfg(target_os = "linux")]
mod killed;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod talk;
