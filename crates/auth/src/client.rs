//! Who a client is to authorization servers.

mod document;

use std::sync::Arc;
use std::time::SystemTime;

use crate::key::SigningKey;
use crate::scope::Scopes;
use crate::secret::Secret;

/// Authentication of a client at the authorization server.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// No authentication: a public client.
    #[default]
    None,
    /// With a secret that the authorization server stores, too.
    Secret(Secret),
    /// With assertions that a key signs.
    Key(Arc<SigningKey>),
}

/// Registration of a client at one authorization server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientRegistration {
    /// OAuth client id.
    pub id: String,
    /// Authentication of the client.
    pub proof: ClientAuthentication,
    /// Client authentication method of the registration, if it is known.
    pub method: Option<String>,
    /// Redirect URI of the registration, if it is known.
    pub redirect: Option<String>,
    /// Expiry time of the secret, if the server sent one.
    pub ends: Option<SystemTime>,
}

impl ClientRegistration {
    /// Creates a public client, without authentication.
    pub fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            proof: ClientAuthentication::None,
            method: None,
            redirect: None,
            ends: None,
        }
    }

    /// Creates a client with a secret.
    pub fn with_secret(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self {
            proof: ClientAuthentication::Secret(secret.into()),
            ..Self::public(id)
        }
    }

    /// A client with a key.
    pub fn with_key(id: impl Into<String>, key: SigningKey) -> Self {
        Self {
            proof: ClientAuthentication::Key(Arc::new(key)),
            ..Self::public(id)
        }
    }

    /// Whether its secret is good no more.
    pub(crate) fn has_ended(&self, now: SystemTime) -> bool {
        self.ends.is_some_and(|end| now >= end)
    }
}

/// Application type in a registration: a local program or a web application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplicationType {
    /// A program: the browser redirects to this machine.
    #[default]
    Native,
    /// A web application: the browser redirects to an https URL.
    Web,
}

/// Grant flow by which the client gets tokens.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum GrantFlow {
    /// A user signs in with a browser.
    #[default]
    AuthorizationCode,
    /// A user enters a code at a page of the authorization server, on any device.
    ///
    /// Spec: RFC 8628.
    Device,
    /// The client gets tokens for itself, with its own secret or key.
    ///
    /// Spec: the extension `io.modelcontextprotocol/oauth-client-credentials`.
    ClientCredentials,
    /// An identity provider of an enterprise issues an assertion for its signed-in user.
    ///
    /// Spec: the extension `io.modelcontextprotocol/enterprise-managed-authorization`.
    Enterprise(EnterpriseManaged),
    /// A platform issues an assertion for the workload that runs the client.
    ///
    /// Spec: SEP-1933 (draft).
    WorkloadIdentity,
}

impl GrantFlow {
    /// Returns the protocol extension of the flow. A client declares it among its capabilities.
    pub fn extension(&self) -> Option<&'static str> {
        match self {
            Self::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Self::Enterprise(_) => Some("io.modelcontextprotocol/enterprise-managed-authorization"),
            Self::AuthorizationCode | Self::Device | Self::WorkloadIdentity => None,
        }
    }

    /// Returns true if a user signs in.
    pub(crate) fn needs_user(&self) -> bool {
        matches!(self, Self::AuthorizationCode | Self::Device)
    }
}

/// Identity provider of an enterprise, and the registration of the client there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EnterpriseManaged {
    /// URL of the token endpoint of the identity provider.
    pub token_endpoint: String,
    /// Registration of the client at the identity provider.
    pub client: ClientRegistration,
    /// Issuer identifier of the identity provider: the audience of the client's assertions.
    pub issuer: String,
}

impl EnterpriseManaged {
    /// An identity provider.
    pub fn new(
        issuer: impl Into<String>,
        token_endpoint: impl Into<String>,
        client: ClientRegistration,
    ) -> Self {
        Self {
            token_endpoint: token_endpoint.into(),
            client,
            issuer: issuer.into(),
        }
    }
}

/// Client metadata for authorization servers, and the sources of the client id.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Display name on the consent page.
    pub name: String,
    /// URL of the client metadata document. It is the client id at servers that support this.
    ///
    /// Spec: draft-ietf-oauth-client-id-metadata-document.
    pub document: Option<String>,
    /// Configured registrations, each for one issuer or for every issuer (`None`).
    pub registered: Vec<(Option<String>, ClientRegistration)>,
    /// Whether the client may use dynamic registration; default true.
    pub dynamic_registration: bool,
    /// Application type of the client.
    pub application: ApplicationType,
    /// Grant flow of the client.
    pub grant_flow: GrantFlow,
    /// Scopes to request instead of those that the server names.
    pub scopes: Option<Scopes>,
    /// Whether a server without protected-resource metadata is assumed to be one of 2025-03-26,
    /// which is its own authorization server; default true.
    pub assume_legacy_metadata: bool,
}

impl ClientConfig {
    /// Creates the configuration of a program of this name, whose users sign in.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            document: None,
            registered: Vec::new(),
            dynamic_registration: true,
            application: ApplicationType::default(),
            grant_flow: GrantFlow::default(),
            scopes: None,
            assume_legacy_metadata: true,
        }
    }

    /// Returns true if this client may use the stored tokens of this issuer and client id. Two
    /// clients may share a store, but not their tokens.
    pub(crate) fn may_be(&self, issuer: &str, id: &str) -> bool {
        let is_there = |own: &Option<String>| own.as_ref().is_none_or(|own| own == issuer);
        let mut registrations = self.registered.iter().filter(|(own, _)| is_there(own));
        match registrations.next() {
            Some((_, first)) => first.id == id || registrations.any(|(_, own)| own.id == id),
            // A workload has no registration, so its client id is empty.
            None => matches!(self.grant_flow, GrantFlow::WorkloadIdentity) == id.is_empty(),
        }
    }

    /// Sets the URL of the client metadata document. It must be `https` and have a path. Its content
    /// is the text of [`document_text`](Self::document_text).
    #[must_use]
    pub fn with_document(mut self, url: impl Into<String>) -> Self {
        self.document = Some(url.into());
        self
    }

    /// Adds a registration at one issuer, or at every issuer (`None`).
    #[must_use]
    pub fn registered_at(mut self, issuer: Option<&str>, client: ClientRegistration) -> Self {
        self.registered.push((issuer.map(str::to_owned), client));
        self
    }

    /// Sets the grant flow.
    #[must_use]
    pub fn with_grant_flow(mut self, grant_flow: GrantFlow) -> Self {
        self.grant_flow = grant_flow;
        self
    }

    /// Sets the scopes to request instead of those that the server names.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }
}
