//! The suite against the conformance server behind `pintle serve`, in every pair of eras.
//!
//! The bridge serves each set to the suite over HTTP. The server behind it is pinned to the revision of an era, on
//! standard streams or over HTTP.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{START, free_address, start, wait_for};
use crate::child::Guard;
use crate::failure::Result;

/// The transport behind the bridge.
#[derive(Debug, Clone, Copy)]
pub(super) enum Behind {
    Stdio,
    Http,
}

impl Behind {
    pub(super) const ALL: [Self; 2] = [Self::Stdio, Self::Http];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

/// A running bridge, and the server behind it.
pub(super) struct Bridge {
    pub(super) address: SocketAddr,
    _programs: Vec<Guard>,
}

impl Bridge {
    /// Starts a bridge to a server that speaks one revision.
    pub(super) fn start(
        pintle: &Path,
        server: &Path,
        behind: Behind,
        revision: &str,
    ) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(pintle);
        command.args([
            "serve",
            "--http",
            &address.to_string(),
            "--revision",
            revision,
        ]);
        let mut programs = Vec::new();
        match behind {
            Behind::Stdio => {
                command.arg("--").arg(server).arg("--stdio");
            }
            Behind::Http => {
                let (running, server) = start(server)?;
                programs.push(running);
                command.arg(format!("http://{server}/mcp"));
            }
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut bridge = Guard::start(&mut command)?;
        wait_for(&mut bridge, address, START)?;
        programs.insert(0, bridge);
        Ok(Self {
            address,
            _programs: programs,
        })
    }
}
