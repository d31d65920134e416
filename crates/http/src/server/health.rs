//! Health of an endpoint, for load balancers and supervisors of processes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Response, StatusCode, Uri};
use pintle_proto::Frame;
use pintle_runtime::{BoxFuture, Service};

use super::endpoint::Endpoint;
use super::reply::PLAIN_TEXT;
use super::response::ResponseBody;

/// The process works.
const LIVE: &str = "/healthz";
/// The endpoint accepts requests.
const READY: &str = "/readyz";
/// The query of a check that does not depend on the store.
const WITHOUT_STORE: &str = "exclude=store";

/// The health of an endpoint. It answers two paths, for any port:
///
/// - `/healthz` is 200 while the process works.
/// - `/readyz` is 200 while the endpoint accepts requests. It is 503 during shutdown, and while the store
///   that replicas share does not answer. `/readyz?exclude=store` does not read the store.
///
/// The body is one word: `ok`, `ready`, `draining` or `store`. The store is read at most once a second.
#[derive(Clone)]
pub struct Health(Arc<dyn Source>);

/// An endpoint of any type.
trait Source: Send + Sync {
    fn is_draining(&self) -> bool;
    fn is_ready(&self) -> BoxFuture<'_, bool>;
}

impl<S: Service> Source for Endpoint<S> {
    fn is_draining(&self) -> bool {
        Endpoint::is_draining(self).load(Ordering::Relaxed)
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        self.service.is_ready()
    }
}

impl Health {
    pub(super) fn of<S: Service>(endpoint: &Arc<Endpoint<S>>) -> Self {
        Self(Arc::clone(endpoint) as _)
    }

    /// Returns true if requests for this path are checks.
    pub(super) fn has(method: &Method, uri: &Uri) -> bool {
        [Method::GET, Method::HEAD].contains(method) && [LIVE, READY].contains(&uri.path())
    }

    /// Answers GET or HEAD of a path. `None` if the request is not a check. No header of the request is
    /// read, because a check has the address of the process as its host.
    pub async fn answer(&self, method: &Method, uri: &Uri) -> Option<Response<ResponseBody>> {
        if !Self::has(method, uri) {
            return None;
        }
        let (status, word) = match uri.path() {
            LIVE => (StatusCode::OK, "ok"),
            _ => self.readiness(uri.query() != Some(WITHOUT_STORE)).await,
        };
        Some(response(status, word))
    }

    async fn readiness(&self, reads_store: bool) -> (StatusCode, &'static str) {
        if self.0.is_draining() {
            return (StatusCode::SERVICE_UNAVAILABLE, "draining");
        }
        if reads_store && !self.0.is_ready().await {
            return (StatusCode::SERVICE_UNAVAILABLE, "store");
        }
        (StatusCode::OK, "ready")
    }
}

fn response(status: StatusCode, word: &'static str) -> Response<ResponseBody> {
    let text = word.as_bytes().to_vec();
    let mut response = Response::new(ResponseBody::message(Frame::whole(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PLAIN_TEXT));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("is_draining", &self.0.is_draining())
            .finish()
    }
}
