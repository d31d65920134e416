//! An issuer on a port of the loopback.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::{Issuer, IssuerBehavior, IssuerResponse, RecordedRequest};

/// Limit on the size of a body, in bytes.
const MOST: usize = 1 << 20;

impl Issuer {
    /// An issuer on a free port of the loopback, for as long as the runtime of the caller lives. Its
    /// name is its address: `http://127.0.0.1:PORT`.
    ///
    /// # Errors
    ///
    /// If the system provides no port.
    pub async fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let issuer = Self::new(&format!("http://{}", listener.local_addr()?));
        let serving = issuer.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let issuer = serving.clone();
                tokio::spawn(async move {
                    let answer = service_fn(|request| issuer.respond(request));
                    let serving =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                    // A client may close its connection at any time; that is not an error here.
                    let _ended = serving.await;
                });
            }
        });
        Ok(issuer)
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
        let (parts, body) = request.into_parts();
        let body = Limited::new(body, MOST).collect().await?.to_bytes();
        let headers = parts.headers.iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let place = parts
            .uri
            .path_and_query()
            .map_or("/", |place| place.as_str());
        let asked = RecordedRequest::new(parts.method.as_str(), place, headers, &body);
        let answer = match self.answer(asked) {
            Some(answer) => answer,
            None if self.lock().behavior == IssuerBehavior::Silent => never().await,
            // An error here ends the connection without an answer.
            None => return Err("the issuer is down".into()),
        };
        let mut response = Response::builder().status(answer.status);
        for (name, value) in answer.headers {
            response = response.header(name, value);
        }
        Ok(response.body(Full::from(answer.body))?)
    }
}

async fn never() -> IssuerResponse {
    let never: Infallible = std::future::pending().await;
    match never {}
}
