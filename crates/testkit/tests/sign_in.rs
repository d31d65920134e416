//! Clients that sign in, over sockets: what they share, and what they never show.

mod meeting;
mod processes;
mod secrets;
mod site;
