//! Responses to the requests of browsers.

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::time::timeout;

use crate::api;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::guard::Guard;
use crate::object::Object;
use crate::page;

/// The policy of the page: its own files, pictures and sounds of results, and no other source. Scripts cannot turn a
/// text into markup in browsers with Trusted Types.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data: blob:; media-src data: blob:; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of each response.
const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

const API: &str = "/api/";
const JSON: &str = "application/json";

type Answer = Response<Full<Bytes>>;

/// Answers requests, after the checks of the guard.
pub(crate) struct Responder {
    guard: Guard,
    backend: Backend,
}

impl Responder {
    pub(crate) fn new(guard: Guard, backend: Backend) -> Self {
        Self { guard, backend }
    }

    pub(crate) fn url(&self) -> String {
        self.guard.url()
    }

    /// Answers a request.
    pub(crate) async fn respond(&self, request: Request<Incoming>) -> Answer {
        let answered = match request.uri().path().strip_prefix(API) {
            Some(name) => {
                let name = name.to_owned();
                self.call(&name, request).await
            }
            None => self.file(&request),
        };
        let mut answer = answered.unwrap_or_else(|failure| failed(&failure));
        for (name, value) in HEADERS {
            let value = HeaderValue::from_static(value);
            answer.headers_mut().insert(name, value);
        }
        answer
    }

    fn file(&self, request: &Request<Incoming>) -> Result<Answer, Failure> {
        self.guard.check_host(request.headers())?;
        let file = page::file(request.uri().path());
        let file = file.ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "not found"))?;
        if request.method() != Method::GET {
            return Ok(not_allowed("GET"));
        }
        Ok(answer(StatusCode::OK, file.media_type, file.text))
    }

    async fn call(&self, name: &str, request: Request<Incoming>) -> Result<Answer, Failure> {
        self.guard.check_host(request.headers())?;
        if request.method() != Method::POST {
            return Ok(not_allowed("POST"));
        }
        let (head, body) = request.into_parts();
        self.guard.check_api(&head)?;
        // A form of another site cannot have this type.
        if head.headers.get(CONTENT_TYPE) != Some(&HeaderValue::from_static(JSON)) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Failure::new(status, "the request is not JSON"));
        }
        let body = self.collect(body).await?;
        let text = api::answer(&self.backend, name, &body).await?;
        Ok(answer(StatusCode::OK, JSON, text.into()))
    }

    /// Reads the body of a request, up to its limits.
    async fn collect(&self, body: Incoming) -> Result<Bytes, Failure> {
        let options = &self.backend.options;
        let read = Limited::new(body, options.max_body_bytes).collect();
        match timeout(options.body_timeout, read).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Failure::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the request is too large",
            )),
            Ok(Err(error)) => Err(Failure::new(StatusCode::BAD_REQUEST, error.to_string())),
            Err(_) => Err(Failure::new(
                StatusCode::REQUEST_TIMEOUT,
                "the request did not arrive in time",
            )),
        }
    }

    /// Closes the connection to the server.
    pub(crate) async fn close(&self) {
        self.backend.close().await;
    }
}

fn answer(status: StatusCode, media_type: &'static str, text: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(text));
    *answer.status_mut() = status;
    let media_type = HeaderValue::from_static(media_type);
    answer.headers_mut().insert(CONTENT_TYPE, media_type);
    answer
}

fn failed(failure: &Failure) -> Answer {
    let text = Object::new().raw("error", failure.shown()).end();
    answer(failure.status, JSON, text.into())
}

fn not_allowed(method: &'static str) -> Answer {
    let failure = Failure::new(StatusCode::METHOD_NOT_ALLOWED, "the method is not allowed");
    let mut answer = failed(&failure);
    let method = HeaderValue::from_static(method);
    answer.headers_mut().insert(ALLOW, method);
    answer
}
