//! Prompts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{LEGACY, LEGACY_11, MODERN, content, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, ensure, observed_after, skipped};
use crate::peer::Peer;
use crate::value::{self, Fault};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "prompt-shape",
        "A prompt has a name, and a list of arguments with names.",
        "Prompts: Data types",
        &[must(LEGACY, &["PROM-04"]), must(MODERN, &["N-PROMPT-02"])],
        run!(shape),
    ),
    Check::new(
        "prompt-names-unique",
        "No two prompts have the same name.",
        "Prompts: Data types",
        &[must(LEGACY, &["PROM-04"])],
        run!(unique),
    ),
    Check::new(
        "prompt-icons",
        "The icons of a prompt have a source and known sizes.",
        "Base protocol: Icons",
        &[
            must(LEGACY_11, &["ICON-01", "ICON-02"]),
            must(MODERN, &["N-ICON-05"]),
        ],
        run!(icons),
    ),
    Check::new(
        "prompt-get",
        "A message of a prompt has a role and one valid content block.",
        "Prompts: Data types",
        &[must(LEGACY, &["PROM-02"]), must(MODERN, &["N-PROMPT-02"])],
        run!(get),
    ),
    Check::new(
        "prompt-image",
        "An image in a prompt is Base64 with a media type.",
        "Prompts: Image content",
        &[must(LEGACY, &["PROM-05"]), must(MODERN, &["N-PROMPT-06"])],
        run!(image),
    ),
    Check::new(
        "prompt-audio",
        "A sound in a prompt is Base64 with a media type.",
        "Prompts: Audio content",
        &[must(LEGACY, &["PROM-06"]), must(MODERN, &["N-PROMPT-06"])],
        run!(audio),
    ),
    Check::new(
        "prompt-resource",
        "A resource in a prompt has a URI, and either a text or Base64.",
        "Prompts: Embedded resources",
        &[must(LEGACY, &["PROM-07"]), must(MODERN, &["N-PROMPT-06"])],
        run!(resource),
    ),
    Check::new(
        "prompt-unknown",
        "An unknown prompt is answered with error -32602.",
        "Prompts: Error handling",
        &[
            should(LEGACY, &["PROM-08"]),
            should(MODERN, &["N-PROMPT-03"]),
        ],
        run!(unknown),
    ),
    Check::new(
        "prompt-argument-missing",
        "A prompt without a required argument is answered with error -32602.",
        "Prompts: Error handling",
        &[
            should(LEGACY, &["PROM-08", "PROM-09"]),
            should(MODERN, &["N-PROMPT-03", "N-PROMPT-07"]),
        ],
        run!(argument_missing),
    ),
    Check::new(
        "prompt-argument-type",
        "An argument of a prompt that is not a text has no result.",
        "Prompts: Security considerations",
        &[robust(LEGACY, &["AMB-64"]), robust(MODERN, &["H-135"])],
        run!(argument_type),
    ),
];

fn each(peer: &Peer, judge: impl Fn(&Value) -> Fault) -> Judgement {
    for prompt in peer.survey.entries("prompts/list")? {
        if let Some(fault) = judge(prompt) {
            let name = prompt
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("(no name)");
            return Err(observed_after(
                "prompts/list",
                format!("prompt {name:?}: {fault}"),
            ));
        }
    }
    Ok(())
}

async fn shape(peer: &mut Peer) -> Judgement {
    each(peer, |prompt| {
        value::text(prompt, "name")
            .or_else(|| value::optional_text(prompt, "title"))
            .or_else(|| value::optional_text(prompt, "description"))
            .or_else(|| {
                prompt
                    .get("arguments")
                    .and_then(|_| value::list(prompt, "arguments"))
            })
            .or_else(|| {
                value::entries(prompt, "arguments").find_map(|argument| {
                    value::text(argument, "name")
                        .or_else(|| value::optional_bool(argument, "required"))
                })
            })
    })
}

async fn unique(peer: &mut Peer) -> Judgement {
    let mut known = BTreeSet::new();
    for prompt in peer.survey.entries("prompts/list")? {
        let name = prompt
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !known.insert(name) {
            return Err(observed_after(
                "prompts/list",
                format!("two prompts are {name:?}"),
            ));
        }
    }
    Ok(())
}

async fn icons(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["prompts/list"], "/icons")?;
    each(peer, content::icons)
}

async fn get(peer: &mut Peer) -> Judgement {
    let mut was_got = false;
    for sample in &peer.survey.prompts {
        let Ok(result) = &sample.outcome else {
            continue;
        };
        if result.get("resultType") == Some(&json!("input_required")) {
            continue;
        }
        was_got = true;
        let fault = value::list(result, "messages")
            .or_else(|| value::entries(result, "messages").find_map(message))
            .or_else(|| value::optional_text(result, "description"));
        if let Some(fault) = fault {
            return Err(observed_after(sample.sent.to_string(), fault));
        }
    }
    match was_got {
        true => Ok(()),
        false => Err(skipped("no prompt was got")),
    }
}

/// Judges the blocks of one type.
fn blocks(peer: &Peer, kind: &str) -> Judgement {
    let results = peer.survey.prompts.iter();
    let results = results.filter_map(|sample| sample.outcome.as_ref().ok());
    let blocks = results.flat_map(|result| {
        value::entries(result, "messages").filter_map(|message| message.get("content"))
    });
    let mut blocks = blocks
        .filter(|block| block.get("type") == Some(&json!(kind)))
        .peekable();
    match blocks.peek() {
        None => Err(skipped(format!(
            "no prompt has a block of the type `{kind}`"
        ))),
        Some(_) => super::without_fault("prompts/get", blocks.find_map(content::block)),
    }
}

async fn image(peer: &mut Peer) -> Judgement {
    blocks(peer, "image")
}

async fn audio(peer: &mut Peer) -> Judgement {
    blocks(peer, "audio")
}

async fn resource(peer: &mut Peer) -> Judgement {
    blocks(peer, "resource")
}

fn message(message: &Value) -> Fault {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("user" | "assistant") => None,
        role => Some(format!("`role` is {role:?}")),
    };
    role.or_else(|| value::object(message, "content"))
        .or_else(|| content::block(message.get("content")?))
}

fn needs_prompts(peer: &Peer) -> Judgement {
    match peer.survey.capability("prompts") {
        Some(_) => Ok(()),
        None => Err(skipped("the server declares no prompts")),
    }
}

async fn unknown(peer: &mut Peer) -> Judgement {
    needs_prompts(peer)?;
    let answer = peer
        .ask(
            "prompts/get",
            json!({ "name": "pintle_check_no_such_prompt" }),
        )
        .await?;
    answer.has_code(&[-32602])
}

/// Returns a prompt with a required argument, and its name.
fn with_required(peer: &Peer) -> Result<(Value, String), crate::finding::Stop> {
    let is_required = |argument: &&Value| argument.get("required") == Some(&Value::Bool(true));
    for prompt in peer.survey.entries("prompts/list")? {
        let mut arguments = value::entries(prompt, "arguments").filter(is_required);
        let argument = arguments
            .next()
            .and_then(|argument| argument.get("name")?.as_str());
        if let (Some(name), Some(argument)) = (prompt.get("name"), argument) {
            return Ok((name.clone(), argument.to_owned()));
        }
    }
    Err(skipped("no prompt has a required argument"))
}

async fn argument_missing(peer: &mut Peer) -> Judgement {
    let (name, _) = with_required(peer)?;
    let answer = peer
        .ask("prompts/get", json!({ "name": name, "arguments": {} }))
        .await?;
    answer.has_code(&[-32602])
}

async fn argument_type(peer: &mut Peer) -> Judgement {
    let (name, argument) = with_required(peer)?;
    let params = json!({ "name": name, "arguments": { argument: { "a": [1] } } });
    let request = peer.request("prompts/get", params);
    let reply = peer.probe_message(&request).await?;
    ensure(!reply.has_result())
}
