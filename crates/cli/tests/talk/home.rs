//! The home directory of a user who signs in, and the user's browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::talk::program::{Pintle, pintle};
use crate::talk::typist::Typist;

/// A home directory. Dropping it deletes the directory.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-home-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("made");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns a command line of the program for this user, without a terminal.
    pub(crate) fn pintle(&self, line: &str) -> Pintle {
        pintle(line).at(&self.0)
    }

    /// Starts the program for this user at a terminal.
    pub(crate) fn typist(&self, words: &[&str]) -> Typist {
        self.typist_with(words, &[])
    }

    pub(crate) fn typist_with(&self, words: &[&str], env: &[(&str, &str)]) -> Typist {
        let home = self.0.to_str().expect("text");
        let mut all = vec![("HOME", home)];
        all.extend(env);
        Typist::starts_with(words, &all)
    }

    /// Returns the paths of all files in the directory.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let (mut left, mut files) = (vec![self.0.clone()], Vec::new());
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).expect("read") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => left.push(path),
                    false => files.push(path),
                }
            }
        }
        files.sort();
        files
    }

    /// Returns the text of all files in the directory.
    pub(crate) fn stored(&self) -> String {
        let files = self.files().into_iter();
        files
            .map(|file| fs::read_to_string(file).unwrap_or_default())
            .collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a free port, a different one in every call. The port is outside of the range that the
/// system assigns to programs.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if is_free(&port) {
            return port;
        }
    }
}

/// Visits a page like a browser, and follows its redirects.
pub(crate) async fn visit(url: &str) {
    let mut url = url.trim().to_owned();
    for _ in 0..4 {
        match step(&url).await {
            Some(next) => url = next,
            None => return,
        }
    }
    panic!("too many redirects: {url}");
}

async fn step(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://").expect("a page of this machine");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).await.expect("the host listens");
    let head = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    let (head, _) = answer.split_once("\r\n\r\n").expect("a head");
    let mut lines = head.lines();
    let location = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location")
            .then(|| value.trim().to_owned())
    });
    assert!(
        location.is_some() || head.starts_with("HTTP/1.1 200"),
        "{head}"
    );
    location
}
