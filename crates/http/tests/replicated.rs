//! An endpoint of the tests: one process, or several replicas that answer in turn.
//!
//! With `PINTLE_REPLICAS=3`, each request goes to the next of three replicas with one store. `replicas.txt` names the
//! tests that this mode does not serve, and why.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, Response};
use http_body::Body;
use pintle_http::{HttpOptions, HttpService, ResponseBody};
use pintle_runtime::BoxService;
use tower_service::Service as _;

use crate::server::Replicated;

/// The name of the variable with the number of replicas.
const REPLICAS: &str = "PINTLE_REPLICAS";

/// The replicas of a service, and the number of requests.
#[derive(Clone)]
pub(crate) struct Endpoint {
    replicas: Vec<HttpService<BoxService>>,
    requests: Arc<AtomicUsize>,
}

impl From<HttpService<BoxService>> for Endpoint {
    fn from(replica: HttpService<BoxService>) -> Self {
        Self::of(vec![replica])
    }
}

impl Endpoint {
    /// Creates the replicas, of services that `create` returns.
    pub(crate) fn new(options: &HttpOptions, create: impl Fn() -> BoxService) -> Self {
        let service = |service| HttpService::new(service, options.clone());
        match count() {
            1 => service(create()).into(),
            count => {
                let shared = Replicated::shared();
                let replica = |_| service(BoxService::new(Replicated::new(create(), &shared)));
                Self::of((0..count).map(replica).collect())
            }
        }
    }

    fn of(replicas: Vec<HttpService<BoxService>>) -> Self {
        let requests = Arc::default();
        Self { replicas, requests }
    }

    /// Sends a request to the next replica.
    pub(crate) async fn call<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut replica = self.replicas[number % self.replicas.len()].clone();
        replica.call(request).await.expect("it never fails")
    }

    pub(crate) fn all(&self) -> &[HttpService<BoxService>] {
        &self.replicas
    }

    /// The only replica.
    pub(crate) fn only(&self) -> &HttpService<BoxService> {
        &self.replicas[0]
    }

    pub(crate) fn close(&self) {
        for replica in &self.replicas {
            replica.close();
        }
    }
}

fn count() -> usize {
    let count = std::env::var(REPLICAS).ok();
    count.map_or(1, |count| count.parse().expect("a number of replicas"))
}
