//! Handlers that ask the client, in every revision.

mod explicit;
mod followed;
mod live;
mod peer;
mod replay;
mod same;
mod time;
mod visits;
mod wire_forms;
