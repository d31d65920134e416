//! How an authorizer is put together, and its bounds.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::sync::Mutex;
use pintle_runtime::{BoxFetch, WebUrl};

use crate::authorizer::{Held, Inner, OAuth, OnAssertion, OnVisit};
use crate::client::ClientConfig;
use crate::credentials::{CredentialStore, MemoryCredentials};
use crate::error::AuthError;
use crate::flow::{AuthorizationResponse, SignInRequest};
use crate::reach::FetchPolicy;
use crate::secret::Secret;

/// The bounds of an authorizer: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OAuthOptions {
    /// How long a user may take to come back; default 5 min. After that the page in the browser
    /// leads nowhere.
    pub sign_in_timeout: Duration,
    /// Sign-ins for more scopes that one operation may cause; default 2. A server that wants more
    /// after that will want more for ever.
    pub max_step_ups: u32,
    /// How long such a sign-in counts; default 10 min, after which the operation may cause as many
    /// again: it is another time that somebody wants to do it. A sign-out forgets them all.
    pub step_up_ttl: Duration,
    /// Operations for which sign-ins are counted; default 1 024. The oldest is forgotten.
    pub max_step_up_operations: usize,
    /// How long another process may take to renew what is shared; default 6 min: as long as a user
    /// may take there, and a little.
    pub lock_timeout: Duration,
}

impl Default for OAuthOptions {
    fn default() -> Self {
        Self {
            sign_in_timeout: Duration::from_secs(5 * 60),
            max_step_ups: 2,
            step_up_ttl: Duration::from_secs(10 * 60),
            max_step_up_operations: 1_024,
            lock_timeout: Duration::from_secs(6 * 60),
        }
    }
}

/// Puts an [`OAuth`] together.
#[must_use]
pub struct OAuthBuilder {
    server: WebUrl,
    profile: ClientConfig,
    fetch: BoxFetch,
    store: Arc<dyn CredentialStore>,
    bounds: FetchPolicy,
    on_visit: Option<OnVisit>,
    on_assertion: Option<OnAssertion>,
    redirect: Option<String>,
    port: Option<u16>,
    options: OAuthOptions,
}

impl OAuthBuilder {
    pub(super) fn new(
        url: &str,
        profile: ClientConfig,
        fetch: BoxFetch,
    ) -> Result<Self, AuthError> {
        let place = || url.split('?').next().unwrap_or_default().into();
        let server = WebUrl::parse(url.split('#').next().unwrap_or_default());
        let server =
            server.map_err(|fault| AuthError::Address(place(), fault.to_string().into()))?;
        profile.check()?;
        Ok(Self {
            bounds: FetchPolicy::of(&server),
            server,
            profile,
            fetch,
            store: Arc::new(MemoryCredentials::default()),
            on_visit: None,
            on_assertion: None,
            redirect: None,
            port: None,
            options: OAuthOptions::default(),
        })
    }

    /// Keeps tokens and registrations here; in memory otherwise.
    pub fn store(mut self, store: impl CredentialStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sends users with this: to open the address, or to show it. It gives how the user came back,
    /// where it knows; otherwise a port of this machine waits for that.
    ///
    /// Without it nothing is ever opened, and a server that wants a user is an error.
    pub fn on_sign_in<F>(
        mut self,
        visit: impl Fn(SignInRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Option<AuthorizationResponse>, AuthError>> + Send + 'static,
    {
        self.on_visit = Some(Arc::new(move |to| Box::pin(visit(to))));
        self
    }

    /// Brings the identity token of an enterprise, or what a platform says of a workload, for an
    /// audience. It is asked every time: such assertions are short-lived.
    pub fn on_assertion<F>(mut self, bring: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        self.on_assertion = Some(Arc::new(move |audience| Box::pin(bring(audience))));
        self
    }

    /// Sends users back to this address, which is somebody else's to wait at: `on_sign_in` has to
    /// say how they came back.
    pub fn redirect(mut self, url: impl Into<String>) -> Self {
        self.redirect = Some(url.into());
        self
    }

    /// Waits for users at this port of this machine, and at no other: for a client that is
    /// registered with it (`http://127.0.0.1:PORT/callback`), or a port that is forwarded.
    pub fn redirect_port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Follows other addresses than the server's kind allows.
    pub fn fetch_policy(mut self, bounds: FetchPolicy) -> Self {
        self.bounds = bounds;
        self
    }

    /// Chooses bounds.
    pub fn options(mut self, options: OAuthOptions) -> Self {
        self.options = options;
        self
    }

    /// The authorizer. Nothing is fetched before it is needed.
    pub fn build(self) -> OAuth {
        OAuth(Arc::new(Inner {
            server: self.server,
            profile: Arc::new(self.profile),
            fetch: self.fetch,
            store: self.store,
            bounds: self.bounds,
            on_visit: self.on_visit,
            on_assertion: self.on_assertion,
            redirect: self.redirect,
            port: self.port,
            options: self.options,
            held: Mutex::new(Held::default()),
            renewal: Arc::default(),
        }))
    }
}

impl std::fmt::Debug for OAuthBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OAuthBuilder({})", self.server)
    }
}
