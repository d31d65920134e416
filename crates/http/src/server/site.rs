//! What a server of its own serves where, and what stands in front of it.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::future::{self, Future, poll_fn};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pintle_runtime::{BoxFuture, Service};
use tower_service::Service as TowerService;

use super::endpoint::EndpointResponse;
use super::response::ResponseBody;
#[cfg(feature = "sse")]
use super::sse::SseService;
use super::{AnswerFuture, ClientAddress, HttpService};
use crate::rules::cause;

/// Where the streams of 2024-11-05 are opened, and where its messages are posted.
#[cfg(feature = "sse")]
const STREAMS: &str = "/sse";
#[cfg(feature = "sse")]
pub(super) const MESSAGES: &str = "/messages";

type BoxError = Box<dyn Error + Send + Sync>;

/// Everything that an [`HttpServer`](super::HttpServer) serves, as one tower service: the endpoint at
/// its path, and 404 elsewhere. A layer goes around all of it.
pub struct Site<S> {
    service: HttpService<S>,
    endpoint: Arc<str>,
    #[cfg(feature = "sse")]
    sse: Option<SseService<S>>,
}

impl<S: Service> Site<S> {
    pub(super) fn new(service: HttpService<S>) -> Self {
        Self {
            service,
            endpoint: "/mcp".into(),
            #[cfg(feature = "sse")]
            sse: None,
        }
    }

    pub(super) fn at(&mut self, path: &str) {
        self.endpoint = path.into();
    }

    pub(super) fn service(&self) -> &HttpService<S> {
        &self.service
    }

    #[cfg(feature = "sse")]
    pub(super) fn serve_sse(&mut self) {
        self.sse = Some(self.service.sse(MESSAGES));
    }

    fn answer<B>(&self, request: Request<B>, address: Option<IpAddr>) -> AnswerFuture
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let path = request.uri().path();
        if path == &*self.endpoint {
            return self.service.answer(request, address);
        }
        #[cfg(feature = "sse")]
        if let (Some(sse), STREAMS | MESSAGES) = (&self.sse, path) {
            return sse.answer_from(request, address);
        }
        AnswerFuture::new(future::ready(self.service.refuse(&cause::NO_ENDPOINT)))
    }
}

impl<S> Clone for Site<S> {
    fn clone(&self) -> Self {
        Self {
            service: self.service.clone(),
            endpoint: Arc::clone(&self.endpoint),
            #[cfg(feature = "sse")]
            sse: self.sse.clone(),
        }
    }
}

impl<S> fmt::Debug for Site<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl<S, B> TowerService<Request<B>> for Site<S>
where
    S: Service,
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.answer(request, None)
    }
}

/// A site as connections see it: bare, or behind a layer.
pub(super) enum Front<S> {
    Bare(Site<S>),
    Layered(Arc<dyn Layered>),
}

impl<S> Clone for Front<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Bare(site) => Self::Bare(site.clone()),
            Self::Layered(layered) => Self::Layered(Arc::clone(layered)),
        }
    }
}

impl<S: Service> Front<S> {
    pub(super) fn answer(
        &self,
        mut request: Request<Incoming>,
        address: Option<IpAddr>,
    ) -> FrontFuture<'_> {
        match self {
            Self::Bare(site) => FrontFuture::Own(site.answer(request, address)),
            Self::Layered(layered) => {
                if let Some(address) = address {
                    request.extensions_mut().insert(ClientAddress(address));
                }
                FrontFuture::Layers(layered.answer(request))
            }
        }
    }
}

/// The future of one response of a site, or of the layer around it.
pub(super) enum FrontFuture<'a> {
    Own(AnswerFuture),
    Layers(BoxFuture<'a, Response<FrontBody>>),
}

impl FrontFuture<'_> {
    pub(super) fn ready(answer: EndpointResponse) -> Self {
        Self::Own(AnswerFuture::new(future::ready(answer)))
    }
}

impl Future for FrontFuture<'_> {
    type Output = Response<FrontBody>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response<FrontBody>> {
        match self.get_mut() {
            Self::Own(answer) => {
                let Ok(answer) = ready!(Pin::new(answer).poll(cx));
                Poll::Ready(answer.map(FrontBody::Own))
            }
            Self::Layers(answer) => answer.as_mut().poll(cx),
        }
    }
}

/// A site with a layer around it, of any type.
pub(super) trait Layered: Send + Sync {
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'_, Response<FrontBody>>;
}

/// A tower service as [`Layered`]. The host is checked before any layer answers.
pub(super) struct Outermost<T, S> {
    pub(super) service: T,
    pub(super) endpoint: HttpService<S>,
}

impl<T, S, B> Layered for Outermost<T, S>
where
    S: Service,
    T: TowerService<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + Sync,
    T::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'_, Response<FrontBody>> {
        let mut service = self.service.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            if let Some(refused) = self.endpoint.refuse_foreign_host(&parts) {
                return refused.map(FrontBody::Own);
            }
            let request = Request::from_parts(parts, body);
            let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(answer) = service.call(request).await;
            answer.map(|body| FrontBody::Layers(Box::pin(Erased(Box::pin(body)))))
        })
    }
}

/// A body of ours, or of a layer.
pub(super) enum FrontBody {
    Own(ResponseBody),
    Layers(Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>),
}

/// A body whose errors have lost their type.
struct Erased<B>(Pin<Box<B>>);

impl<B> Body for Erased<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = self.0.as_mut().poll_frame(cx);
        polled.map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Body for FrontBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Self::Own(body) => {
                let polled = Pin::new(body).poll_frame(cx);
                polled.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
            }
            Self::Layers(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_end_stream(),
            Self::Layers(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => body.size_hint(),
            Self::Layers(body) => body.size_hint(),
        }
    }
}
