//! The scenarios `auth/*`: the client's identity in each, and a user who consents to everything.
//!
//! `pintle-auth` does the tested work. This file has only the parts that a program knows from its
//! configuration.

use pintle::Result;
use pintle::auth::{
    Algorithm, AuthError, AuthorizationResponse, ClientConfig, ClientRegistration,
    EnterpriseManaged, GrantFlow, OAuth, SignInRequest, SigningKey,
};
use pintle::http::client::{DocumentClient, EndpointUrl, HttpClientOptions, HttpConnect};
use pintle::runtime::{Fetch, FetchRequest, NetworkScope};
use serde_json::Value;

/// The URL of the client metadata document; the suite knows it.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// No server listens there: the redirect is read from the response.
const REDIRECT: &str = "http://localhost:3000/callback";

/// A connection to the server at `url`, authorized as the scenario requires.
///
/// # Errors
///
/// A scenario whose context lacks a required value.
pub(crate) fn connect(scenario: &str, url: &str, context: &Value) -> Result<HttpConnect> {
    let options = HttpClientOptions::default();
    let documents = DocumentClient::new(&options);
    let user = documents.clone();
    let text = |name: &str| -> Result<String> {
        let value = context.get(name).and_then(Value::as_str);
        Ok(value
            .ok_or_else(|| format!("the scenario does not say {name}"))?
            .to_owned())
    };
    let assertion = match scenario {
        "auth/enterprise-managed-authorization" => text("idp_id_token")?,
        "auth/wif-jwt-bearer" => text("valid_jwt")?,
        _ => String::new(),
    };
    let oauth = OAuth::of(url, profile(scenario, &text)?, documents)?
        .redirect(REDIRECT)
        .on_sign_in(move |visit| agree(user.clone(), visit))
        .on_assertion(move |_| {
            let assertion = assertion.clone();
            async move { Ok(assertion.into()) }
        })
        .build();
    let options = options.authorizer(oauth);
    Ok(HttpConnect::new(EndpointUrl::parse(url)?, &options)?)
}

fn profile(scenario: &str, text: &impl Fn(&str) -> Result<String>) -> Result<ClientConfig> {
    let profile = ClientConfig::new("pintle conformance client").with_document(DOCUMENT);
    let secret = || -> Result<ClientRegistration> {
        Ok(ClientRegistration::with_secret(
            text("client_id")?,
            text("client_secret")?,
        ))
    };
    Ok(match scenario {
        "auth/pre-registration" => {
            let issuer = text("issuer").ok();
            profile.registered_at(issuer.as_deref(), secret()?)
        }
        "auth/client-credentials-basic" => profile
            .with_grant_flow(GrantFlow::ClientCredentials)
            .registered_at(None, secret()?),
        "auth/client-credentials-jwt" => {
            let algorithm = Algorithm::named(&text("signing_algorithm")?)?;
            let key = SigningKey::from_pem(&text("private_key_pem")?, algorithm)?;
            let client = ClientRegistration::with_key(text("client_id")?, key);
            profile
                .with_grant_flow(GrantFlow::ClientCredentials)
                .registered_at(None, client)
        }
        "auth/enterprise-managed-authorization" => {
            let at_idp = ClientRegistration::public(text("idp_client_id")?);
            let idp =
                EnterpriseManaged::new(text("idp_issuer")?, text("idp_token_endpoint")?, at_idp);
            profile
                .with_grant_flow(GrantFlow::Enterprise(idp))
                .registered_at(None, secret()?)
        }
        "auth/wif-jwt-bearer" => {
            let client = ClientRegistration::public(text("client_id")?);
            profile
                .with_grant_flow(GrantFlow::WorkloadIdentity)
                .registered_at(None, client)
        }
        _ => profile,
    })
}

/// A user who consents at once: the page redirects the browser without a question.
async fn agree(
    fetch: DocumentClient,
    visit: SignInRequest,
) -> std::result::Result<Option<AuthorizationResponse>, AuthError> {
    let mut request = FetchRequest::get(visit.url);
    request.network = NetworkScope::Private;
    let answer = fetch.fetch(request).await.ok();
    let location = answer.as_ref().and_then(|answer| answer.single("location"));
    // Without a `location` header the response is empty.
    Ok(Some(AuthorizationResponse::at(
        location.unwrap_or_default(),
    )))
}
