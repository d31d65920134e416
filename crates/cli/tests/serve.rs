//! The program as hosts start it: a child process, its streams, its signals, its exit code.

mod child;
mod http;
mod life;
mod stdio;
