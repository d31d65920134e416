//! Sources of the client id at an authorization server.
//!
//! In this order: a configured registration; the URL of the client metadata document; a dynamic
//! registration.
//!
//! Spec: [2025-11-25, Authorization, Client registration approaches][spec]; RFC 7591.
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-registration-approaches

use std::time::{Duration, UNIX_EPOCH};

use pintle_runtime::{FetchError, FetchRequest, FetchResponse, NetworkScope};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{
    ApplicationType, ClientAuthentication, ClientConfig, ClientRegistration, GrantFlow,
};
use crate::error::{AuthError, AuthServerError, EndpointRequest};
use crate::flow::DEVICE_GRANT;
use crate::flow::token::read_refusal;
use crate::metadata::{ServerMetadata, is_too_deep};
use crate::scope::Scopes;

/// Size of an id or a secret of a client, in bytes, because those of all issuers are stored together.
const MAX_CLIENT_BYTES: usize = 8 << 10;

/// Source of the client id at a server.
#[derive(Debug)]
pub(crate) enum RegistrationSource {
    /// A configured client, or the URL of its metadata document.
    As(ClientRegistration),
    /// The client of an earlier registration.
    Kept(ClientRegistration),
    /// The request that registers the client.
    Register(FetchRequest),
}

/// Selects the client id at a server. `kept` is an earlier registration at this issuer.
///
/// # Errors
///
/// [`AuthError::Server`] if the client cannot get an id at this server.
pub(crate) fn client(
    profile: &ClientConfig,
    server: &ServerMetadata,
    kept: Option<&ClientRegistration>,
    redirect: &str,
    scopes: &Scopes,
    network: NetworkScope,
) -> Result<RegistrationSource, AuthError> {
    let lack = |reason| AuthError::Server {
        issuer: server.issuer.as_str().into(),
        reason,
    };
    let is_own = |issuer: &Option<String>| issuer.as_ref().is_none_or(|own| *own == server.issuer);
    let registered = profile.registered.iter().find(|(issuer, _)| is_own(issuer));
    if let Some((_, client)) = registered {
        return Ok(RegistrationSource::As(client.clone()));
    }
    let takes_documents = server.client_id_metadata_document_supported == Some(true);
    if let Some(url) = profile.document.as_ref().filter(|_| takes_documents) {
        return Ok(RegistrationSource::As(ClientRegistration {
            method: Some("none".to_owned()),
            ..ClientRegistration::public(url)
        }));
    }
    // The only configured client is that of another issuer, so none may be registered here.
    if let Some((Some(other), _)) = profile.registered.first() {
        return Err(lack(AuthServerError::OtherIssuer(other.as_str().into())));
    }
    // A client for device codes has no redirect URI.
    if let Some(client) =
        kept.filter(|client| client.redirect.as_deref().unwrap_or_default() == redirect)
    {
        return Ok(RegistrationSource::Kept(client.clone()));
    }
    let Some(endpoint) = server
        .registration_endpoint
        .as_ref()
        .filter(|_| profile.dynamic_registration)
    else {
        return Err(lack(AuthServerError::Registration));
    };
    Ok(RegistrationSource::Register(registration(
        profile, server, endpoint, redirect, scopes, network,
    )))
}

fn registration(
    profile: &ClientConfig,
    server: &ServerMetadata,
    endpoint: &str,
    redirect: &str,
    scopes: &Scopes,
    network: NetworkScope,
) -> FetchRequest {
    let supported = server.token_endpoint_auth_methods_supported.as_deref();
    // A public client cannot protect a secret, so `none` is the preferred method.
    let method = match supported {
        None => "none",
        Some(all) => ["none", "client_secret_basic", "client_secret_post"]
            .into_iter()
            .find(|name| all.iter().any(|own| own == name))
            .unwrap_or("none"),
    };
    let application = match profile.application {
        ApplicationType::Native => "native",
        ApplicationType::Web => "web",
    };
    let mut body = json!({
        "client_name": profile.name,
        "token_endpoint_auth_method": method,
        "application_type": application,
    });
    if matches!(profile.grant_flow, GrantFlow::Device) {
        body["grant_types"] = json!([DEVICE_GRANT, "refresh_token"]);
        body["response_types"] = json!([]);
    } else {
        body["redirect_uris"] = json!([redirect]);
        body["grant_types"] = json!(["authorization_code", "refresh_token"]);
        body["response_types"] = json!(["code"]);
    }
    if !scopes.is_empty() {
        body["scope"] = json!(scopes.to_string());
    }
    let mut request = FetchRequest::post(endpoint, "application/json", body.to_string())
        .header("accept", "application/json");
    request.network = network;
    request
}

/// Response to a registration.
#[derive(Deserialize)]
struct Wire {
    client_id: Option<String>,
    client_secret: Option<String>,
    #[serde(default)]
    client_secret_expires_at: Value,
    token_endpoint_auth_method: Option<String>,
}

impl Wire {
    fn is_too_large(&self) -> bool {
        let texts = [
            &self.client_id,
            &self.client_secret,
            &self.token_endpoint_auth_method,
        ];
        let mut sizes = texts.into_iter().flatten().map(String::len);
        sizes.any(|size| size > MAX_CLIENT_BYTES)
    }
}

/// Reads the response to a registration.
///
/// # Errors
///
/// [`AuthError::RequestFailed`], [`AuthError::Refused`], [`AuthError::InvalidResponse`].
pub(crate) fn read(
    answer: Result<FetchResponse, FetchError>,
    endpoint: &str,
    redirect: &str,
) -> Result<ClientRegistration, AuthError> {
    let what = EndpointRequest::Registration;
    let place: Box<str> = endpoint.split('?').next().unwrap_or_default().into();
    let unusable = |fault: &str| AuthError::InvalidResponse {
        what,
        place: place.clone(),
        fault: fault.into(),
    };
    let answer = answer.map_err(|fault| AuthError::RequestFailed {
        what,
        place: place.clone(),
        fault,
    })?;
    if !(200..300).contains(&answer.status) {
        let refusal = read_refusal(&answer);
        return Err(AuthError::Refused {
            what,
            place,
            refusal,
        });
    }
    if is_too_deep(&answer.body) {
        return Err(unusable("it is nested too deep"));
    }
    let wire: Wire =
        serde_json::from_slice(&answer.body).map_err(|_| unusable("it is not JSON"))?;
    if wire.is_too_large() {
        return Err(unusable(
            "the client has an id or a secret of more than 8 KiB",
        ));
    }
    let id = wire.client_id.filter(|id| !id.is_empty());
    let proof = match wire.client_secret.filter(|secret| !secret.is_empty()) {
        Some(secret) => ClientAuthentication::Secret(secret.into()),
        None => ClientAuthentication::None,
    };
    // 0 is never, as is nothing; a client without a secret has nothing that ends.
    let end = wire.client_secret_expires_at.as_u64().unwrap_or_default();
    let has_end = end > 0 && matches!(proof, ClientAuthentication::Secret(_));
    Ok(ClientRegistration {
        ends: has_end
            .then(|| UNIX_EPOCH.checked_add(Duration::from_secs(end)))
            .flatten(),
        id: id.ok_or_else(|| unusable("it has no \"client_id\""))?,
        proof,
        method: wire.token_endpoint_auth_method,
        redirect: Some(redirect.to_owned()).filter(|redirect| !redirect.is_empty()),
    })
}
