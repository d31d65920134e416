//! A state per user: the principal of the token is the key. It works for clients of every revision, because it needs no
//! session.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::Router;
use pintle::auth::Secret;
use pintle::auth::resource::{RequireBearer, TokenError, TokenVerifier, VerifiedToken};
use pintle::prelude::*;

/// The URL of the server for clients.
const HERE: &str = "http://127.0.0.1:8000/mcp";
/// The issuer of the keys.
const ISSUER: &str = "http://127.0.0.1:8000/keys";
/// Maximum number of users with a list.
const MAX_USERS: usize = 10_000;
/// Maximum number of items in a list.
const MAX_ITEMS: usize = 100;

/// The lists of all users, by [`Principal::id`], which is unique across issuers.
#[derive(Default)]
struct Lists {
    by_user: Mutex<HashMap<String, Vec<String>>>,
}

/// Adds an item to the list of the caller, and returns the list.
#[tool]
async fn add(
    #[arg(max_len = 200)] item: String,
    caller: Principal,
    lists: State<Lists>,
) -> Result<Json<Vec<String>>> {
    let mut lists = lists.by_user.lock().expect("no holder panics");
    if !lists.contains_key(caller.id()) && lists.len() >= MAX_USERS {
        return Err("the server has lists of too many users".into());
    }
    let list = lists.entry(caller.id().to_owned()).or_default();
    if list.len() >= MAX_ITEMS {
        return Err(format!("the list has {MAX_ITEMS} items; clear it first").into());
    }
    list.push(item);
    Ok(Json(list.clone()))
}

/// Clears the list of the caller.
#[tool(destructive, idempotent)]
async fn clear(caller: Principal, lists: State<Lists>) -> &'static str {
    lists
        .by_user
        .lock()
        .expect("no holder panics")
        .remove(caller.id());
    "cleared"
}

/// Accepts `key-of-NAME` as the token of NAME. A real server verifies the tokens of an issuer.
struct Keys;

impl TokenVerifier for Keys {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        let known = ["ada", "bob"].map(|name| (name, format!("key-of-{name}")));
        let known = known.iter().find(|(_, key)| token.is(key));
        let (name, _) = known.ok_or(TokenError::invalid("the key is unknown"))?;
        let mut verified = VerifiedToken::new(ISSUER, name);
        verified.audiences.push(HERE.into());
        Ok(verified)
    }
}

fn app() -> pintle::Result<Router> {
    let guard = RequireBearer::verifier(ISSUER, Keys)
        .audience(HERE)
        .build()?;
    let endpoint = Server::new("lists", env!("CARGO_PKG_VERSION"))
        .state(Lists::default())
        .tools::<(add, clear)>()
        .into_http()?;
    Ok(Router::new().route_service("/mcp", endpoint).layer(guard))
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, app()?).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use pintle_examples::{post, text};
    use serde_json::{Value, json};
    use tower_service::Service as _;

    use super::{MAX_ITEMS, app};

    async fn call(
        app: &mut Router,
        name: &str,
        tool: &str,
        arguments: Value,
    ) -> pintle::Result<String> {
        let mut request = post(tool, arguments)?;
        let token = format!("Bearer key-of-{name}").parse()?;
        request.headers_mut().insert("authorization", token);
        let answer: Value =
            serde_json::from_str(&text(app.call(request).await?.into_body()).await?)?;
        let text = answer["result"]["content"][0]["text"].as_str();
        Ok(text.map_or_else(|| answer.to_string(), str::to_owned))
    }

    #[tokio::test]
    async fn each_user_has_a_list() -> pintle::Result<()> {
        let mut app = app()?;
        call(&mut app, "ada", "add", json!({ "item": "rope" })).await?;
        let bob = call(&mut app, "bob", "add", json!({ "item": "tar" })).await?;
        assert_eq!(serde_json::from_str::<Value>(&bob)?, json!(["tar"]));
        let ada = call(&mut app, "ada", "add", json!({ "item": "oars" })).await?;
        assert_eq!(
            serde_json::from_str::<Value>(&ada)?,
            json!(["rope", "oars"])
        );
        call(&mut app, "bob", "clear", json!({})).await?;
        let ada = call(&mut app, "ada", "add", json!({ "item": "sail" })).await?;
        assert!(
            ada.contains("rope"),
            "the list of ada is not cleared: {ada}"
        );
        Ok(())
    }

    #[tokio::test]
    async fn a_list_has_a_limit() -> pintle::Result<()> {
        let mut app = app()?;
        for _ in 0..MAX_ITEMS {
            call(&mut app, "ada", "add", json!({ "item": "rope" })).await?;
        }
        let refused = call(&mut app, "ada", "add", json!({ "item": "rope" })).await?;
        assert!(refused.contains("clear it first"), "{refused}");
        Ok(())
    }
}
