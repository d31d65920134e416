//! Clients that sign in, over sockets: what they share, and what they never show.

mod processes;
mod secrets;
mod site;
