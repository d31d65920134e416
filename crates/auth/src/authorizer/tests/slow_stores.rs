//! Stores that take long: the thread of the runtime goes on with other work meanwhile.

use std::io;
use std::sync::mpsc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;
use crate::credentials::KeyGuard;

/// How long a write waits for its gate before it fails.
const GATE_TIMEOUT: Duration = Duration::from_secs(10);

/// A store whose writes of tokens wait until the test opens the gate.
struct Gated {
    files: MemoryCredentialStore,
    started: UnboundedSender<()>,
    gate: Mutex<mpsc::Receiver<()>>,
}

/// The test's side of a gated store.
struct Gate {
    started: UnboundedReceiver<()>,
    open: mpsc::Sender<()>,
}

impl Gate {
    fn new() -> (Gated, Self) {
        let (started, starts) = unbounded_channel();
        let (open, gate) = mpsc::channel();
        let store = Gated {
            files: MemoryCredentialStore::default(),
            started,
            gate: Mutex::new(gate),
        };
        let started = starts;
        (store, Self { started, open })
    }

    /// Waits for a write.
    async fn reached(&mut self) {
        self.started.recv().await.expect("the store is there");
    }

    /// Lets one write end, which may not have begun yet.
    fn open(&self) {
        self.open.send(()).expect("the store is there");
    }
}

impl CredentialStore for Gated {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        self.files.load(key)
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        if key.starts_with("grant") {
            self.started.send(()).map_err(io::Error::other)?;
            let gate = self.gate.lock().expect("whole");
            gate.recv_timeout(GATE_TIMEOUT).map_err(io::Error::other)?;
        }
        self.files.save(key, text)
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        self.files.try_lock(key)
    }
}

#[tokio::test(flavor = "current_thread")]
async fn other_futures_run_while_a_store_writes_a_token() {
    let (store, mut gate) = Gate::new();
    let oauth = oauth_with(&Site::default(), store);
    let other = async {
        gate.reached().await;
        gate.open();
    };
    let (signed_in, ()) = tokio::join!(oauth.sign_in(), other);
    signed_in.expect("the token is saved");
}

#[tokio::test(flavor = "current_thread")]
async fn a_dropped_sign_out_forgets_the_token_here_and_in_the_store() {
    let (store, mut gate) = Gate::new();
    let oauth = oauth_with(&Site::default(), store);
    gate.open();
    oauth.sign_in().await.expect("a token");
    gate.reached().await;
    {
        let signing_out = oauth.sign_out();
        tokio::select! {
            biased;
            _ = signing_out => panic!("the gate is closed"),
            () = gate.reached() => {}
        }
    }
    gate.open();
    gate.open();
    let again = oauth.sign_out().await.expect("the store is there");
    assert!(matches!(again, SignedOut::Nothing), "{again:?}");
    assert_eq!(bearer(&oauth).await.0, "");
}
