//! A proxy between a store and its engine. It breaks connections at the points of [`Fault`].

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pintle_store::conformance::{CutAt, Fault};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::rng::Rng;

/// Bytes that the proxy reads at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Address of an engine.
#[derive(Debug, Clone)]
pub enum Target {
    /// A port of this host or another one.
    Tcp(SocketAddr),
    /// A socket in the file system. Other systems than Unix have none, and refuse it.
    Unix(PathBuf),
}

/// Passes bytes between clients and one engine, and breaks connections on request.
///
/// Bytes that arrive together from a client count as one request. The next bytes from the engine are
/// its answer. Bytes without a request, such as notices, are not counted.
#[derive(Debug)]
pub struct TcpProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    target: Mutex<Target>,
    handshake_answers: usize,
    fault: watch::Sender<Option<Fault>>,
    count: Mutex<Count>,
}

/// The requests or answers since the fault began.
#[derive(Debug)]
struct Count {
    seen: usize,
    cuts: usize,
    rng: Rng,
}

/// The fate of bytes, and of their connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    EndsBefore,
    EndsInside,
}

impl TcpProxy {
    /// Starts a proxy on a free port of this host. [`Fault::LoseAnswers`] spares the first
    /// `handshake_answers` of each connection.
    ///
    /// # Errors
    ///
    /// The error of the system if no port is free.
    pub async fn start(target: Target, handshake_answers: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            target: Mutex::new(target),
            handshake_answers,
            fault: watch::Sender::new(None),
            count: Mutex::new(Count {
                seen: 0,
                cuts: 0,
                rng: Rng::new(1),
            }),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            accepting,
        })
    }

    /// Returns the address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets another target for new connections, because an engine has moved.
    pub fn set_target(&self, target: Target) {
        *lock(&self.shared.target) = target;
    }

    /// Begins a fault, or ends it with `None`. Each cut happens once. [`Fault::Restart`] changes nothing
    /// here, because the test restarts its engine.
    pub fn set_fault(&self, fault: Option<Fault>) {
        lock(&self.shared.count).seen = 0;
        self.shared.fault.send_replace(fault);
    }

    /// Returns the number of requests and answers so far that ended their connection.
    pub fn cuts(&self) -> usize {
        lock(&self.shared.count).cuts
    }
}

impl Drop for TcpProxy {
    /// Ends all connections of the proxy, and its port.
    fn drop(&mut self) {
        self.accepting.abort();
        self.shared.fault.send_replace(Some(Fault::Away));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(connect(client, Arc::clone(&shared)));
    }
}

/// Connects a client to the engine. Without an engine the client's connection ends.
async fn connect(client: TcpStream, shared: Arc<Shared>) {
    // A test without it is slower, and otherwise the same.
    let _ = client.set_nodelay(true);
    let target = lock(&shared.target).clone();
    match target {
        Target::Tcp(address) => {
            if let Ok(engine) = TcpStream::connect(address).await {
                let _ = engine.set_nodelay(true);
                Relay::new(shared).run(client, engine).await;
            }
        }
        #[cfg(unix)]
        Target::Unix(path) => {
            if let Ok(engine) = tokio::net::UnixStream::connect(path).await {
                Relay::new(shared).run(client, engine).await;
            }
        }
        #[cfg(not(unix))]
        Target::Unix(_) => {}
    }
}

/// A connection of a client, with its connection to the engine.
struct Relay {
    shared: Arc<Shared>,
    fault: watch::Receiver<Option<Fault>>,
    answers: usize,
    awaits_answer: bool,
}

impl Relay {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            fault: shared.fault.subscribe(),
            shared,
            answers: 0,
            awaits_answer: false,
        }
    }

    /// Passes bytes until one side closes or the fault ends the connection.
    async fn run(
        &mut self,
        mut client: impl AsyncRead + AsyncWrite + Unpin,
        mut engine: impl AsyncRead + AsyncWrite + Unpin,
    ) {
        let (mut request, mut answer) = (vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]);
        loop {
            let fault = *self.fault.borrow_and_update();
            let is_open = match fault {
                Some(Fault::Away) => false,
                Some(Fault::Pause) => self.fault.changed().await.is_ok(),
                _ => tokio::select! {
                    changed = self.fault.changed() => changed.is_ok(),
                    read = client.read(&mut request) => {
                        let bytes = &request[..read.unwrap_or(0)];
                        !bytes.is_empty() && pass(bytes, self.fate_of_request(fault), &mut engine).await
                    }
                    read = engine.read(&mut answer) => {
                        let bytes = &answer[..read.unwrap_or(0)];
                        !bytes.is_empty() && pass(bytes, self.fate_of_answer(fault), &mut client).await
                    }
                },
            };
            if !is_open {
                return;
            }
        }
    }

    fn fate_of_request(&mut self, fault: Option<Fault>) -> Fate {
        self.awaits_answer = true;
        self.shared.fate_of_request(fault)
    }

    fn fate_of_answer(&mut self, fault: Option<Fault>) -> Fate {
        if !std::mem::take(&mut self.awaits_answer) {
            return Fate::Passes;
        }
        self.answers += 1;
        let is_handshake = self.answers <= self.shared.handshake_answers;
        self.shared.fate_of_answer(fault, is_handshake)
    }
}

/// Writes bytes. Returns false if the connection has ended.
async fn pass(bytes: &[u8], fate: Fate, to: &mut (impl AsyncWrite + Unpin)) -> bool {
    let passed = match fate {
        Fate::Passes => bytes,
        Fate::EndsBefore => &[],
        Fate::EndsInside => &bytes[..bytes.len() / 2],
    };
    let is_written = to.write_all(passed).await.is_ok() && to.flush().await.is_ok();
    is_written && fate == Fate::Passes
}

impl Shared {
    fn fate_of_request(&self, fault: Option<Fault>) -> Fate {
        let mut count = lock(&self.count);
        match fault {
            Some(Fault::Cut { at, skip }) => match at {
                CutAt::BeforeRequest => count.cut(skip, Fate::EndsBefore),
                CutAt::InsideRequest => count.cut(skip, Fate::EndsInside),
                CutAt::BeforeAnswer | CutAt::InsideAnswer => Fate::Passes,
            },
            _ => Fate::Passes,
        }
    }

    fn fate_of_answer(&self, fault: Option<Fault>, is_handshake: bool) -> Fate {
        let mut count = lock(&self.count);
        match fault {
            Some(Fault::Cut { at, skip }) => match at {
                CutAt::BeforeAnswer => count.cut(skip, Fate::EndsBefore),
                CutAt::InsideAnswer => count.cut(skip, Fate::EndsInside),
                CutAt::BeforeRequest | CutAt::InsideRequest => Fate::Passes,
            },
            Some(Fault::LoseAnswers) if !is_handshake => count.lose_half(),
            _ => Fate::Passes,
        }
    }
}

impl Count {
    /// Ends the connection at one request or answer, after `skip` others.
    fn cut(&mut self, skip: usize, fate: Fate) -> Fate {
        self.seen += 1;
        if self.seen == skip + 1 {
            self.cuts += 1;
            return fate;
        }
        Fate::Passes
    }

    fn lose_half(&mut self) -> Fate {
        if self.rng.once_in(2) {
            return Fate::Passes;
        }
        self.cuts += 1;
        Fate::EndsBefore
    }
}
