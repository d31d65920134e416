//! The program as hosts start it: a child process, its streams, its signals, its exit code.

#![cfg(unix)]

mod child;
mod http;
mod life;
mod stdio;
