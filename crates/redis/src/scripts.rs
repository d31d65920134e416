//! The scripts. Redis knows a script by its digest, and runs it as a whole.

use std::sync::LazyLock;

use redis::{Cmd, Script, ToRedisArgs};

/// Declares the scripts and a list of all.
macro_rules! scripts {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(include_str!(concat!("scripts/", $file, ".lua"))));)*

        /// Returns every script.
        pub(crate) fn all() -> Vec<&'static Script> {
            vec![$(&*$name),*]
        }
    };
}

scripts! {
    ADD = "add";
    APPEND = "append";
    EPOCH = "epoch";
    FORGET = "forget";
    LIST = "list";
    PUT = "put";
    READ = "read";
    REMOVE = "remove";
}

/// A command, and the script that it runs, if it runs one.
pub(crate) struct Call {
    pub(crate) command: Cmd,
    pub(crate) script: Option<&'static Script>,
    /// Bytes of the values and events.
    pub(crate) bytes: usize,
}

impl Call {
    /// Begins the call of a script on some keys.
    pub(crate) fn of(script: &'static Script, keys: &[String]) -> Self {
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.get_hash()).arg(keys.len()).arg(keys);
        Self {
            command,
            script: Some(script),
            bytes: 0,
        }
    }

    /// Begins a command.
    pub(crate) fn command(name: &str) -> Self {
        Self {
            command: redis::cmd(name),
            script: None,
            bytes: 0,
        }
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl ToRedisArgs) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds a value or an event as an argument.
    pub(crate) fn value(mut self, value: &[u8]) -> Self {
        self.bytes += value.len();
        self.arg(value)
    }
}
