//! Clients that sign in over sockets: their shared state, and the secrets that they never show.

mod device;
mod meeting;
mod processes;
mod secrets;
mod site;
