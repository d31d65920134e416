//! Stored tokens and registrations as JSON texts.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::client::{ClientAuthentication, ClientConfig, ClientRegistration};
use crate::flow::{DpopKey, IssuedTokens, TokenResponse};
use crate::scope::Scopes;
use crate::secret::Secret;

/// Issued tokens, to be stored. There is no `Debug`: all of it is secret.
#[derive(Serialize, Deserialize)]
pub(crate) struct TokensRecord {
    issuer: String,
    resource: String,
    token_endpoint: String,
    client: ClientRecord,
    requested: String,
    dpop: Option<String>,
    access: String,
    refresh: Option<String>,
    scopes: Option<String>,
    /// In seconds since 1970.
    expires: Option<u64>,
    /// Lifetime in seconds.
    #[serde(default)]
    lifetime: Option<u64>,
    is_bound: bool,
}

#[derive(Serialize, Deserialize, Clone)]
struct ClientRecord {
    id: String,
    secret: Option<String>,
    method: Option<String>,
    redirect: Option<String>,
    /// In seconds since 1970.
    #[serde(default)]
    ends: Option<u64>,
}

impl ClientRecord {
    fn of(client: &ClientRegistration) -> Self {
        let secret = match &client.proof {
            ClientAuthentication::Secret(secret) => Some(secret.reveal().clone()),
            _ => None,
        };
        Self {
            id: client.id.clone(),
            secret,
            method: client.method.clone(),
            redirect: client.redirect.clone(),
            ends: client.ends.map(seconds),
        }
    }

    fn into_client(self) -> ClientRegistration {
        let proof = self.secret.map_or(ClientAuthentication::None, |secret| {
            ClientAuthentication::Secret(secret.into())
        });
        ClientRegistration {
            id: self.id,
            proof,
            method: self.method,
            redirect: self.redirect,
            ends: self.ends.and_then(time_of),
        }
    }
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

fn time_of(seconds: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

impl TokensRecord {
    /// The text of issued tokens.
    pub(crate) fn write(issued: &IssuedTokens) -> Secret {
        let tokens = &issued.tokens;
        let record = Self {
            issuer: issued.issuer.clone(),
            resource: issued.resource.clone(),
            token_endpoint: issued.token_endpoint.clone(),
            client: ClientRecord::of(&issued.client),
            requested: issued.requested.to_string(),
            dpop: issued
                .dpop
                .as_ref()
                .map(|key| STANDARD_NO_PAD.encode(key.kept.reveal())),
            access: tokens.access.reveal().clone(),
            refresh: tokens.refresh.as_ref().map(|text| text.reveal().clone()),
            scopes: tokens.scopes.as_ref().map(Scopes::to_string),
            expires: tokens.expires.map(seconds),
            lifetime: tokens.expires_in.map(|life| life.as_secs()),
            is_bound: tokens.is_bound,
        };
        serde_json::to_string(&record).unwrap_or_default().into()
    }

    /// Parses stored tokens. Returns `None` for an unknown format, as for a missing text.
    pub(crate) fn read(text: &Secret, profile: &ClientConfig) -> Option<IssuedTokens> {
        let record: Self = serde_json::from_str(text.reveal()).ok()?;
        let dpop = match record.dpop {
            Some(text) => {
                let kept = STANDARD_NO_PAD.decode(text).ok()?;
                Some(DpopKey::restore(Secret::new(kept)).ok()?)
            }
            None => None,
        };
        let mut client = record.client.into_client();
        // A key is not stored, because the configuration of the client has it.
        let own = profile.registered.iter().find(|(issuer, own)| {
            own.id == client.id && issuer.as_ref().is_none_or(|own| *own == record.issuer)
        });
        if let Some((_, own)) = own {
            // The authentication method is that of the sign-in, unless one is configured.
            let method = own.method.clone().or(client.method);
            client = ClientRegistration {
                method,
                ..own.clone()
            };
        }
        Some(IssuedTokens {
            issuer: record.issuer,
            resource: record.resource,
            token_endpoint: record.token_endpoint,
            client,
            requested: Scopes::parse(&record.requested).ok()?,
            dpop,
            tokens: TokenResponse {
                access: record.access.into(),
                refresh: record.refresh.map(Into::into),
                scopes: record.scopes.and_then(|list| Scopes::parse(&list).ok()),
                expires: record.expires.and_then(time_of),
                expires_in: record.lifetime.map(Duration::from_secs),
                is_bound: record.is_bound,
            },
        })
    }
}

/// Stored registrations by issuer.
#[derive(Default)]
pub(crate) struct Clients(BTreeMap<String, ClientRecord>);

/// How many issuers are remembered.
const ISSUERS: usize = 1_024;
/// Size of all registrations as text, in bytes: half of what a store reads.
const MAX_CLIENTS_BYTES: usize = 512 << 10;

impl Clients {
    pub(crate) fn read(text: Option<&Secret>) -> Self {
        let read = text.and_then(|text| serde_json::from_str(text.reveal()).ok());
        Self(read.unwrap_or_default())
    }

    pub(crate) fn write(&self) -> Secret {
        serde_json::to_string(&self.0).unwrap_or_default().into()
    }

    pub(crate) fn put(&mut self, issuer: &str, client: &ClientRegistration) {
        if self.0.len() >= ISSUERS && !self.0.contains_key(issuer) {
            self.0.pop_first();
        }
        self.0.insert(issuer.to_owned(), ClientRecord::of(client));
        while self.write().reveal().len() > MAX_CLIENTS_BYTES && self.0.len() > 1 {
            let other = self.0.keys().find(|own| *own != issuer).cloned();
            other.and_then(|other| self.0.remove(&other));
        }
    }

    pub(crate) fn forget(&mut self, issuer: &str) {
        self.0.remove(issuer);
    }

    pub(crate) fn into_all(self) -> Vec<(String, ClientRegistration)> {
        let all = self.0.into_iter();
        all.map(|(issuer, record)| (issuer, record.into_client()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A store reads 1 MiB: what one issuer gave must not keep the others' registrations from it.
    #[test]
    fn registrations_stay_below_the_read_limit_of_a_store() {
        let mut clients = Clients::default();
        let most = MAX_CLIENTS_BYTES / (8 << 10);
        for number in 0..most + 2 {
            let issuer = format!("https://as{number:03}.example");
            clients.put(&issuer, &ClientRegistration::public("x".repeat(8 << 10)));
            assert!(clients.0.contains_key(&issuer));
        }
        assert!(clients.write().reveal().len() <= MAX_CLIENTS_BYTES);
        assert!(clients.0.len() > 50, "no more than needed is removed");
    }
}
