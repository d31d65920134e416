//! Requests for lists, and subscriptions.

use pintle_client::{Item, List};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answered, done};
use crate::backend::Backend;
use crate::failure::Failure;

#[derive(Deserialize)]
pub(super) struct Listed {
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
    Tasks,
}

#[derive(Deserialize)]
pub(super) struct Subscribed {
    uri: String,
}

/// Lists everything of a kind.
pub(super) async fn list(backend: &Backend, asked: Listed) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let client = &session.client;
    match asked.kind {
        Kind::Tools => all(client.list_tools()).await,
        Kind::Resources => all(client.list_resources()).await,
        Kind::Templates => all(client.list_resource_templates()).await,
        Kind::Prompts => all(client.list_prompts()).await,
        Kind::Tasks => all(client.list_tasks()).await,
    }
}

async fn all<T: Item + Serialize>(list: List<T>) -> Answered {
    let list = list.await?;
    let invalid: Vec<Value> = list
        .spoiled
        .iter()
        .map(|item| json!({ "name": item.name, "reason": item.reason }))
        .collect();
    Ok(json!({ "items": list.items, "invalid": invalid }))
}

pub(super) async fn subscribe(backend: &Backend, asked: Subscribed) -> Answered {
    let _permit = backend.admit()?;
    let max = backend.options.max_subscriptions;
    backend.session()?.subscribe(&asked.uri, max).await?;
    Ok(done())
}

pub(super) fn unsubscribe(backend: &Backend, asked: &Subscribed) -> Result<Value, Failure> {
    backend.session()?.unsubscribe(&asked.uri);
    Ok(done())
}
