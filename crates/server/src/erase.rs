//! Handlers whose own types are hidden: each call costs one allocation.

use std::future::Future;
use std::sync::Arc;

use crate::rejection::Rejection;
use pintle_runtime::BoxFuture;

/// A kind of handlers: their call, and the reply of the server.
pub(crate) trait HandlerKind: 'static {
    /// The call that starts a handler.
    type Call<'a>;
    /// The part of the call that its reply needs.
    type Memo: Send + 'static;
    /// The reply of the server.
    type Reply;

    /// Stores the part of a call that its reply needs.
    fn memo(call: &Self::Call<'_>) -> Self::Memo;
}

/// Turns the output of a handler into the reply of its kind.
pub(crate) trait Finish<T>: HandlerKind {
    /// Returns the reply to the call of this memo.
    fn finish(memo: Self::Memo, output: T) -> Self::Reply;
}

/// A handler of hidden type.
pub(crate) type Run<K> = dyn Fn(
        &<K as HandlerKind>::Call<'_>,
    ) -> Result<BoxFuture<'static, <K as HandlerKind>::Reply>, Rejection>
    + Send
    + Sync;

/// Hides the type of a handler and of its future.
pub(crate) fn erase<K, F, Fut>(start: F) -> Arc<Run<K>>
where
    K: Finish<Fut::Output>,
    F: Fn(&K::Call<'_>) -> Result<Fut, Rejection> + Send + Sync + 'static,
    Fut: Future + Send + 'static,
{
    Arc::new(move |call: &K::Call<'_>| {
        let future = start(call)?;
        let memo = K::memo(call);
        Ok(Box::pin(async move { K::finish(memo, future.await) }) as BoxFuture<'static, K::Reply>)
    })
}
