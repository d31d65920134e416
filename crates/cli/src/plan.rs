//! What was meant by what was typed.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use crate::args::{Args, Command, ServeArgs};

/// Everything a run needs to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What to do.
    pub(crate) task: Task,
    /// How much to say about it.
    pub(crate) chatter: Chatter,
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Serve the showcase.
    Serve(Serving),
}

/// How the showcase is served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Serving {
    /// Where.
    pub(crate) transport: Transport,
    /// How many entries a page of a list has, if not as many as usual.
    pub(crate) page_size: Option<NonZeroUsize>,
}

/// Where the showcase is served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// On standard input and output.
    Stdio,
    /// Over HTTP.
    Http {
        /// Where to listen.
        address: SocketAddr,
        /// Who may come.
        exposure: Exposure,
    },
}

/// Whether others than this machine may come without being asked who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Only this machine; another address is refused.
    Loopback,
    /// Whoever reaches the address.
    Anybody,
}

/// How much is said on standard error about what goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chatter {
    /// What somebody should look at.
    Warnings,
    /// Every call.
    Calls,
    /// Everything.
    Everything,
}

impl From<Args> for Plan {
    fn from(args: Args) -> Self {
        let Command::Serve(serve) = args.command;
        Self {
            task: Task::Serve(serve.into()),
            chatter: Chatter::from(args.verbose),
        }
    }
}

impl From<ServeArgs> for Serving {
    fn from(args: ServeArgs) -> Self {
        Self {
            page_size: args.page_size,
            transport: args.into(),
        }
    }
}

impl From<ServeArgs> for Transport {
    fn from(args: ServeArgs) -> Self {
        if args.stdio {
            return Self::Stdio;
        }
        let exposure = match args.allow_insecure_bind {
            true => Exposure::Anybody,
            false => Exposure::Loopback,
        };
        Self::Http {
            address: args.http,
            exposure,
        }
    }
}

impl From<u8> for Chatter {
    fn from(times: u8) -> Self {
        match times {
            0 => Self::Warnings,
            1 => Self::Calls,
            _ => Self::Everything,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn plan(line: &str) -> Plan {
        Args::try_parse_from(line.split(' '))
            .expect("understood")
            .into()
    }

    fn transport(line: &str) -> Transport {
        let Task::Serve(serving) = plan(line).task;
        serving.transport
    }

    #[test]
    fn nobody_is_let_in_from_outside_unless_asked_for() {
        let address = "127.0.0.1:8000".parse().expect("an address");
        let loopback = Transport::Http {
            address,
            exposure: Exposure::Loopback,
        };
        assert_eq!(transport("pintle serve"), loopback);
        let anybody = Transport::Http {
            address,
            exposure: Exposure::Anybody,
        };
        assert_eq!(transport("pintle serve --allow-insecure-bind"), anybody);
    }

    #[test]
    fn every_v_says_more() {
        assert_eq!(plan("pintle serve --stdio").chatter, Chatter::Warnings);
        assert_eq!(plan("pintle serve --stdio -v").chatter, Chatter::Calls);
        assert_eq!(
            plan("pintle -vvv serve --stdio").chatter,
            Chatter::Everything
        );
    }
}
