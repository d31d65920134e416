//! A Redis cluster of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::free_port;
use crate::redis::RedisServer;

/// Longest time until all servers know the cluster.
const LIMIT: Duration = Duration::from_secs(60);

/// The servers of a cluster. They end with their values.
pub struct RedisCluster {
    servers: Vec<RedisServer>,
    has_tls: bool,
}

impl RedisCluster {
    /// Starts three servers, and so many replicas of each. Returns `None` if the test must skip.
    pub fn start(replicas: usize) -> Option<Self> {
        Self::start_with(replicas, false)
    }

    /// Starts three servers with TLS, which name themselves `localhost`. Returns `None` if the test must skip.
    pub fn start_tls() -> Option<Self> {
        Self::start_with(0, true)
    }

    fn start_with(replicas: usize, has_tls: bool) -> Option<Self> {
        let count = 3 * (replicas + 1);
        let servers: Option<Vec<_>> = (0..count).map(|_| start_server(has_tls)).collect();
        let servers = servers?;
        let cluster = Self { servers, has_tls };
        cluster.create(replicas);
        cluster.wait_until_known();
        Some(cluster)
    }

    fn create(&self, replicas: usize) {
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]);
        create.args(self.addresses());
        create.args(["--cluster-replicas", &replicas.to_string(), "--cluster-yes"]);
        if self.has_tls {
            create.args(["--tls", "--cacert", &self.authority()]);
        }
        let created = create.output().expect("runs redis-cli");
        assert!(created.status.success(), "{created:?}");
    }

    /// Returns the file with the authority of the certificates.
    pub fn authority(&self) -> String {
        self.servers[0].file("ca.pem")
    }

    fn wait_until_known(&self) {
        let began = Instant::now();
        let count = format!("cluster_known_nodes:{}", self.servers.len());
        let is_ready = |server: &RedisServer| {
            let info = server.ask("CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains(&count)
        };
        while !self.servers.iter().all(is_ready) {
            assert!(began.elapsed() < LIMIT, "the cluster is not ready");
            std::thread::yield_now();
        }
    }

    fn addresses(&self) -> Vec<String> {
        let ports = self.servers.iter().map(RedisServer::port);
        ports.map(|port| format!("127.0.0.1:{port}")).collect()
    }

    /// Returns a URL that names all servers.
    pub fn url(&self, prefix: &str) -> String {
        let addresses = self.addresses().join(",");
        if self.has_tls {
            let (addresses, ca) = (
                addresses.replace("127.0.0.1", "localhost"),
                self.authority(),
            );
            return format!("rediss+cluster://{addresses}?prefix={prefix}&ca={ca}");
        }
        format!("redis+cluster://{addresses}?prefix={prefix}")
    }

    /// Returns the index of the primary server of a key.
    pub fn primary_of(&self, key: &str) -> usize {
        let slot = self.servers[0].ask(&format!("CLUSTER KEYSLOT {key}"));
        let slot: u16 = slot.trim().parse().expect("a slot");
        let nodes = self.servers[0].ask("CLUSTER NODES");
        let line = nodes.lines().find(|line| has_slot(line, slot));
        let address = line.and_then(|line| line.split(' ').nth(1));
        let address = address.expect("a server of the slot");
        let is_here = |it: &String| address.starts_with(it.as_str());
        let found = self.addresses().iter().position(is_here);
        found.expect("a server of this cluster")
    }

    /// Begins to move the slot of a key to another server, and moves the key.
    pub fn begin_migration(&self, key: &str, target: usize) -> Migration<'_> {
        let source = self.primary_of(key);
        let slot = self.servers[0].ask(&format!("CLUSTER KEYSLOT {key}"));
        let slot = slot.trim().to_owned();
        let (from, to) = (&self.servers[source], &self.servers[target]);
        let (from_id, to_id) = (from.ask("CLUSTER MYID"), to.ask("CLUSTER MYID"));
        to.run(&format!("CLUSTER SETSLOT {slot} IMPORTING {from_id}"));
        from.run(&format!("CLUSTER SETSLOT {slot} MIGRATING {to_id}"));
        from.run(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", to.port()));
        Migration {
            cluster: self,
            command: format!("CLUSTER SETSLOT {slot} NODE {to_id}"),
            target,
        }
    }

    /// Kills a server.
    pub fn stop(&mut self, index: usize) {
        self.servers[index].stop();
    }
}

/// A slot that moves to another server.
#[must_use]
pub struct Migration<'c> {
    cluster: &'c RedisCluster,
    command: String,
    target: usize,
}

impl Migration<'_> {
    /// Ends the move.
    pub fn end(self) {
        // The new server comes first, so that the slot always has one.
        self.cluster.servers[self.target].run(&self.command);
        for server in &self.cluster.servers {
            server.run(&self.command);
        }
    }
}

fn start_server(has_tls: bool) -> Option<RedisServer> {
    let bus = free_port().to_string();
    let mut options = vec![
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        "1000",
        "--cluster-port",
        &bus,
    ];
    if !has_tls {
        return RedisServer::start_tcp_with(&options);
    }
    // A certificate is for a name, so clients must learn names.
    options.extend(["--cluster-announce-hostname", "localhost"]);
    options.extend(["--cluster-preferred-endpoint-type", "hostname"]);
    RedisServer::start_tls_with(&options)
}

/// Returns true if a line of `CLUSTER NODES` describes the primary server of a slot.
fn has_slot(line: &str, slot: u16) -> bool {
    let ranges = line.split(' ').skip(8);
    let mut ranges = ranges.filter_map(|range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        Some(from.parse::<u16>().ok()?..=to.parse::<u16>().ok()?)
    });
    ranges.any(|range| range.contains(&slot))
}
