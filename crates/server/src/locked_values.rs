//! The values of the extractor [`Locked`](crate::Locked), one of each type.

use std::sync::Arc;

use pintle_runtime::Extensions;
use pintle_runtime::sync::Mutex;

/// The values of a server, one of each type. Their number is that of the types in its handlers.
#[derive(Default)]
pub(crate) struct LockedValues(Mutex<Extensions>);

impl LockedValues {
    /// Sets the first value of a type.
    pub(crate) fn set<T: Send + 'static>(&self, value: T) {
        self.0.lock().insert(Mutex::new(value));
    }

    /// Returns the value of a type, which begins as its default.
    pub(crate) fn get<T: Default + Send + 'static>(&self) -> Arc<Mutex<T>> {
        let mut values = self.0.lock();
        values.get().unwrap_or_else(|| {
            let value = Arc::<Mutex<T>>::default();
            values.insert_shared(Arc::clone(&value));
            value
        })
    }
}
