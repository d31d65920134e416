//! Declared capabilities, and methods that belong to them.

use pintle_model::Feature;
use serde_json::{Value, json};

use super::{LEGACY, LEGACY_11, MODERN, run, without_fault};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, observed, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value::{self, Fault};

/// Those before the capability of completions.
const COMPLETIONS: &[Feature] = &[Feature::Handshake, Feature::CompletionsCapability];
/// Those in which a client must use negotiated capabilities only.
const NEGOTIATED: &[Feature] = &[Feature::Handshake, Feature::RevisionHeader];

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "capabilities-shape",
        "Capabilities are objects, and their switches are booleans.",
        "Lifecycle: Capability negotiation",
        &[must(LEGACY, &["LIFE-14"]), must(MODERN, &["N-DISC-02"])],
        run!(shape),
    ),
    Check::new(
        "extensions-shape",
        "Extensions are a map from ids with a prefix to objects.",
        "Extensions: Negotiation",
        &[must(MODERN, &["N-EXT-01", "N-EXT-02", "N-EXT-03"])],
        run!(extensions),
    ),
    Check::new(
        "implementation-shape",
        "The identity of the server has texts and valid icons.",
        "Base protocol: Icons",
        &[
            must(LEGACY_11, &["ICON-01", "ICON-02"]),
            must(MODERN, &["N-ICON-05"]),
        ],
        run!(implementation),
    ),
    Check::new(
        "tools-declared",
        "A server with tools declares `tools`.",
        "Tools: Capabilities",
        &[
            must(LEGACY, &["TOOL-02"]),
            must(MODERN, &["N-TOOL-01", "N-DISC-06"]),
        ],
        run!(tools),
    ),
    Check::new(
        "resources-declared",
        "A server with resources declares `resources`.",
        "Resources: Capabilities",
        &[
            must(LEGACY, &["RES-01"]),
            must(MODERN, &["N-RSRC-01", "N-DISC-06"]),
        ],
        run!(resources),
    ),
    Check::new(
        "prompts-declared",
        "A server with prompts declares `prompts`.",
        "Prompts: Capabilities",
        &[
            must(LEGACY, &["PROM-01"]),
            must(MODERN, &["N-PROMPT-01", "N-DISC-06"]),
        ],
        run!(prompts),
    ),
    Check::new(
        "completions-declared",
        "A server that completes arguments declares `completions`.",
        "Completion: Capabilities",
        &[
            must(COMPLETIONS, &["COMP-01"]),
            must(MODERN, &["N-COMP-01", "N-DISC-06"]),
        ],
        run!(completions),
    ),
    Check::new(
        "undeclared-method",
        "A method of a capability that is not declared is answered with error -32601.",
        "Lifecycle: Operation",
        &[
            should(NEGOTIATED, &["LIFE-17"]),
            must(MODERN, &["N-EXT-14"]),
        ],
        run!(undeclared),
    ),
];

async fn shape(peer: &mut Peer) -> Judgement {
    let capabilities = peer.survey.opening.get("capabilities");
    let capabilities = capabilities.and_then(Value::as_object);
    let mut fault = None;
    for (name, capability) in capabilities.into_iter().flatten() {
        fault = fault.or_else(|| {
            let is_map = matches!(name.as_str(), "experimental" | "extensions");
            match capability.is_object() {
                false => Some(format!("`{name}` is not an object: {}", shown(capability))),
                true if is_map => values_are_objects(name, capability),
                true => value::optional_bool(capability, "listChanged")
                    .or_else(|| value::optional_bool(capability, "subscribe"))
                    .map(|fault| format!("in `{name}` {fault}")),
            }
        });
    }
    without_fault("the opening", fault)
}

fn values_are_objects(name: &str, map: &Value) -> Fault {
    let mut entries = map.as_object()?.iter();
    let (key, value) = entries.find(|(_, value)| !value.is_object())?;
    Some(format!(
        "`{key}` in `{name}` is not an object: {}",
        shown(value)
    ))
}

async fn extensions(peer: &mut Peer) -> Judgement {
    let survey = std::sync::Arc::clone(&peer.survey);
    let Some(map) = survey.capability("extensions") else {
        return Err(skipped("the server declares no extensions"));
    };
    let Some(entries) = map.as_object() else {
        return Err(observed(shown(map)));
    };
    let odd = entries
        .keys()
        .find(|id| !super::content::is_prefixed_key(id));
    let fault = odd.map(|id| format!("the id {id:?} has no valid prefix"));
    let fault = fault.or_else(|| values_are_objects("extensions", map));
    without_fault("server/discover", fault)
}

async fn implementation(peer: &mut Peer) -> Judgement {
    let opening = &peer.survey.opening;
    let meta = opening.get("_meta");
    let info = opening.get("serverInfo");
    let info = info.or_else(|| meta?.get("io.modelcontextprotocol/serverInfo"));
    let Some(info) = info else {
        return Err(skipped("the server does not state its identity"));
    };
    if info.get("icons").is_none() {
        return Err(skipped("the identity has no icons"));
    }
    let texts = ["title", "description", "websiteUrl"].into_iter();
    let fault = texts
        .filter_map(|name| value::optional_text(info, name))
        .next();
    without_fault("the opening", fault.or_else(|| super::content::icons(info)))
}

/// Fails if a list has entries although its capability is not declared.
async fn declared(peer: &mut Peer, capability: &str, method: &str, member: &str) -> Judgement {
    if peer.survey.capability(capability).is_some() {
        return Ok(());
    }
    let answer = peer.ask(method, Value::Null).await?;
    let entries = answer
        .response
        .pointer("/result")
        .and_then(|result| result.get(member));
    match entries.and_then(Value::as_array) {
        Some(entries) if !entries.is_empty() => Err(observed(shown(&answer.response))),
        _ => Ok(()),
    }
}

async fn tools(peer: &mut Peer) -> Judgement {
    declared(peer, "tools", "tools/list", "tools").await
}

async fn resources(peer: &mut Peer) -> Judgement {
    declared(peer, "resources", "resources/list", "resources").await
}

async fn prompts(peer: &mut Peer) -> Judgement {
    declared(peer, "prompts", "prompts/list", "prompts").await
}

async fn completions(peer: &mut Peer) -> Judgement {
    if peer.survey.capability("completions").is_some() {
        return Ok(());
    }
    let survey = std::sync::Arc::clone(&peer.survey);
    let Some((prompt, argument)) = super::completion::first_argument(&survey) else {
        return Err(skipped("no prompt has an argument"));
    };
    let params = json!({ "ref": { "type": "ref/prompt", "name": prompt },
        "argument": { "name": argument, "value": "" } });
    let answer = peer.ask("completion/complete", params).await?;
    let values = answer.response.pointer("/result/completion/values");
    match values.and_then(Value::as_array) {
        Some(values) if !values.is_empty() => Err(observed(shown(&answer.response))),
        _ => Ok(()),
    }
}

async fn undeclared(peer: &mut Peer) -> Judgement {
    let methods = [
        ("tools", "tools/list", json!({})),
        ("resources", "resources/list", json!({})),
        ("prompts", "prompts/list", json!({})),
        ("logging", "logging/setLevel", json!({ "level": "info" })),
    ];
    let mut was_asked = false;
    for (capability, method, params) in methods {
        let is_known = !(peer.is_modern() && capability == "logging");
        if is_known && peer.survey.capability(capability).is_none() {
            was_asked = true;
            peer.ask(method, params).await?.has_code(&[-32601])?;
        }
    }
    match was_asked {
        true => Ok(()),
        false => Err(skipped("every capability is declared")),
    }
}
