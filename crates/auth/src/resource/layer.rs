//! The layer that verifies the token of each request and inserts its principal.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use pintle_runtime::{AuthorizedUntil, MissingScopes};
use tower_layer::Layer;
use tower_service::Service;

use super::authenticate::Authenticator;
use super::bearer_error::BearerError;
use super::dpop;

/// Admits only requests with a valid token for this server.
///
/// - The layer removes a valid token from its request. It inserts the
///   [`Principal`](pintle_runtime::Principal) and an
///   `Arc<`[`VerifiedToken`](super::VerifiedToken)`>` into the extensions.
/// - Any other request is answered 401, 400 or 403 with a challenge, or 503 if its token cannot be
///   verified now. Its body is not read. The response has a short text.
/// - An open stream ends when its token expires, and the client reconnects with another token:
///   `subscriptions/listen` with its result, a stream of a session between two messages. A session of
///   2024-11-05 ends, too, because it is its stream. A running call is still answered.
/// - If the server inside answers 403 for missing scopes, the layer adds a challenge with the scopes.
/// - The protected-resource metadata (RFC 9728) needs no token. It is served at
///   `/.well-known/oauth-protected-resource`, with the path of the resource after it and without.
///
/// The layer must be around the whole site, because it serves this metadata:
/// `HttpServer::bind_with_layer(layer, …)`, or `Router::layer` of a web framework.
///
/// A clone is a handle to the same layer: keys and proofs are shared.
#[derive(Clone)]
pub struct RequireBearer {
    pub(super) authenticator: Arc<Authenticator>,
}

impl RequireBearer {
    /// Returns the host of the resource identifier, with its port. A server should serve no other host.
    pub fn host(&self) -> &str {
        self.authenticator.resource.authority()
    }

    /// Returns the URL of the protected-resource metadata.
    pub fn metadata_url(&self) -> &str {
        &self.authenticator.metadata.url
    }
}

impl fmt::Debug for RequireBearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequireBearer")
            .field("audiences", &self.authenticator.audiences)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for RequireBearer {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded {
            inner,
            authenticator: Arc::clone(&self.authenticator),
        }
    }
}

/// A service that [`RequireBearer`] protects.
#[derive(Clone)]
pub struct Guarded<S> {
    inner: S,
    authenticator: Arc<Authenticator>,
}

impl<S: fmt::Debug> fmt::Debug for Guarded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

type GuardedResponse<B> = Response<GuardedBody<B>>;

impl<S, B, R> Service<Request<B>> for Guarded<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
    R: Body<Data = Bytes> + Send + 'static,
{
    type Response = GuardedResponse<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<GuardedResponse<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The ready service handles the request, because its clone may not be ready.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let authenticator = Arc::clone(&self.authenticator);
        Box::pin(answer(authenticator, inner, request))
    }
}

async fn answer<S, B, R>(
    authenticator: Arc<Authenticator>,
    mut inner: S,
    request: Request<B>,
) -> Result<GuardedResponse<R>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    if authenticator.metadata.is_at(request.uri().path()) {
        return Ok(document(&authenticator, request.method()));
    }
    let (mut parts, body) = request.into_parts();
    let admitted = match authenticator.admit(&parts).await {
        Ok(admitted) => admitted,
        Err(refusal) => return Ok(refuse(&authenticator, &refusal)),
    };
    // The inner service does not receive the token, so it cannot pass the token on.
    parts.headers.remove(AUTHORIZATION);
    parts.headers.remove(dpop::HEADER);
    if let Some(end) = authenticator.end_of(&admitted.verified) {
        parts.extensions.insert(AuthorizedUntil(end.into_std()));
    }
    parts.extensions.insert(admitted.principal);
    parts.extensions.insert(admitted.verified);
    let mut answer = inner.call(Request::from_parts(parts, body)).await?;
    if let Some(missing) = answer.extensions_mut().remove::<MissingScopes>() {
        authenticator
            .step_up(&missing)
            .write(&authenticator.challenges, &mut answer);
    }
    Ok(answer.map(GuardedBody::inner))
}

fn refuse<R>(authenticator: &Authenticator, refusal: &BearerError) -> GuardedResponse<R> {
    tracing::debug!(?refusal, "a request is refused");
    let text = Bytes::copy_from_slice(refusal.text().as_bytes());
    let mut answer = Response::new(GuardedBody::own(text));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    refusal.write(&authenticator.challenges, &mut answer);
    answer
}

/// Returns the protected-resource metadata. It is the same for all clients.
fn document<R>(authenticator: &Authenticator, method: &Method) -> GuardedResponse<R> {
    let mut answer = Response::new(GuardedBody::empty());
    if !matches!(*method, Method::GET | Method::HEAD) {
        *answer.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        let allow = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(ALLOW, allow);
        return answer;
    }
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    if *method == Method::GET {
        *answer.body_mut() = GuardedBody::own(authenticator.metadata.body.clone());
    }
    answer
}

/// Body of a response: of the inner service, or of the layer.
pub struct GuardedBody<B>(Content<B>);

enum Content<B> {
    Inner(Pin<Box<B>>),
    Own(Option<Bytes>),
}

impl<B> GuardedBody<B> {
    fn inner(body: B) -> Self {
        Self(Content::Inner(Box::pin(body)))
    }

    fn own(bytes: Bytes) -> Self {
        Self(Content::Own(Some(bytes)))
    }

    fn empty() -> Self {
        Self(Content::Own(None))
    }
}

impl<B> fmt::Debug for GuardedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GuardedBody")
    }
}

impl<B: Body<Data = Bytes>> Body for GuardedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match &mut self.get_mut().0 {
            Content::Inner(body) => body.as_mut().poll_frame(cx),
            Content::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Inner(body) => body.is_end_stream(),
            Content::Own(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Inner(body) => body.size_hint(),
            Content::Own(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
        }
    }
}
