//! The scripts. Redis knows a script by its digest, and runs it as a whole.

use std::sync::LazyLock;

use redis::{Cmd, ToRedisArgs};

/// A script and its digest.
pub(crate) struct Script {
    code: &'static str,
    digest: String,
}

impl Script {
    fn new(code: &'static str) -> Self {
        let digest = redis::Script::new(code).get_hash().to_owned();
        Self { code, digest }
    }
}

/// Declares the scripts.
macro_rules! scripts {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(include_str!(concat!("scripts/", $file, ".lua"))));)*
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
    TIME = "time";
}

/// A command, and the script that it runs, if it runs one.
pub(crate) struct Call {
    pub(crate) command: Cmd,
    pub(crate) script: Option<&'static Script>,
    /// A key of the command. In a cluster it decides the server.
    pub(crate) key: String,
    /// Bytes of the values and events.
    pub(crate) bytes: usize,
}

impl Call {
    pub(crate) fn new(command: Cmd, key: &str) -> Self {
        Self {
            command,
            script: None,
            key: key.to_owned(),
            bytes: 0,
        }
    }

    /// Begins the call of a script on some keys.
    pub(crate) fn of(script: &'static Script, keys: &[String]) -> Self {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&script.digest).arg(keys.len()).arg(keys);
        let key = keys.first().map_or("", String::as_str);
        Self {
            script: Some(script),
            ..Self::new(command, key)
        }
    }

    /// Returns the same call with the whole script, which the server of its key then knows by its digest.
    pub(crate) fn with_whole_script(&self) -> Self {
        let mut command = redis::cmd("EVAL");
        command.arg(self.script.map_or("", |script| script.code));
        // The first two are the name of the command and the digest.
        for argument in self.command.args_iter().skip(2) {
            if let redis::Arg::Simple(argument) = argument {
                command.arg(argument);
            }
        }
        Self {
            script: self.script,
            bytes: self.bytes,
            ..Self::new(command, &self.key)
        }
    }

    /// Reads a key.
    pub(crate) fn get(key: &str) -> Self {
        let mut command = redis::cmd("GET");
        command.arg(key);
        Self::new(command, key)
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
