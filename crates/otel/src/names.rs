//! The names that metrics may have as attributes.

use std::collections::HashSet;

use pintle_runtime::sync::Mutex;

/// A bounded set of names. Metrics have one time series per name, so the set never shrinks and has a limit.
#[derive(Debug)]
pub(crate) struct Names {
    max: usize,
    known: Mutex<HashSet<Box<str>>>,
}

impl Names {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            known: Mutex::default(),
        }
    }

    /// Returns true if metrics may have the name. A new name is added if the server has it and there is room.
    pub(crate) fn allow(&self, name: &str, exists: bool) -> bool {
        let mut known = self.known.lock();
        if known.contains(name) {
            return true;
        }
        let is_new = exists && known.len() < self.max;
        is_new && known.insert(name.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_limit_are_not_in_metrics() {
        let names = Names::new(2);
        assert!(!names.allow("a", false), "the server does not have it");
        assert!(names.allow("a", true));
        assert!(names.allow("b", true));
        assert!(!names.allow("c", true), "the limit is reached");
        assert!(names.allow("a", false), "the name is known");
    }
}
