//! Values by type: what a transport or a layer attaches to a request.

use std::any::{Any, TypeId};
use std::sync::Arc;

/// A map with at most one value of each type.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    // Most requests carry one value, so the first has its place without an allocation; there are
    // never many, so the others are searched one by one.
    first: Option<Entry>,
    rest: Vec<Entry>,
}

type Entry = (TypeId, Arc<dyn Any + Send + Sync>);

impl Extensions {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value in, in place of one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.insert_shared(Arc::new(value));
    }

    /// Puts a shared value in, in place of one of the same type.
    pub fn insert_shared<T: Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.put(TypeId::of::<T>(), value);
    }

    /// Adds all values of another map; a value replaces one of the same type.
    pub fn extend(&mut self, other: &Self) {
        for (key, value) in other.first.iter().chain(&other.rest) {
            self.put(*key, Arc::clone(value));
        }
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let value = self.find(TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }

    /// Whether there is a value of the type.
    pub fn contains(&self, type_id: TypeId) -> bool {
        self.find(type_id).is_some()
    }

    #[inline]
    fn put(&mut self, key: TypeId, value: Arc<dyn Any + Send + Sync>) {
        let mut entries = self.first.iter_mut().chain(&mut self.rest);
        if let Some((_, place)) = entries.find(|(of, _)| *of == key) {
            *place = value;
        } else if self.first.is_none() {
            self.first = Some((key, value));
        } else {
            self.rest.push((key, value));
        }
    }

    #[inline]
    fn find(&self, key: TypeId) -> Option<&Arc<dyn Any + Send + Sync>> {
        let mut entries = self.first.iter().chain(&self.rest);
        entries.find(|(of, _)| *of == key).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_type_stays() {
        let mut extensions = Extensions::new();
        assert!(extensions.get::<u8>().is_none());
        extensions.insert(1u8);
        extensions.insert("text");
        extensions.insert("other");
        extensions.insert(2u8);
        assert_eq!(extensions.get::<u8>().as_deref(), Some(&2));
        assert_eq!(extensions.get::<&str>().as_deref(), Some(&"other"));
        assert!(extensions.contains(TypeId::of::<&str>()));
        let mut more = Extensions::new();
        more.insert(3u8);
        more.insert('c');
        extensions.extend(&more);
        assert_eq!(extensions.get::<u8>().as_deref(), Some(&3));
        assert_eq!(extensions.get::<char>().as_deref(), Some(&'c'));
        assert_eq!(extensions.get::<&str>().as_deref(), Some(&"other"));
    }
}
