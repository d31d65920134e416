//! Examples, run as programs.

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod programs;
mod task;
mod telemetry;
mod url;
