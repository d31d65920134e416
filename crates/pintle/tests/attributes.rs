//! What the attributes make of functions, by the definitions and by calls.

mod context;
mod prompts;
mod resources;
mod tools;
