//! The names that clients see.

use std::collections::HashMap;

use super::pattern::Pattern;
use crate::error::ProxyError;

/// The permitted names of the server, and the new names of some.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    only: Vec<Pattern>,
    without: Vec<Pattern>,
    new: HashMap<String, String>,
}

impl Names {
    pub(super) fn only(&mut self, pattern: String) {
        self.only.push(Pattern::new(pattern));
    }

    pub(super) fn without(&mut self, pattern: String) {
        self.without.push(Pattern::new(pattern));
    }

    pub(super) fn rename(&mut self, old: String, new: String) {
        self.new.insert(old, new);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.only.is_empty() && self.without.is_empty() && self.new.is_empty()
    }

    /// Checks that each new name belongs to one old name.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Names`].
    pub(super) fn check(&self) -> Result<(), ProxyError> {
        let mut names: Vec<&str> = self.new.values().map(String::as_str).collect();
        names.sort_unstable();
        let repeated = names.windows(2).find(|pair| pair[0] == pair[1]);
        let empty = names.first().filter(|name| name.is_empty());
        match repeated.map(|pair| &pair[0]).or(empty) {
            Some(name) => Err(ProxyError::Names {
                name: (*name).to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn permits(&self, name: &str) -> bool {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        (self.only.is_empty() || matches(&self.only)) && !matches(&self.without)
    }

    /// Returns the server's name; `None` if clients do not see it.
    pub(super) fn at_server<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let renamed = self.new.iter().find(|(_, new)| *new == name);
        let name = match renamed {
            Some((old, _)) => old.as_str(),
            None if self.new.contains_key(name) => return None,
            None => name,
        };
        self.permits(name).then_some(name)
    }

    /// Returns the name for clients; `None` if they do not see it.
    pub(super) fn at_client<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let new = match self.new.get(name) {
            Some(new) => new,
            None if self.new.values().any(|new| new == name) => return None,
            None => name,
        };
        self.permits(name).then_some(new)
    }
}
