//! `server-card.json`, which describes a hosted server to clients before they connect.

use pintle::model::JsonObject;
use serde_json::{Value, json};

use super::facts::Facts;

/// The schema of the file.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/// The members that a card and server.json have in common. A card has no packages.
const SHARED: [&str; 8] = [
    "name",
    "version",
    "description",
    "title",
    "websiteUrl",
    "repository",
    "icons",
    "remotes",
];

/// Maximum length of a title, in characters.
const TITLE_CHARS: usize = 100;

/// Returns the bytes of server-card.json; `None` for a server without a URL.
pub(super) fn server_card(facts: &Facts, server_json: &JsonObject) -> Option<Vec<u8>> {
    server_json.get("remotes")?;
    let mut card = JsonObject::new();
    card.insert("$schema".to_owned(), json!(SCHEMA));
    for member in SHARED {
        if let Some(value) = server_json.get(member) {
            card.insert(member.to_owned(), value.clone());
        }
    }
    let title = facts.offered.title.as_ref();
    let title = title.filter(|title| (1..=TITLE_CHARS).contains(&title.chars().count()));
    if let (None, Some(title)) = (card.get("title"), title) {
        card.insert("title".to_owned(), json!(title));
    }
    Some(format!("{:#}\n", Value::Object(card)).into_bytes())
}
