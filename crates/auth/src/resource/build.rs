//! What a layer is to require, one thing after another.

use std::fmt;
use std::sync::Arc;

use pintle_runtime::{BoxFetch, Fetch};

use super::ResourceLimits;
use super::algorithm::Algorithm;
use super::authenticate::Authenticator;
use super::bearer_error::Challenges;
use super::dpop::{Dpop, DpopNonce, ProofVerifier};
use super::introspect::{IntrospectionClient, Introspector};
use super::issuer::{self, Issuer};
use super::jwt::JwtVerifier;
use super::keys::{KeyRing, KeySource};
use super::layer::RequireBearer;
use super::metadata::{Facts, Metadata};
use super::uri::{Canonical, RequireBearerError};
use super::verified_token::{DynVerifier, Hierarchy, TokenVerifier};
use crate::Scopes;

/// No resource asks for it: whether clients may refresh is between them and the issuer.
///
/// Spec: 2026-07-28, Authorization, Refresh Tokens.
const NOT_OURS: &str = "offline_access";

/// A [`RequireBearer`] that is being described.
#[must_use = "nothing is required before `build`"]
pub struct RequireBearerBuilder {
    issuer: Box<str>,
    way: VerifierKind,
    audiences: Vec<Box<str>>,
    required: Vec<Box<str>>,
    facts: Facts,
    hierarchy: Hierarchy,
    algorithms: Vec<Algorithm>,
    dpop: Dpop,
    nonce: DpopNonce,
    limits: ResourceLimits,
}

/// Who says what a token grants. Closed by design.
enum VerifierKind {
    Keys(BoxFetch, KeySource),
    Introspection(BoxFetch, IntrospectionClient, Option<Box<str>>),
    Own(Box<dyn DynVerifier>),
}

impl RequireBearer {
    /// Requires tokens that `issuer` signed. Its keys are fetched when they are needed: where they are
    /// is found in its document, at a well-known place.
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
        let way = VerifierKind::Keys(BoxFetch::new(fetch), KeySource::Document);
        RequireBearerBuilder::new(issuer, way)
    }

    /// Requires tokens that `issuer` vouches for when it is asked (RFC 7662).
    pub fn introspection(
        issuer: &str,
        asker: IntrospectionClient,
        fetch: impl Fetch,
    ) -> RequireBearerBuilder {
        let way = VerifierKind::Introspection(BoxFetch::new(fetch), asker, None);
        RequireBearerBuilder::new(issuer, way)
    }

    /// Requires tokens that `verifier` vouches for. Clients are told that `issuer` issues them.
    pub fn verifier(issuer: &str, verifier: impl TokenVerifier) -> RequireBearerBuilder {
        RequireBearerBuilder::new(issuer, VerifierKind::Own(Box::new(verifier)))
    }
}

impl RequireBearerBuilder {
    fn new(issuer: &str, way: VerifierKind) -> Self {
        Self {
            issuer: issuer.into(),
            way,
            audiences: Vec::new(),
            required: Vec::new(),
            facts: Facts::default(),
            hierarchy: Hierarchy::default(),
            algorithms: Algorithm::ALL.to_vec(),
            dpop: Dpop::default(),
            nonce: DpopNonce::default(),
            limits: ResourceLimits::default(),
        }
    }

    /// Takes tokens that are for this URI. The first is the one that clients know the server by: its
    /// endpoint's address, which must be `https`, or `http` on this machine.
    pub fn audience(mut self, uri: &str) -> Self {
        self.audiences.push(uri.into());
        self
    }

    /// Fetches keys, or asks about tokens, at this address, instead of where the issuer's document
    /// says.
    pub fn endpoint(mut self, url: &str) -> Self {
        match &mut self.way {
            VerifierKind::Keys(_, place) => *place = KeySource::At(url.into()),
            VerifierKind::Introspection(_, _, endpoint) => *endpoint = Some(url.into()),
            VerifierKind::Own(_) => {}
        }
        self
    }

    /// Requires a scope of every request. Clients are told of these when they show no token.
    pub fn require(mut self, scope: &str) -> Self {
        self.required.push(scope.into());
        self
    }

    /// Whoever has `scope` has these as well.
    pub fn implies<'s>(mut self, scope: &str, implied: impl IntoIterator<Item = &'s str>) -> Self {
        for one in implied {
            self.hierarchy.imply(scope, one);
        }
        self
    }

    /// Tells clients of scopes that they may need. Those that tools require and that are not here are
    /// asked for when a tool is called.
    pub fn supports<'s>(mut self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        self.facts.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Tells people what this server is called, and where they can read about it.
    pub fn resource_name(mut self, name: &str, documentation: Option<&str>) -> Self {
        self.facts.name = Some(name.into());
        self.facts.documentation = documentation.map(Into::into);
        self
    }

    /// Takes only these algorithms, for tokens and for proofs. All that are known are taken otherwise:
    /// none of them works with a secret.
    pub fn algorithms(mut self, allowed: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = allowed.into_iter().collect();
        self
    }

    /// Takes tokens that are bound to keys, or only those.
    pub fn dpop(mut self, dpop: Dpop, nonce: DpopNonce) -> Self {
        (self.dpop, self.nonce) = (dpop, nonce);
        self
    }

    /// Sets the bounds.
    pub fn limits(mut self, limits: ResourceLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes the layer. Nothing is fetched yet.
    ///
    /// # Errors
    ///
    /// [`RequireBearerError`].
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
        let proofs = ProofVerifier::new(&self.algorithms, self.nonce, &self.limits)?;
        let challenges = Challenges {
            metadata: metadata.url.clone(),
            scope: self.required.join(" "),
            dpop: self.dpop,
            algorithms: self.algorithms.clone(),
        };
        let verifier = verifier(self.way, &self.issuer, &self.algorithms, &self.limits)?;
        let gate = Authenticator {
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
            gate: Arc::new(gate),
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

fn verifier(
    way: VerifierKind,
    issuer: &str,
    algorithms: &[Algorithm],
    limits: &ResourceLimits,
) -> Result<Box<dyn DynVerifier>, RequireBearerError> {
    let issuer_by = |fetch| Issuer::new(issuer, fetch, limits.clone()).map(Arc::new);
    Ok(match way {
        VerifierKind::Own(verifier) => verifier,
        VerifierKind::Keys(fetch, place) => {
            if let KeySource::At(url) = &place {
                Canonical::secure(url)?;
            }
            let issuer = issuer_by(fetch)?;
            Box::new(JwtVerifier {
                keys: KeyRing::new(Arc::clone(&issuer), place),
                issuer,
                algorithms: algorithms.to_vec(),
            })
        }
        VerifierKind::Introspection(fetch, asker, endpoint) => {
            if let Some(url) = &endpoint {
                Canonical::secure(url)?;
            }
            Box::new(Introspector::new(issuer_by(fetch)?, asker, endpoint))
        }
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
