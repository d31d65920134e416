//! The records of a fleet: their keys and their texts.

use bytes::Bytes;
use pintle_store::{Key, Namespace, Prefix};
use serde::{Deserialize, Serialize};

use super::options::ServerName;
use super::replica_id::ReplicaId;

/// The newest layout of the records that this version reads, and the one that it writes.
pub(super) const LAYOUT: u32 = 1;

const REPLICA: Namespace = Namespace::fixed("replica");
const INBOX: Namespace = Namespace::fixed("inbox");
const NEWS: Namespace = Namespace::fixed("news");
const STREAM: Namespace = Namespace::fixed("stream");
const SYSTEM: Namespace = Namespace::fixed("system");
/// All presences are in one group, so every store can list them.
const GROUP: &str = "all.";
/// The record that names the last replica that left. Its group has no other record, so that a watch reports
/// departures alone.
const DEPARTURE: &str = "left.last";
/// A presence has at most 256 bytes, so it has a part of a long name.
const MAX_NAME_CHARACTERS: usize = 48;

/// The presence of a replica. `schema` comes first, so a later version can read it alone.
#[derive(Debug, Serialize)]
struct PresenceRecord {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The layouts that the replica reads.
    layouts: [u32; 1],
}

/// The server of a store.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ServerRecord {
    pub(super) schema: u32,
    #[serde(default)]
    pub(super) server: String,
}

pub(super) fn presence_key(replica: ReplicaId) -> Key {
    Key::new(&REPLICA, &format!("{GROUP}{replica}")).expect("a replica id is short")
}

/// The log of messages to a replica.
pub(super) fn inbox_key(of: ReplicaId) -> Key {
    Key::new(&INBOX, of.as_str()).expect("a replica id is short")
}

/// The log of changes that all replicas follow.
pub(super) fn news_key() -> Key {
    Key::new(&NEWS, "all").expect("the name is short")
}

/// The log of one stream of a session. The logs of a session are one group.
pub(super) fn stream_key(session: u128, tag: u32, stream: u64) -> Key {
    let name = format!("{session:032x}.{tag:08x}-{stream:x}");
    Key::new(&STREAM, &name).expect("hexadecimal digits are valid")
}

pub(super) fn presences() -> Prefix {
    Prefix::new(&REPLICA, GROUP).expect("the group is short")
}

/// Reads the replica of a presence from its key.
pub(super) fn replica_of(key: &Key) -> Option<ReplicaId> {
    key.name().strip_prefix(GROUP)?.parse().ok()
}

pub(super) fn departure_key() -> Key {
    Key::new(&REPLICA, DEPARTURE).expect("the name is short")
}

pub(super) fn departures() -> Prefix {
    Prefix::new(&REPLICA, DEPARTURE).expect("the name is short")
}

pub(super) fn departure(replica: ReplicaId) -> Bytes {
    replica.to_string().into()
}

pub(super) fn read_departure(text: &[u8]) -> Option<ReplicaId> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

pub(super) fn presence(server: Option<&ServerName>) -> Bytes {
    let part = |text: &str| text.chars().take(MAX_NAME_CHARACTERS).collect();
    encode(&PresenceRecord {
        schema: LAYOUT,
        server: server.map(|server| part(&server.name)),
        version: server.map(|server| part(&server.version)),
        layouts: [LAYOUT],
    })
}

pub(super) fn server_key() -> Key {
    Key::new(&SYSTEM, "server").expect("the name is short")
}

pub(super) fn server(name: &str) -> Bytes {
    encode(&ServerRecord {
        schema: LAYOUT,
        server: name.to_owned(),
    })
}

pub(super) fn read_server(text: &[u8]) -> Option<ServerRecord> {
    serde_json::from_slice(text).ok()
}

fn encode(record: &impl Serialize) -> Bytes {
    serde_json::to_vec(record)
        .expect("the record has text keys")
        .into()
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_presence_names_its_replica_and_begins_with_its_schema() {
        let replica: ReplicaId = "nbswy3dp".parse().expect("a replica id");
        let key = presence_key(replica);
        assert_eq!(key.as_str(), "replica/all.nbswy3dp");
        assert_eq!(replica_of(&key), Some(replica));
        assert!(presences().covers(&key) && presences().group() == Some("all"));

        let server = ServerName::new("harbour", "1.4.0");
        assert_eq!(
            presence(Some(&server)),
            r#"{"schema":1,"server":"harbour","version":"1.4.0","layouts":[1]}"#
        );
        assert_eq!(presence(None), r#"{"schema":1,"layouts":[1]}"#);
    }

    #[test]
    fn a_presence_of_a_long_name_is_short() {
        let server = ServerName::new("n".repeat(1_000), "v".repeat(1_000));
        assert!(presence(Some(&server)).len() <= 256);
    }

    #[test]
    fn the_schema_of_a_newer_record_can_be_read() {
        let newer = read_server(br#"{"schema":2,"name":{"text":"x"}}"#).expect("a record");
        assert_eq!(newer.schema, 2);
        assert!(read_server(b"{").is_none());
    }
}
