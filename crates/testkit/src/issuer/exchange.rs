//! The token endpoint for codes, refresh tokens and clients themselves, and introspection.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use super::authorize::Code;
use super::keys::Signature;
use super::proof::proven;
use super::token::{claims, now, text};
use super::{IssuerResponse, RecordedRequest, State, random_name};

/// Lifetime of a token, in seconds.
const LIFE: u64 = 300;

/// The grant that a refresh token stands for.
#[derive(Debug, Clone)]
pub(super) struct Refresh {
    holding: Holding,
    /// All tokens of one consent have the same family.
    family: String,
    is_used: bool,
}

/// The rights that a client has been granted.
#[derive(Debug, Clone)]
struct Holding {
    client: String,
    subject: String,
    resource: Option<String>,
    scope: Option<String>,
    /// The thumbprint of the key that its tokens are bound to.
    key: Option<String>,
}

impl State {
    /// The token endpoint: RFC 6749, sections 4.1.3, 4.4 and 6; RFC 8628, section 3.4.
    pub(super) fn exchange(&mut self, issuer: &str, asked: &RecordedRequest) -> IssuerResponse {
        let Some(client) = self.authenticated(asked) else {
            return IssuerResponse::error(401, "invalid_client");
        };
        let key = match asked.header("dpop") {
            Some(proof) => match proven(proof, &format!("{issuer}/token")) {
                Some(key) => Some(key),
                None => return IssuerResponse::error(400, "invalid_dpop_proof"),
            },
            None => None,
        };
        if let Some(status) = self.broken_poll(asked) {
            return IssuerResponse::bare(status);
        }
        let given = match asked.parameter("grant_type") {
            Some("authorization_code") => self.by_code(&client, asked),
            Some("refresh_token") => self.by_refresh(&client, asked),
            Some("urn:ietf:params:oauth:grant-type:device_code") => self.for_device(client, asked),
            Some("client_credentials") => Ok((by_itself(client, asked), None)),
            _ => Err("unsupported_grant_type"),
        };
        match given {
            // A grant that is bound to a key stays bound: a proof of another key is rejected.
            Ok((holding, _)) if holding.key.is_some() && holding.key != key => {
                IssuerResponse::error(400, "invalid_grant")
            }
            Ok((holding, family)) => self.give(issuer, Holding { key, ..holding }, family),
            Err(code) => IssuerResponse::error(400, code),
        }
    }

    fn by_code(
        &mut self,
        client: &str,
        asked: &RecordedRequest,
    ) -> Result<(Holding, Option<String>), &'static str> {
        let code = asked.parameter("code").unwrap_or_default();
        let given = self.codes.remove(code).ok_or("invalid_grant")?;
        let verifier = asked.parameter("code_verifier").unwrap_or_default();
        let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        let redirect = asked.parameter("redirect_uri").unwrap_or(&given.redirect);
        if given.client != client || given.challenge != hash || given.redirect != redirect {
            return Err("invalid_grant");
        }
        let Code {
            client,
            resource,
            scope,
            subject,
            ..
        } = given;
        let named = asked.parameter("resource").map(str::to_owned);
        if named.is_some() && resource.is_some() && named != resource {
            return Err("invalid_target");
        }
        let holding = Holding {
            client,
            subject,
            resource: named.or(resource),
            scope,
            key: None,
        };
        Ok((holding, Some(random_name())))
    }

    fn for_device(
        &mut self,
        client: String,
        asked: &RecordedRequest,
    ) -> Result<(Holding, Option<String>), &'static str> {
        let granted = self.by_device(&client, asked)?;
        let holding = Holding {
            client,
            subject: granted.subject,
            resource: granted.resource,
            scope: granted.scope,
            key: None,
        };
        Ok((holding, Some(random_name())))
    }

    /// Accepts a refresh token once. A second use revokes the whole family, because either the client
    /// or a thief has a stolen token.
    fn by_refresh(
        &mut self,
        client: &str,
        asked: &RecordedRequest,
    ) -> Result<(Holding, Option<String>), &'static str> {
        let token = asked.parameter("refresh_token").unwrap_or_default();
        let refresh_token = self.refreshes.get_mut(token).ok_or("invalid_grant")?;
        if refresh_token.holding.client != client {
            return Err("invalid_grant");
        }
        let family = refresh_token.family.clone();
        if std::mem::replace(&mut refresh_token.is_used, true) {
            self.reuses += 1;
            self.refreshes.retain(|_, other| other.family != family);
            return Err("invalid_grant");
        }
        Ok((refresh_token.holding.clone(), Some(family)))
    }

    fn give(&mut self, issuer: &str, holding: Holding, family: Option<String>) -> IssuerResponse {
        let mut answer = json!({
            "access_token": self.token(issuer, &holding),
            "token_type": if holding.key.is_some() { "DPoP" } else { "Bearer" },
            "expires_in": LIFE,
        });
        if let Some(scope) = &holding.scope {
            answer["scope"] = json!(scope);
        }
        if let Some(family) = family {
            let refresh = random_name();
            answer["refresh_token"] = json!(refresh);
            let is_used = false;
            let given = Refresh {
                holding,
                family,
                is_used,
            };
            self.refreshes.insert(refresh, given);
        }
        IssuerResponse::json(200, &answer)
    }

    fn token(&mut self, issuer: &str, holding: &Holding) -> String {
        let keys = self.keys.newest();
        let mut claims = Map::new();
        let mut put = |name: &str, value: Value| claims.insert(name.to_owned(), value);
        put("iss", json!(issuer));
        put("sub", json!(holding.subject));
        put("client_id", json!(holding.client));
        put("aud", json!(holding.resource.as_deref().unwrap_or(issuer)));
        put("iat", json!(now()));
        put("exp", json!(now() + LIFE));
        put("jti", json!(random_name()));
        if let Some(scope) = &holding.scope {
            put("scope", json!(scope));
        }
        if let Some(key) = &holding.key {
            put("cnf", json!({ "jkt": key }));
        }
        let mut header = Map::new();
        header.insert("alg".into(), json!(Signature::Es256.name()));
        header.insert("typ".into(), json!("at+jwt"));
        header.insert("kid".into(), json!(keys.id(Signature::Es256)));
        let text = text(&header, &claims);
        let signed = keys.sign(Signature::Es256, &text);
        let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signed));
        self.issued.insert(token.clone());
        token
    }

    /// Introspection of a token that this issuer signed: RFC 7662.
    pub(super) fn introspect(&self, asked: &RecordedRequest) -> IssuerResponse {
        if self.authenticated(asked).is_none() {
            return IssuerResponse::error(401, "invalid_client");
        }
        let token = asked.parameter("token").unwrap_or_default();
        let is_active = |claims: &Map<String, Value>| {
            let end = claims.get("exp").and_then(Value::as_u64);
            end.is_some_and(|end| end > now()) && self.issued.contains(token)
        };
        match claims(token).filter(is_active) {
            Some(mut claims) => {
                claims.insert("active".into(), json!(true));
                IssuerResponse::json(200, &Value::Object(claims))
            }
            None => IssuerResponse::json(200, &json!({ "active": false })),
        }
    }

    /// Revokes a token: RFC 7009.
    pub(super) fn forget(&mut self, asked: &RecordedRequest) -> IssuerResponse {
        if self.authenticated(asked).is_none() {
            return IssuerResponse::error(401, "invalid_client");
        }
        let token = asked.parameter("token").unwrap_or_default().to_owned();
        self.refreshes.remove(&token);
        self.issued.remove(&token);
        IssuerResponse::bare(200)
    }
}

fn by_itself(client: String, asked: &RecordedRequest) -> Holding {
    Holding {
        subject: client.clone(),
        client,
        resource: asked.parameter("resource").map(str::to_owned),
        scope: asked.parameter("scope").map(str::to_owned),
        key: None,
    }
}
