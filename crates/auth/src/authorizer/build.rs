//! How an authorizer is put together, and its limits.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::sync::Mutex;
use pintle_runtime::{BoxFetch, WebUrl};

use crate::authorizer::{Held, Inner, OAuth, OnAssertion, OnUserCode, OnVisit};
use crate::client::ClientConfig;
use crate::credentials::{CredentialStore, MemoryCredentialStore};
use crate::error::AuthError;
use crate::fetch_policy::FetchPolicy;
use crate::flow::{AuthorizationResponse, SignInRequest, UserCode};
use crate::secret::Secret;

/// The limits of an authorizer: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OAuthOptions {
    /// Longest wait for the authorization response of a user, or for the entry of a user code; default
    /// 5 min. A later response is not accepted.
    pub sign_in_timeout: Duration,
    /// Sign-ins for more scopes that one operation may cause; default 2. The limit stops a server
    /// that always requires more.
    pub max_step_ups: u32,
    /// How long such a sign-in counts; default 10 min. The operation may then cause as many again. A
    /// sign-out resets all counts.
    pub step_up_ttl: Duration,
    /// Operations for which sign-ins are counted; default 1 024. The oldest is dropped.
    pub max_step_up_operations: usize,
    /// Longest wait for the renewal of another process that shares the store; default 6 min. It is
    /// longer than `sign_in_timeout`, because a user may be signing in there.
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

/// Builder of an [`OAuth`].
#[must_use]
pub struct OAuthBuilder {
    server: WebUrl,
    profile: ClientConfig,
    fetch: BoxFetch,
    store: Arc<dyn CredentialStore>,
    fetch_policy: FetchPolicy,
    on_visit: Option<OnVisit>,
    on_user_code: Option<OnUserCode>,
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
            fetch_policy: FetchPolicy::of(&server),
            server,
            profile,
            fetch,
            store: Arc::new(MemoryCredentialStore::default()),
            on_visit: None,
            on_user_code: None,
            on_assertion: None,
            redirect: None,
            port: None,
            options: OAuthOptions::default(),
        })
    }

    /// Sets the store of tokens and registrations; default in memory.
    pub fn store(mut self, store: impl CredentialStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets the function that opens or shows the sign-in page. It may return the authorization
    /// response. If it returns `None`, a port of this machine receives the response.
    ///
    /// Without this function no page is opened, and a sign-in that needs a user fails.
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

    /// Sets the function that shows a user code and its URL, for [`GrantFlow::Device`]. The
    /// authorizer polls after the function has returned. An error ends the sign-in.
    ///
    /// Without this function, a sign-in with that flow fails.
    ///
    /// [`GrantFlow::Device`]: crate::GrantFlow::Device
    pub fn on_user_code<F>(mut self, show: impl Fn(UserCode) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), AuthError>> + Send + 'static,
    {
        self.on_user_code = Some(Arc::new(move |code| Box::pin(show(code))));
        self
    }

    /// Sets the function that returns the identity token of an enterprise user, or the assertion of
    /// a platform about a workload. Its argument is the audience. It is called for each exchange,
    /// because such assertions are short-lived.
    pub fn on_assertion<F>(mut self, bring: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        self.on_assertion = Some(Arc::new(move |audience| Box::pin(bring(audience))));
        self
    }

    /// Sets a redirect URI that the application serves. `on_sign_in` must return the authorization
    /// response.
    pub fn redirect(mut self, url: impl Into<String>) -> Self {
        self.redirect = Some(url.into());
        self
    }

    /// Sets the only loopback port that receives the redirect. Use it for a client that is registered
    /// with `http://127.0.0.1:PORT/callback`, or for a forwarded port.
    pub fn redirect_port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Replaces the policy that follows from the URL of the server.
    pub fn fetch_policy(mut self, fetch_policy: FetchPolicy) -> Self {
        self.fetch_policy = fetch_policy;
        self
    }

    /// Sets limits and timeouts.
    pub fn options(mut self, options: OAuthOptions) -> Self {
        self.options = options;
        self
    }

    /// Creates the authorizer. It performs no I/O.
    pub fn build(self) -> OAuth {
        OAuth(Arc::new(Inner {
            server: self.server,
            profile: Arc::new(self.profile),
            fetch: self.fetch,
            store: self.store,
            fetch_policy: self.fetch_policy,
            on_visit: self.on_visit,
            on_user_code: self.on_user_code,
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
