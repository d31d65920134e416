//! Requests for lists, and subscriptions.

use pintle_model::method::{
    ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools, Method,
};

use super::{Answered, done};
use crate::asked::{Asked, missing};
use crate::backend::Backend;
use crate::object::Object;

/// Lists everything of a kind. The items are the texts that the server sent.
pub(super) async fn list(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let session = backend.session()?;
    let method = match asked.text("kind")?.as_str() {
        "tools" => ListTools::NAME,
        "resources" => ListResources::NAME,
        "templates" => ListResourceTemplates::NAME,
        "prompts" => ListPrompts::NAME,
        "tasks" => ListTasks::NAME,
        _ => return Err(missing("kind")),
    };
    let list = session.client.list_raw(method);
    let list = list.ok_or_else(|| missing("kind"))?.await?;
    let mut items = list.items.iter().map(|item| item.get().into());
    let mut invalid = list.spoiled.iter().map(|item| {
        let mut shown = Object::new();
        shown.optional("name", item.name.as_deref());
        shown.text("reason", &item.reason).end()
    });
    let mut listed = Object::new();
    listed.objects("items", &mut items);
    Ok(listed.objects("invalid", &mut invalid).end())
}

pub(super) async fn subscribe(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _permit = backend.admit()?;
    let max = backend.options.max_subscriptions;
    let uri = asked.text("uri")?;
    backend.session()?.subscribe(&uri, max).await?;
    Ok(done())
}

pub(super) fn unsubscribe(backend: &Backend, asked: &Asked<'_>) -> Answered {
    backend.session()?.unsubscribe(&asked.text("uri")?);
    Ok(done())
}
