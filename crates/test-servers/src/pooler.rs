//! pgbouncer in front of a server.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::installed;
use crate::postgres::{PostgresServer, as_user};

/// Starts the program with the file `$1`, and ends it with the tests.
const KEEPER: &str = r#"trap "" INT TERM HUP; pgbouncer "$1" & pid=$!; read -r _; kill "$pid"; wait "$pid"; rm -rf "$2""#;

/// A pooler that gives each transaction another connection of the server.
pub struct Pooler {
    folder: PathBuf,
    keeper: Child,
}

impl Pooler {
    /// Starts a pooler, or returns `None` if the test must skip.
    pub fn start(engine: &PostgresServer) -> Option<Self> {
        let is_installed = ["/usr/sbin", "/usr/bin", "/usr/local/bin"]
            .iter()
            .any(|folder| PathBuf::from(folder).join("pgbouncer").exists());
        if !is_installed {
            installed::skip("pgbouncer");
            return None;
        }
        let folder = engine.folder("pooler");
        let text = format!(
            "[databases]\npostgres = {} user=postgres pool_size=3\n[pgbouncer]\npool_mode = transaction\n\
            auth_type = any\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = {}\n",
            engine.place(),
            folder.display(),
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, text).expect("writes");
        let mut start = as_user("sh");
        start.args(["-c", KEEPER, "keeper"]).arg(&file).arg(&folder);
        start.env("PATH", "/usr/sbin:/usr/bin:/bin:/usr/local/bin");
        let keeper = start.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut keeper = keeper.expect("starts a shell");
        let lines = BufReader::new(keeper.stderr.take().expect("a pipe")).lines();
        let mut lines = lines.map_while(Result::ok);
        assert!(
            lines.any(|line| line.contains("process up")),
            "pgbouncer does not start"
        );
        // The rest is read, because a full pipe would hold the program.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { folder, keeper })
    }

    /// Returns a URL for the pooler, with the server itself for the listener.
    pub fn url(&self, engine: &PostgresServer, schema: &str) -> String {
        let direct = engine.url(schema);
        let (direct, _) = direct.split_once('?').expect("parameters");
        let direct = direct.replace('%', "%25").replace('@', "%40");
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!(
            "postgres://postgres@{folder}:6432/postgres?prefix={schema}&connections=4&listen={direct}"
        )
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // A pooler that remains does not make another test fail.
        let _ = self.keeper.wait();
    }
}
