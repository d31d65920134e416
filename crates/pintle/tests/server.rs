//! One server, called by clients of every revision over a pipe: the same handlers, and their results
//! in each revision.

mod changes;
mod completion;
mod composition;
mod extensions;
mod faults;
mod help_desk;
mod identity;
mod lists;
mod logging;
mod methods;
mod peer;
mod prompts;
mod provider;
mod resources;
mod stateless;
mod tool_layers;
mod tools;
