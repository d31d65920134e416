//! Handing bytes past a serializer that can only be shown them.

use std::cell::RefCell;

use bytes::Bytes;

/// The name under which a value says that it has lent its bytes.
pub(crate) const SHARED: &str = "$pintle::Shared";

thread_local! {
    static LENT: RefCell<Option<Bytes>> = const { RefCell::new(None) };
}

/// Serializes a value whose JSON text is `bytes` while a [`Writer`](super::writer::Writer) may take
/// them. Other serializers know nothing of it, and write the value as it is.
pub(crate) fn lend<T>(bytes: Bytes, serialize: impl FnOnce() -> T) -> T {
    let before = LENT.replace(Some(bytes));
    let given = serialize();
    LENT.replace(before);
    given
}

/// The bytes that were lent, if nobody has taken them.
pub(super) fn borrow() -> Option<Bytes> {
    LENT.take()
}
