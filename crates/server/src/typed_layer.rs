//! Typed layers around an operation: every call of a tool, every read, every prompt.

use std::future::Future;
use std::sync::Arc;

use pintle_runtime::BoxFuture;

/// One layer around an operation that accepts `Q` and returns `R`.
pub(crate) type TypedLayer<Q, R> =
    Arc<dyn Fn(Q, Next<Q, R>) -> BoxFuture<'static, R> + Send + Sync>;

/// The innermost operation.
pub(crate) type Innermost<Q, R> = Arc<dyn Fn(Q) -> BoxFuture<'static, R> + Send + Sync>;

/// Hides the type of a layer.
pub(crate) fn around<Q, R, F, Fut>(layer: F) -> TypedLayer<Q, R>
where
    F: Fn(Q, Next<Q, R>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    Arc::new(move |request, next| Box::pin(layer(request, next)))
}

/// Everything inside a layer: the layers within it, and the operation itself.
pub struct Next<Q, R> {
    layers: Arc<[TypedLayer<Q, R>]>,
    depth: usize,
    innermost: Innermost<Q, R>,
}

impl<Q: Send + 'static, R: Send + 'static> Next<Q, R> {
    pub(crate) fn new(layers: Arc<[TypedLayer<Q, R>]>, innermost: Innermost<Q, R>) -> Self {
        Self {
            layers,
            depth: 0,
            innermost,
        }
    }

    /// Continues with `request`. A layer that does not call this rejects the request; a second call does not compile.
    pub async fn run(mut self, request: Q) -> R {
        let Some(layer) = self.layers.get(self.depth).cloned() else {
            return (self.innermost)(request).await;
        };
        self.depth += 1;
        layer(request, self).await
    }
}

impl<Q, R> std::fmt::Debug for Next<Q, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next")
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}
