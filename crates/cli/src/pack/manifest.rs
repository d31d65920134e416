//! The manifest of an MCPB bundle, version 0.3.

use pintle::model::JsonObject;
use serde_json::{Value, json};

use super::error::PackError;
use super::facts::{Facts, OfferedPrompt};
use super::target::Target;
use super::{PackOptions, is_secret};

/// Version of the format of the manifest.
const FORMAT: &str = "0.3";

/// Returns the manifest of the bundle for a target.
///
/// # Errors
///
/// [`PackError::Missing`] without an author, which the format requires.
pub(super) fn manifest(
    facts: &Facts,
    options: &PackOptions,
    target: &Target,
) -> Result<Value, PackError> {
    let missing = PackError::Missing {
        what: "author",
        option: "--author",
    };
    let author = facts.author.as_deref().ok_or(missing)?;
    let mut manifest = json!({
        "manifest_version": FORMAT,
        "name": facts.program,
        "version": facts.version,
        "description": facts.description,
        "author": person(author),
        "server": server(facts, options, target),
        "compatibility": { "platforms": [target.platform] },
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            manifest[key] = value;
        }
    };
    let offered = &facts.offered;
    add(
        "display_name",
        offered.title.as_ref().map(|title| json!(title)),
    );
    let repository = facts.repository.as_ref();
    add(
        "repository",
        repository.map(|url| json!({ "type": "git", "url": url })),
    );
    add("homepage", facts.homepage.as_ref().map(|url| json!(url)));
    add(
        "license",
        facts.license.as_ref().map(|license| json!(license)),
    );
    add("keywords", filled(json!(facts.keywords)));
    let tools = offered
        .tools
        .iter()
        .map(|(name, about)| described(name, about));
    add("tools", filled(tools.collect()));
    let prompts: Vec<_> = offered.prompts.iter().filter_map(prompt).collect();
    let is_generated = prompts.len() < offered.prompts.len();
    add("prompts", filled(Value::Array(prompts)));
    add("prompts_generated", is_generated.then(|| json!(true)));
    add("user_config", settings(options));
    Ok(manifest)
}

fn server(facts: &Facts, options: &PackOptions, target: &Target) -> Value {
    let entry_point = target.entry_point(&facts.program);
    let env = options.settings.iter().map(|name| {
        let value = format!("${{user_config.{}}}", setting_key(name));
        (name.clone(), Value::from(value))
    });
    json!({
        "type": "binary",
        "entry_point": entry_point,
        "mcp_config": {
            "command": format!("${{__dirname}}/{entry_point}"),
            "args": options.arguments,
            "env": env.collect::<JsonObject>(),
        },
    })
}

fn settings(options: &PackOptions) -> Option<Value> {
    let settings = options.settings.iter().map(|name| {
        let setting = json!({
            "type": "string",
            "title": name,
            "description": format!("The variable {name} of the server"),
            "sensitive": is_secret(name),
            "required": true,
        });
        (setting_key(name), setting)
    });
    let settings: JsonObject = settings.collect();
    (!settings.is_empty()).then_some(Value::Object(settings))
}

fn setting_key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Returns the name of a person with the address that may follow it in angle brackets.
fn person(text: &str) -> Value {
    match text.split_once('<') {
        Some((name, rest)) if !name.trim().is_empty() => {
            let address = rest.trim_end().trim_end_matches('>');
            json!({ "name": name.trim(), "email": address })
        }
        _ => json!({ "name": text.trim() }),
    }
}

fn described(name: &str, description: &Option<String>) -> Value {
    match description {
        Some(description) => json!({ "name": name, "description": description }),
        None => json!({ "name": name }),
    }
}

/// Returns a prompt for the manifest; `None` without its text, which the format requires.
fn prompt(prompt: &OfferedPrompt) -> Option<Value> {
    let mut value = described(&prompt.name, &prompt.description);
    value["text"] = json!(prompt.text.as_ref()?);
    if !prompt.arguments.is_empty() {
        value["arguments"] = json!(prompt.arguments);
    }
    Some(value)
}

fn filled(list: Value) -> Option<Value> {
    let is_filled = list.as_array().is_some_and(|items| !items.is_empty());
    is_filled.then_some(list)
}
