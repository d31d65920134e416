//! Handlers that ask the client, in every revision.

mod explicit;
mod live;
mod peer;
mod replay;
mod same;
mod visits;
