//! The options of a run.

use std::time::Duration;

use pintle_model::{JsonObject, Revision};

use crate::level::Level;

/// The options of a run, and its limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The least strict level to check; default `robust`, so that every check is made.
    pub level: Level,
    /// The ids of the checks to make; every check if it is empty.
    pub only: Vec<String>,
    /// The revisions to judge; every revision that the server speaks if it is empty.
    pub revisions: Vec<Revision>,
    /// Tools that may be called although they are not read-only, with their arguments.
    pub tools: Vec<AllowedTool>,
    /// How long an answer may take; default 10 s.
    pub answer_timeout: Duration,
    /// How long a server may take to answer its first message; default 30 s.
    pub opening_timeout: Duration,
    /// How long one check may take; default 60 s.
    pub check_timeout: Duration,
    /// Size of a message that is read, in bytes; default 16 MiB.
    pub max_message_bytes: usize,
    /// Messages of one revision that are stored for checks of all messages; default 4,096.
    pub max_logged_messages: usize,
    /// Size of these messages in all, in bytes; default 32 MiB.
    pub max_logged_bytes: usize,
    /// Pages of a list that are read; default 20.
    pub max_list_pages: usize,
    /// Entries of each kind that are called, read or got as samples; default 8.
    pub max_samples: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            level: Level::Robust,
            only: Vec::new(),
            revisions: Vec::new(),
            tools: Vec::new(),
            answer_timeout: Duration::from_secs(10),
            opening_timeout: Duration::from_secs(30),
            check_timeout: Duration::from_secs(60),
            max_message_bytes: 16 << 20,
            max_logged_messages: 4_096,
            max_logged_bytes: 32 << 20,
            max_list_pages: 20,
            max_samples: 8,
        }
    }
}

/// A tool that may be called, with the arguments of the call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AllowedTool {
    /// The name of the tool.
    pub name: String,
    /// The arguments of the call.
    pub arguments: JsonObject,
}

impl AllowedTool {
    /// Allows a call of a tool with these arguments.
    pub fn new(name: impl Into<String>, arguments: JsonObject) -> Self {
        Self {
            name: name.into(),
            arguments,
        }
    }
}
