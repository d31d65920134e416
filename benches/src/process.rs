//! A server in a process of its own, as measuring programs start it.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(20);

/// An error of a measuring program.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A running server. Dropping it kills the process.
pub struct Process(Child);

impl Process {
    /// Starts a server with the word `stdio` and then `settings`, and returns its pipes.
    ///
    /// # Errors
    ///
    /// Any error of starting the process.
    pub fn on_pipes(
        program: &Path,
        settings: &[String],
    ) -> Result<(Self, ChildStdin, ChildStdout)> {
        let mut child = Command::new(program)
            .arg("stdio")
            .args(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no input")?;
        let stdout = child.stdout.take().ok_or("no output")?;
        Ok((Self(child), stdin, stdout))
    }

    /// Starts a server with the words `http HOST:PORT` and then `settings`. Returns its address when it
    /// listens, with a first connection.
    ///
    /// # Errors
    ///
    /// Any error of starting the process, or its end, or a time limit.
    pub fn on_http(program: &Path, settings: &[String]) -> Result<(Self, String, TcpStream)> {
        // The server cannot report a port that it chose, so a free one is chosen here.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let child = Command::new(program)
            .args(["http", &address])
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Self(child);
        let stream = server.connect(&address)?;
        stream.set_nodelay(true)?;
        Ok((server, address, stream))
    }

    fn connect(&mut self, address: &str) -> Result<TcpStream> {
        let until = Instant::now() + LISTEN_TIMEOUT;
        loop {
            match TcpStream::connect(address) {
                Ok(stream) => return Ok(stream),
                Err(error) if Instant::now() > until => return Err(error.into()),
                Err(_) if self.0.try_wait()?.is_some() => return Err("the server has ended".into()),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// CPU time of the server so far, in all threads that live.
    ///
    /// # Errors
    ///
    /// Any error of reading it; the process may have ended.
    pub fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            let first = text.split_whitespace().next();
            nanoseconds += first.ok_or("an empty schedstat")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
