//! The text of a notification: a line with the sender, then a line per key.

use pintle_store::Key;

use super::outbox::Batch;

/// Maximum size of a payload. PostgreSQL accepts 7,999 bytes.
const MAX_BYTES: usize = 7_900;

/// The line that reports every key. A key has a slash.
const ALL: &str = "*";

/// Names an opening of a store, because it ignores its own notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender(u64);

impl Sender {
    /// Draws a name.
    pub(crate) fn random() -> Self {
        Self(getrandom::u64().unwrap_or_default())
    }

    fn line(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The meaning of a notification.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Own,
    Keys(Vec<Key>),
    All,
}

/// Returns the payloads of a batch.
pub(crate) fn write(sender: Sender, batch: &Batch) -> Vec<String> {
    if batch.is_all {
        return vec![format!("{}\n{ALL}", sender.line())];
    }
    let mut payloads = Vec::new();
    let mut payload = sender.line();
    for key in &batch.keys {
        if payload.len() + 1 + key.as_str().len() > MAX_BYTES {
            payloads.push(std::mem::replace(&mut payload, sender.line()));
        }
        payload.push('\n');
        payload.push_str(key.as_str());
    }
    payloads.push(payload);
    payloads
}

/// Reads a payload. A text in another form reports every key.
pub(crate) fn read(own: Sender, payload: &str) -> Report {
    let mut lines = payload.split('\n');
    if lines.next() == Some(own.line().as_str()) {
        return Report::Own;
    }
    let keys: Result<Vec<_>, _> = lines.map(Key::parse).collect();
    keys.map_or(Report::All, Report::Keys)
}

#[cfg(test)]
mod tests {
    use pintle_store::Namespace;

    use super::*;

    #[test]
    fn payloads_below_the_limit_report_each_key_once() {
        let name = |number: usize| format!("{number:0>256}");
        let space = Namespace::fixed("tests");
        let keys = (0..100).map(|number| Key::new(&space, &name(number)).expect("a key"));
        let batch = Batch {
            keys: keys.collect(),
            is_all: false,
        };
        let payloads = write(Sender(1), &batch);
        assert_eq!(payloads.len(), 4);
        let mut found = Vec::new();
        for payload in &payloads {
            assert!(payload.len() <= MAX_BYTES);
            assert_eq!(read(Sender(1), payload), Report::Own);
            match read(Sender(2), payload) {
                Report::Keys(keys) => found.extend(keys),
                report => panic!("{report:?}"),
            }
        }
        assert_eq!(found.len(), 100);
        assert!(found.iter().all(|key| batch.keys.contains(key)));
    }

    #[test]
    fn a_report_of_all_and_an_unknown_text_report_every_key() {
        let batch = Batch {
            is_all: true,
            ..Batch::default()
        };
        for payload in write(Sender(1), &batch)
            .iter()
            .map(String::as_str)
            .chain(["x\ny"])
        {
            assert_eq!(read(Sender(2), payload), Report::All);
        }
    }
}
