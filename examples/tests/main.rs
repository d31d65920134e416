//! Examples, run as programs.

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod programs;
mod url;
