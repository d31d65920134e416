//! The OAuth client that this tool is to authorization servers.

use std::fs;

use pintle::auth::{
    Algorithm, ClientConfig, ClientRegistration, GrantFlow, Scopes, Secret, SigningKey,
    SigningKeyError,
};

use crate::args::UsageError;
use crate::args::{AccessSettings, Proof};
use crate::exit::CliError;

/// The client name on the consent page of an authorization server.
const NAME: &str = "Pintle";

/// Signature algorithms of private keys, in the order of the attempts.
const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::Es256,
    Algorithm::Es384,
    Algorithm::EdDsa,
    Algorithm::Rs256,
];

/// Returns the OAuth client that the settings describe.
///
/// # Errors
///
/// [`UsageError`] for a file without a key, or an invalid scope.
pub(super) fn profile(settings: &AccessSettings) -> Result<ClientConfig, CliError> {
    let mut profile = ClientConfig::new(NAME);
    if let Some(id) = &settings.client {
        let client = match &settings.proof {
            Proof::None => ClientRegistration::public(id),
            Proof::Secret(secret) => ClientRegistration::with_secret(id, secret.clone()),
            Proof::Key(file) => {
                let text: Secret = fs::read_to_string(file)?.into();
                let key = key(&text).map_err(|fault| {
                    UsageError(format!(
                        "invalid private key in {}: {fault}",
                        file.display()
                    ))
                })?;
                ClientRegistration::with_key(id, key)
            }
        };
        profile = profile.registered_at(None, client);
    }
    if settings.is_itself {
        profile = profile.with_grant_flow(GrantFlow::ClientCredentials);
    } else if settings.is_device {
        profile = profile.with_grant_flow(GrantFlow::Device);
    }
    if !settings.scopes.is_empty() {
        let scopes = Scopes::of(settings.scopes.iter().map(String::as_str));
        let scopes = scopes.map_err(|error| UsageError(format!("--scope: {error}")))?;
        profile = profile.with_scopes(scopes);
    }
    Ok(profile)
}

/// Returns the key of a file, with the first algorithm that accepts it.
fn key(pem: &Secret) -> Result<SigningKey, SigningKeyError> {
    let mut fault = SigningKeyError::Form;
    for algorithm in ALGORITHMS {
        match SigningKey::from_pem(pem.reveal(), algorithm) {
            Ok(key) => return Ok(key),
            Err(error) => fault = error,
        }
    }
    Err(fault)
}
