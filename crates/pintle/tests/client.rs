//! The client against a server in the same process, in every revision, on a paused clock.

mod calls;
mod connect;
mod eras;
mod help_desk;
mod lists;
mod processes;
mod questions;
mod subscriptions;
mod tasks;
