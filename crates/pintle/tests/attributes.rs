//! The items that the attributes generate, tested by their definitions and by calls.

mod context;
mod data;
mod prompts;
mod resources;
mod tools;
