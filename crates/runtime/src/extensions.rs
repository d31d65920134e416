//! Values by type: what a transport or a layer attaches to a request.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// A map with at most one value of each type.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    // Most requests carry none, so the map is made when the first one comes.
    value_by_type: Option<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

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
        self.value_by_type.get_or_insert_default().insert(TypeId::of::<T>(), value);
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let value = self.value_by_type.as_ref()?.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }

    /// Whether there is a value of the type.
    pub fn contains(&self, type_id: TypeId) -> bool {
        self.value_by_type.as_ref().is_some_and(|values| values.contains_key(&type_id))
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
        extensions.insert(2u8);
        extensions.insert("text");
        assert_eq!(extensions.get::<u8>().as_deref(), Some(&2));
        assert!(extensions.contains(TypeId::of::<&str>()));
    }
}
