//! Configuration of [`RequireBearer`].

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use pintle_keys::Keys;
use pintle_runtime::{BoxFetch, Fetch};

use super::ResourceLimits;
use super::algorithm::Algorithm;
use super::api_keys::{ApiKey, ApiKeyVerifier};
use super::authenticate::Authenticator;
use super::bearer_error::Challenges;
use super::dpop::{Dpop, DpopNonce, ProofVerifier};
use super::fixed_keys::FixedKeys;
use super::introspect::{IntrospectionClient, Introspector};
use super::issuer::{self, Issuer};
use super::jwt::JwtVerifier;
use super::keys::{KeyRing, KeySource};
use super::layer::RequireBearer;
use super::metadata::{Facts, Metadata};
use super::uri::{Canonical, RequireBearerError};
use super::verified_token::{DynVerifier, Hierarchy, TokenVerifier};
use crate::Scopes;

/// Scope that a resource must not request, because only client and issuer agree on refresh tokens.
///
/// Spec: 2026-07-28, Authorization, Refresh Tokens.
const NOT_OURS: &str = "offline_access";

/// Builder of a [`RequireBearer`].
#[must_use = "nothing is required before `build`"]
pub struct RequireBearerBuilder {
    issuer: Box<str>,
    kind: VerifierKind,
    audiences: Vec<Box<str>>,
    required: Vec<Box<str>>,
    facts: Facts,
    hierarchy: Hierarchy,
    algorithms: Vec<Algorithm>,
    dpop: Dpop,
    nonce: DpopNonce,
    keys: Option<Keys>,
    limits: ResourceLimits,
}

/// Way to verify tokens. The list is complete.
enum VerifierKind {
    Keys(BoxFetch, KeySource),
    FixedKeys(Bytes),
    ApiKeys(Vec<ApiKey>),
    Introspection(BoxFetch, IntrospectionClient, Option<Box<str>>),
    Own(Box<dyn DynVerifier>),
}

impl RequireBearer {
    /// Requires tokens that `issuer` signed. Its keys are fetched on demand, from the `jwks_uri` of its
    /// metadata.
    ///
    /// ```
    /// use pintle_auth::resource::RequireBearer;
    /// # use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse};
    /// # struct Web;
    /// # impl Fetch for Web {
    /// #     async fn fetch(&self, _: FetchRequest) -> Result<FetchResponse, FetchError> {
    /// #         Err(FetchError::unreachable("no network"))
    /// #     }
    /// # }
    ///
    /// let layer = RequireBearer::jwks("https://issuer.example", Web)
    ///     .audience("https://api.example/mcp")
    ///     .implies("files:write", ["files:read"])
    ///     .build()?;
    /// assert_eq!(
    ///     layer.metadata_url(),
    ///     "https://api.example/.well-known/oauth-protected-resource/mcp"
    /// );
    /// # Ok::<(), pintle_auth::resource::RequireBearerError>(())
    /// ```
    pub fn jwks(issuer: &str, fetch: impl Fetch) -> RequireBearerBuilder {
        let kind = VerifierKind::Keys(BoxFetch::new(fetch), KeySource::Document);
        RequireBearerBuilder::new(issuer, kind)
    }

    /// Requires tokens that `issuer` signed with a key of this JSON Web Key Set. Nothing is fetched, so the server
    /// needs no network, and new keys need a restart.
    ///
    /// ```no_run
    /// use pintle_auth::resource::RequireBearer;
    ///
    /// let layer = RequireBearer::fixed_keys("https://issuer.example", std::fs::read("keys.json")?)
    ///     .audience("https://api.example/mcp")
    ///     .build()?;
    /// # drop(layer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fixed_keys(issuer: &str, set: impl Into<Bytes>) -> RequireBearerBuilder {
        RequireBearerBuilder::new(issuer, VerifierKind::FixedKeys(set.into()))
    }

    /// Requires one of these API keys as the token. The metadata names `issuer` as the place where callers get
    /// keys. The principal of a key is unique by the issuer and the owner.
    ///
    /// Keys are in memory, and each request is compared with all of them. For thousands of keys, or keys that
    /// come and go, implement [`TokenVerifier`].
    ///
    /// ```
    /// use pintle_auth::resource::{ApiKey, RequireBearer};
    ///
    /// # let read = |_: &str| "key-of-ada".to_owned();
    /// let key = ApiKey::new(read("KEY_OF_ADA"), "ada").scopes("files:read files:write");
    /// let layer = RequireBearer::api_keys("https://api.example/keys", [key])
    ///     .audience("https://api.example/mcp")
    ///     .build()?;
    /// # drop(layer);
    /// # Ok::<(), pintle_auth::resource::RequireBearerError>(())
    /// ```
    pub fn api_keys(issuer: &str, keys: impl IntoIterator<Item = ApiKey>) -> RequireBearerBuilder {
        let keys = keys.into_iter().collect();
        RequireBearerBuilder::new(issuer, VerifierKind::ApiKeys(keys))
    }

    /// Requires tokens that `issuer` reports as active on introspection (RFC 7662).
    pub fn introspection(
        issuer: &str,
        client: IntrospectionClient,
        fetch: impl Fetch,
    ) -> RequireBearerBuilder {
        let kind = VerifierKind::Introspection(BoxFetch::new(fetch), client, None);
        RequireBearerBuilder::new(issuer, kind)
    }

    /// Requires tokens that `verifier` accepts. The metadata names `issuer` as the authorization server.
    pub fn verifier(issuer: &str, verifier: impl TokenVerifier) -> RequireBearerBuilder {
        RequireBearerBuilder::new(issuer, VerifierKind::Own(Box::new(verifier)))
    }
}

impl RequireBearerBuilder {
    fn new(issuer: &str, kind: VerifierKind) -> Self {
        Self {
            issuer: issuer.into(),
            kind,
            audiences: Vec::new(),
            required: Vec::new(),
            facts: Facts::default(),
            hierarchy: Hierarchy::default(),
            algorithms: Algorithm::ALL.to_vec(),
            dpop: Dpop::default(),
            nonce: DpopNonce::default(),
            keys: None,
            limits: ResourceLimits::default(),
        }
    }

    /// Accepts tokens for this audience. The first one is the resource identifier: the URL of the
    /// endpoint, which must be `https`, or `http` on a loopback host.
    pub fn audience(mut self, uri: &str) -> Self {
        self.audiences.push(uri.into());
        self
    }

    /// Sets the URL for keys or introspection, instead of that in the issuer's metadata. The other ways to
    /// verify tokens ignore it.
    pub fn endpoint(mut self, url: &str) -> Self {
        match &mut self.kind {
            VerifierKind::Keys(_, place) => *place = KeySource::At(url.into()),
            VerifierKind::Introspection(_, _, endpoint) => *endpoint = Some(url.into()),
            VerifierKind::FixedKeys(_) | VerifierKind::ApiKeys(_) | VerifierKind::Own(_) => {}
        }
        self
    }

    /// Requires a scope of every request. The challenge for a missing token names these scopes.
    pub fn require(mut self, scope: &str) -> Self {
        self.required.push(scope.into());
        self
    }

    /// A token with `scope` has the implied scopes, too.
    pub fn implies<'s>(mut self, scope: &str, implied: impl IntoIterator<Item = &'s str>) -> Self {
        for one in implied {
            self.hierarchy.imply(scope, one);
        }
        self
    }

    /// Adds scopes to the metadata, for clients that request scopes in advance. A challenge requests
    /// other scopes of a tool when a client calls it.
    pub fn supports<'s>(mut self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        self.facts.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the display name of this server and the URL of its documentation in the metadata.
    pub fn resource_name(mut self, name: &str, documentation: Option<&str>) -> Self {
        self.facts.name = Some(name.into());
        self.facts.documentation = documentation.map(Into::into);
        self
    }

    /// Accepts only these algorithms, for tokens and for proofs; default all of [`Algorithm`]. None of
    /// them uses a shared secret.
    pub fn algorithms(mut self, allowed: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = allowed.into_iter().collect();
        self
    }

    /// Sets whether tokens may or must be bound to keys, and whether proofs need a nonce.
    pub fn dpop(mut self, dpop: Dpop, nonce: DpopNonce) -> Self {
        (self.dpop, self.nonce) = (dpop, nonce);
        self
    }

    /// Sets the keys of nonces for DPoP proofs. Replicas behind one address need the same keys. By
    /// default a nonce is valid only at the process that issued it.
    pub fn keys(mut self, keys: &Keys) -> Self {
        self.keys = Some(keys.clone());
        self
    }

    /// Sets limits and timeouts.
    pub fn limits(mut self, limits: ResourceLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Creates the layer. It performs no I/O.
    ///
    /// # Errors
    ///
    /// [`RequireBearerError`] if the configuration is invalid.
    pub fn build(mut self) -> Result<RequireBearer, RequireBearerError> {
        issuer::check(&self.issuer)?;
        let first = self
            .audiences
            .first()
            .ok_or(RequireBearerError::NoAudience)?;
        let resource = Canonical::secure(first)?;
        self.check_scopes()?;
        if self.algorithms.is_empty() {
            return Err(RequireBearerError::NoAlgorithm);
        }
        self.facts.issuers = vec![self.issuer.clone()];
        let names = || self.algorithms.iter().map(|one| one.name()).collect();
        self.facts.dpop = (self.dpop != Dpop::Off).then(|| (names(), self.dpop == Dpop::Required));
        let metadata = Metadata::new(&resource, &self.facts);
        let nonces = nonce_keys(self.nonce, self.keys)?;
        let proofs = ProofVerifier::new(&self.algorithms, nonces, &self.limits);
        let challenges = Challenges {
            metadata: metadata.url.clone(),
            scope: self.required.join(" "),
            dpop: self.dpop,
            algorithms: self.algorithms.clone(),
        };
        let parties = (&*self.issuer, &**first);
        let verifier = verifier(self.kind, parties, &self.algorithms, &self.limits)?;
        let authenticator = Authenticator {
            verifier,
            resource,
            audiences: self.audiences,
            required: self.required,
            hierarchy: self.hierarchy,
            metadata,
            challenges,
            dpop: self.dpop,
            proofs,
            limits: self.limits,
        };
        Ok(RequireBearer {
            authenticator: Arc::new(authenticator),
        })
    }

    fn check_scopes(&self) -> Result<(), RequireBearerError> {
        let mut all = self.required.iter().chain(&self.facts.scopes);
        let is_scope = |scope: &str| Scopes::of([scope]).is_ok() && scope != NOT_OURS;
        match all.find(|scope| !is_scope(scope)) {
            Some(scope) => Err(RequireBearerError::Scope(scope.clone())),
            None => Ok(()),
        }
    }
}

/// The keys of nonces, if proofs need nonces.
fn nonce_keys(nonce: DpopNonce, keys: Option<Keys>) -> Result<Option<Keys>, RequireBearerError> {
    match (nonce, keys) {
        (DpopNonce::Off, _) => Ok(None),
        (DpopNonce::Required, Some(keys)) => Ok(Some(keys)),
        (DpopNonce::Required, None) => {
            let keys = Keys::random().map_err(|_| RequireBearerError::NoRandomness)?;
            Ok(Some(keys))
        }
    }
}

fn verifier(
    kind: VerifierKind,
    (issuer, audience): (&str, &str),
    algorithms: &[Algorithm],
    limits: &ResourceLimits,
) -> Result<Box<dyn DynVerifier>, RequireBearerError> {
    let issuer_by = |fetch| Issuer::new(issuer, fetch, limits.clone()).map(Arc::new);
    Ok(match kind {
        VerifierKind::Own(verifier) => verifier,
        VerifierKind::Keys(fetch, place) => {
            if let KeySource::At(url) = &place {
                Canonical::secure(url)?;
            }
            signed(issuer_by(fetch)?, place, algorithms)
        }
        VerifierKind::FixedKeys(set) => {
            let fetch = BoxFetch::new(FixedKeys::new(set, limits)?);
            // The address is not requested.
            let place = KeySource::At(issuer.into());
            signed(issuer_by(fetch)?, place, algorithms)
        }
        VerifierKind::ApiKeys(keys) => Box::new(ApiKeyVerifier::new(issuer, audience, keys)?),
        VerifierKind::Introspection(fetch, client, endpoint) => {
            if let Some(url) = &endpoint {
                Canonical::secure(url)?;
            }
            Box::new(Introspector::new(issuer_by(fetch)?, client, endpoint))
        }
    })
}

/// Returns the verifier of tokens that an issuer signed with its keys.
fn signed(issuer: Arc<Issuer>, place: KeySource, algorithms: &[Algorithm]) -> Box<dyn DynVerifier> {
    Box::new(JwtVerifier {
        keys: KeyRing::new(Arc::clone(&issuer), place),
        issuer,
        algorithms: algorithms.to_vec(),
    })
}

impl fmt::Debug for RequireBearerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequireBearerBuilder")
            .field("issuer", &self.issuer)
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}
