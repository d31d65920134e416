//! Which proxy stands in front of a server.

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::client::endpoint_url::UrlOrigin;
use crate::client::options::Proxy;

/// The rules, read once.
pub(super) struct Proxies(Option<Matcher>);

/// A proxy that is to be used.
#[derive(Debug, Clone)]
pub(super) struct ProxyRoute {
    pub(super) origin: UrlOrigin,
    pub(super) credential: Option<HeaderValue>,
    /// Its scheme, which may be one that we do not speak.
    pub(super) scheme: Box<str>,
}

impl Proxies {
    pub(super) fn new(proxy: &Proxy) -> Self {
        Self(match proxy {
            Proxy::Environment => Some(Matcher::from_env()),
            Proxy::None => None,
            Proxy::Fixed(url) => Some(Matcher::builder().all(url.as_str()).build()),
        })
    }

    /// The proxy in front of a server.
    pub(super) fn of(&self, server: &UrlOrigin) -> Option<ProxyRoute> {
        let matcher = self.0.as_ref().filter(|_| !server.is_local())?;
        let server: Uri = server.to_string().parse().ok()?;
        matcher
            .intercept(&server)
            .map(|found| ProxyRoute::new(&found))
    }
}

impl ProxyRoute {
    fn new(found: &Intercept) -> Self {
        let uri = found.uri();
        let origin = UrlOrigin::of(uri);
        let credential = found.basic_auth().cloned().map(|mut credential| {
            credential.set_sensitive(true);
            credential
        });
        let scheme = uri.scheme_str().unwrap_or_default().into();
        Self {
            origin,
            credential,
            scheme,
        }
    }

    pub(super) fn is_spoken(&self) -> bool {
        matches!(&*self.scheme, "http" | "https")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::endpoint_url::EndpointUrl;

    fn origin(url: &str) -> UrlOrigin {
        EndpointUrl::parse(url).expect("a URL").origin()
    }

    #[test]
    fn a_proxy_is_used_for_others_and_never_for_this_machine() {
        let proxy = Proxy::fixed("http://user:secret@proxy.example:3128").expect("a proxy");
        assert!(!format!("{proxy:?}").contains("secret"));
        let proxies = Proxies::new(&proxy);
        let through = proxies.of(&origin("https://a.example")).expect("a proxy");
        assert_eq!(through.origin, origin("http://proxy.example:3128"));
        assert!(through.is_spoken() && through.credential.is_some_and(|it| it.is_sensitive()));
        for local in ["http://localhost:1", "http://127.0.0.1", "https://[::1]"] {
            assert!(proxies.of(&origin(local)).is_none(), "{local}");
        }
        assert!(
            Proxies::new(&Proxy::None)
                .of(&origin("https://a.example"))
                .is_none()
        );
    }
}
