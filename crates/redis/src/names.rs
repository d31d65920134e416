//! Names of keys and channels in Redis.
//!
//! The part in braces is the namespace and the group. A cluster puts all keys with the same part on one
//! server, so a script finds them there.

use pintle_store::{Key, Prefix};

/// The first part of all names of a store.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Self {
        let prefix = prefix.to_owned();
        Self { prefix }
    }

    fn group(&self, namespace: &str, group: &str) -> String {
        format!("{}:{{{namespace}/{group}}}", self.prefix)
    }

    fn named(&self, key: &Key, kind: char) -> String {
        let group = self.group(key.namespace(), key.group());
        format!("{group}:{kind}:{}", key.name())
    }

    pub(crate) fn record(&self, key: &Key) -> String {
        self.named(key, 'r')
    }

    pub(crate) fn counter(&self, key: &Key) -> String {
        self.named(key, 'c')
    }

    /// Returns the keys of the head and of the events of a log.
    pub(crate) fn log(&self, key: &Key) -> [String; 2] {
        [self.named(key, 'h'), self.named(key, 'e')]
    }

    /// Returns the key of the index of a group. Its name has a dot, so that no other key equals it.
    pub(crate) fn index(&self, namespace: &str, group: &str) -> String {
        format!("{}:i:{group}.", self.group(namespace, group))
    }

    /// Returns the beginning of the keys of all records of a group.
    pub(crate) fn records(&self, namespace: &str, group: &str) -> String {
        format!("{}:r:", self.group(namespace, group))
    }

    /// Returns the channel for changes of a group. A message has the text of the changed key.
    pub(crate) fn channel(&self, key: &Key) -> String {
        self.group(key.namespace(), key.group())
    }

    /// Returns the channel for changes of the group of a watch.
    pub(crate) fn watched(&self, prefix: &Prefix, group: &str) -> String {
        self.group(prefix.namespace(), group)
    }

    pub(crate) fn epoch(&self) -> String {
        format!("{}:{{epoch}}", self.prefix)
    }
}

/// Returns the name of a record in the index of its group: empty if the name has no dot, because no
/// listing of one group contains such a record.
pub(crate) fn indexed(key: &Key) -> &str {
    if key.name().contains('.') {
        key.name()
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use pintle_store::Namespace;

    use super::*;

    fn key(name: &str) -> Key {
        Key::new(&Namespace::fixed("tasks"), name).expect("a key")
    }

    #[test]
    fn all_names_of_a_group_have_the_same_braces() {
        let (names, key) = (Names::new("harbour"), key("owner.7"));
        assert_eq!(names.record(&key), "harbour:{tasks/owner}:r:owner.7");
        assert_eq!(names.counter(&key), "harbour:{tasks/owner}:c:owner.7");
        let [head, events] = names.log(&key);
        assert_eq!(head, "harbour:{tasks/owner}:h:owner.7");
        assert_eq!(events, "harbour:{tasks/owner}:e:owner.7");
        let index = names.index("tasks", "owner");
        assert_eq!(index, "harbour:{tasks/owner}:i:owner.");
        assert_eq!(names.channel(&key), "harbour:{tasks/owner}");
    }

    #[test]
    fn a_group_with_braces_has_no_key_of_another_group() {
        let names = Names::new("p");
        let index = names.index("tasks", "q}:i}:r:q");
        assert_ne!(index, names.record(&key("q}:i")));
    }

    #[test]
    fn only_names_with_a_dot_are_in_an_index() {
        assert_eq!(indexed(&key("a.b")), "a.b");
        assert_eq!(indexed(&key("a")), "");
    }
}
