//! One server, called by clients of every revision over a pipe: the same handlers, and what each
//! revision makes of them.

mod changes;
mod completion;
mod composition;
mod desk;
mod extensions;
mod faults;
mod identity;
mod lists;
mod logging;
mod peer;
mod prompts;
mod resources;
mod stateless;
mod tools;
