//! A connection to the shared process of a server, if one runs.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pintle::model::JsonObject;
use pintle::proto::TransportError;
use pintle::proto::lifecycle::Binding;
use pintle::runtime::{BoxConnect, BoxTransport, Connect, ParamHeader, StreamTransport};
use pintle_hosts::Target;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep};

use super::{Files, Folder, of_target};

/// Longest wait for another process that connects to the shared one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two attempts to lock.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);

/// Connects to the shared process of a program, or else starts the program.
pub(crate) struct SharedOrOwn {
    own: BoxConnect,
    link: PathBuf,
}

impl SharedOrOwn {
    /// Returns the connector of a program. Another target, and a program without a folder of shared servers, has
    /// connections of its own only.
    pub(crate) fn of(own: BoxConnect, target: &Target) -> BoxConnect {
        let (Target::Program(_), Ok(here)) = (target, env::current_dir()) else {
            return own;
        };
        match Folder::existing() {
            Some(folder) => BoxConnect::new(Self {
                own,
                link: folder.path(&of_target(target, &here)),
            }),
            None => own,
        }
    }

    /// Connects to the process at the link. A host connects in the same way, so the process does not end meanwhile.
    async fn shared(&self) -> Option<UnixStream> {
        let files = Files::beside(fs::read_link(&self.link).ok()?);
        let end = Instant::now() + LOCK_TIMEOUT;
        let _lock = loop {
            match files.try_locked() {
                Ok(lock) => break lock,
                Err(_) if Instant::now() < end => sleep(ATTEMPT_INTERVAL).await,
                Err(_) => return None,
            }
        };
        files.connect().await.ok()
    }
}

impl Connect for SharedOrOwn {
    type Transport = BoxTransport;

    async fn connect(&self) -> Result<BoxTransport, TransportError> {
        match self.shared().await {
            Some(stream) => {
                let (reader, writer) = stream.into_split();
                Ok(BoxTransport::new(StreamTransport::new(reader, writer)))
            }
            None => self.own.connect().await,
        }
    }

    fn binding(&self) -> Binding {
        self.own.binding()
    }

    fn param_headers(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        self.own.param_headers(input_schema)
    }
}
