//! Calls of tools: of unknown ones, with wrong arguments, and of those that may be called.

use pintle_schema::{Validator, Validity};
use serde_json::{Value, json};

use super::{LEGACY, LEGACY_06, LEGACY_11, MODERN, content, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, Stop, ensure, observed, observed_after, skipped};
use crate::peer::{Peer, Sample, is_read_only, required};
use crate::text::{clip, shown};
use crate::value::{self, Fault};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "tool-unknown",
        "A call of an unknown tool is answered with a JSON-RPC error.",
        "Tools: Error handling",
        &[must(LEGACY, &["TOOL-24"]), must(MODERN, &["N-TOOL-13"])],
        run!(unknown),
    ),
    Check::new(
        "tool-unknown-code",
        "The error of a call of an unknown tool has the code -32602.",
        "Tools: Error handling",
        &[should(LEGACY, &["TOOL-24"]), should(MODERN, &["N-TOOL-13"])],
        run!(unknown_code),
    ),
    Check::new(
        "tool-call-without-name",
        "A call without the name of a tool is answered with a JSON-RPC error.",
        "Tools: Error handling",
        &[must(LEGACY, &["TOOL-24"]), must(MODERN, &["N-TOOL-13"])],
        run!(without_name),
    ),
    Check::new(
        "tool-names-odd",
        "Odd names of tools are unknown.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-110"]), robust(MODERN, &["H-110"])],
        run!(odd_names),
    ),
    Check::new(
        "tool-arguments-validated",
        "A call without a required argument does not succeed.",
        "Tools: Security considerations",
        &[must(LEGACY, &["TOOL-29"]), must(MODERN, &["N-TOOL-18"])],
        run!(validated),
    ),
    Check::new(
        "tool-arguments-as-result",
        "Arguments that do not match the schema result in `isError`, so that a model can correct them.",
        "Tools: Error handling",
        &[
            should(LEGACY_11, &["TOOL-25", "TOOL-26"]),
            should(MODERN, &["N-TOOL-14"]),
        ],
        run!(as_result),
    ),
    Check::new(
        "tool-arguments-list",
        "Arguments that are a list do not succeed.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["AMB-55"]), robust(MODERN, &["H-135"])],
        run!(arguments_list),
    ),
    Check::new(
        "tool-input-unexpected",
        "Input that the server did not ask for is ignored.",
        "Multi round-trip requests: Server requirements",
        &[should(MODERN, &["N-MRTR-25"])],
        run!(input_unexpected),
    ),
    Check::new(
        "tool-result-content",
        "The result of a tool has a list of valid content blocks.",
        "Tools: Tool result",
        &[must(LEGACY, &["TOOL-17"]), must(MODERN, &["N-TOOL-09"])],
        run!(result_content),
    ),
    Check::new(
        "tool-result-resources",
        "A server whose tools embed resources declares the capability `resources`.",
        "Tools: Embedded resources",
        &[should(LEGACY, &["TOOL-20"]), should(MODERN, &["N-TOOL-20"])],
        run!(result_resources),
    ),
    Check::new(
        "tool-result-structured",
        "The structured content of a tool conforms to its output schema.",
        "Tools: Output schema",
        &[must(LEGACY_06, &["TOOL-22"]), must(MODERN, &["N-TOOL-10"])],
        run!(structured),
    ),
    Check::new(
        "tool-result-structured-text",
        "Structured content is also a text block of JSON.",
        "Tools: Structured content",
        &[
            should(LEGACY_06, &["TOOL-21"]),
            should(MODERN, &["N-TOOL-12"]),
        ],
        run!(structured_text),
    ),
];

const UNKNOWN: &str = "pintle_check_no_such_tool";

fn needs_tools(peer: &Peer) -> Judgement {
    match peer.survey.capability("tools") {
        Some(_) => Ok(()),
        None => Err(skipped("the server declares no tools")),
    }
}

async fn unknown(peer: &mut Peer) -> Judgement {
    needs_tools(peer)?;
    let answer = peer
        .ask("tools/call", json!({ "name": UNKNOWN, "arguments": {} }))
        .await?;
    answer.code().map(|_| ())
}

async fn unknown_code(peer: &mut Peer) -> Judgement {
    needs_tools(peer)?;
    let answer = peer
        .ask("tools/call", json!({ "name": UNKNOWN, "arguments": {} }))
        .await?;
    match answer.response.get("error") {
        Some(_) => answer.has_code(&[-32602]),
        None => Err(skipped("the response is not an error")),
    }
}

async fn without_name(peer: &mut Peer) -> Judgement {
    needs_tools(peer)?;
    let answer = peer.ask("tools/call", json!({ "arguments": {} })).await?;
    answer.code().map(|_| ())
}

async fn odd_names(peer: &mut Peer) -> Judgement {
    needs_tools(peer)?;
    for name in ["__proto__", "constructor", "", "\u{0}", &"x".repeat(3_000)] {
        let request = peer.request("tools/call", json!({ "name": name, "arguments": {} }));
        let reply = peer.probe_message(&request).await?;
        ensure(!succeeded(&reply.messages))?;
    }
    Ok(())
}

/// Returns true if a result of a tool is not an error.
fn succeeded(messages: &[Value]) -> bool {
    let mut results = messages.iter().filter_map(|message| message.get("result"));
    results.any(|result| {
        result.get("isError") != Some(&Value::Bool(true))
            && result.get("resultType") != Some(&json!("input_required"))
    })
}

/// Calls a read-only tool without its required arguments.
async fn call_without_arguments(peer: &mut Peer) -> Result<Value, Stop> {
    needs_tools(peer)?;
    let survey = std::sync::Arc::clone(&peer.survey);
    let tools = survey.entries("tools/list")?;
    let mut tools = tools.into_iter();
    let tool = tools.find(|tool| is_read_only(tool) && required(tool).next().is_some());
    let tool = tool.ok_or_else(|| skipped("no read-only tool has a required argument"))?;
    let params = json!({ "name": tool.get("name"), "arguments": {} });
    Ok(peer.ask("tools/call", params).await?.response)
}

async fn validated(peer: &mut Peer) -> Judgement {
    let response = call_without_arguments(peer).await?;
    ensure(!succeeded(&[response]))
}

async fn as_result(peer: &mut Peer) -> Judgement {
    let response = call_without_arguments(peer).await?;
    ensure(response.pointer("/result/isError") == Some(&Value::Bool(true)))
}

async fn arguments_list(peer: &mut Peer) -> Judgement {
    needs_tools(peer)?;
    let survey = std::sync::Arc::clone(&peer.survey);
    let callable = survey.callable(&peer.options);
    let Some((tool, _)) = callable.first() else {
        return Err(skipped("no tool may be called; `--tool` allows one"));
    };
    let params = json!({ "name": tool.get("name"), "arguments": [1] });
    let response = peer.ask("tools/call", params).await?.response;
    ensure(!succeeded(&[response]))
}

async fn input_unexpected(peer: &mut Peer) -> Judgement {
    needs_tools(peer)?;
    let survey = std::sync::Arc::clone(&peer.survey);
    let is_complete = |sample: &&Sample| {
        let result = sample.outcome.as_ref().ok();
        result.is_some_and(|result| result.get("resultType") == Some(&json!("complete")))
    };
    let Some(sample) = survey.calls.iter().find(is_complete) else {
        return Err(skipped(
            "no call has a result; `--tool NAME key=value` allows a call",
        ));
    };
    let mut params = sample.sent.get("params").cloned().unwrap_or_default();
    params["inputResponses"] = json!({ "pintle-check": { "action": "decline" } });
    params["_meta"] = json!({});
    let request = peer.request("tools/call", params);
    let headers = peer.headers_of_call(&sample.entry, &request);
    peer.ask_with(&request, headers).await?.result().map(|_| ())
}

async fn result_resources(peer: &mut Peer) -> Judgement {
    let embeds = |block: &Value| block.get("type") == Some(&json!("resource"));
    let results = peer
        .survey
        .calls
        .iter()
        .filter_map(|call| call.outcome.as_ref().ok());
    let mut blocks = results.flat_map(|result| value::entries(result, "content"));
    match (blocks.any(embeds), peer.survey.capability("resources")) {
        (false, _) => Err(skipped("no result of a tool has an embedded resource")),
        (true, Some(_)) => Ok(()),
        (true, None) => Err(observed("the capability `resources` is not declared")),
    }
}

/// Judges the result of each call that succeeded.
fn each(peer: &Peer, judge: impl Fn(&Sample, &Value) -> Fault) -> Judgement {
    let calls = peer.survey.calls.iter();
    let results = calls.filter_map(|sample| {
        let result = sample.outcome.as_ref().ok()?;
        let is_complete = result
            .get("resultType")
            .is_none_or(|kind| kind == "complete");
        is_complete.then_some((sample, result))
    });
    let mut count = 0;
    for (sample, result) in results {
        count += 1;
        if let Some(fault) = judge(sample, result) {
            return Err(observed_after(sample.sent.to_string(), fault));
        }
    }
    match count {
        0 => Err(skipped(
            "no call has a result; `--tool NAME key=value` allows a call",
        )),
        _ => Ok(()),
    }
}

async fn result_content(peer: &mut Peer) -> Judgement {
    each(peer, |_, result| {
        value::list(result, "content")
            .or_else(|| value::entries(result, "content").find_map(content::block))
            .or_else(|| value::optional_bool(result, "isError"))
    })
}

async fn structured(peer: &mut Peer) -> Judgement {
    let mut was_judged = false;
    for sample in &peer.survey.calls {
        let schema = sample.entry.get("outputSchema").and_then(Value::as_object);
        let result = sample.outcome.as_ref().ok();
        let (Some(schema), Some(result)) = (schema, result) else {
            continue;
        };
        let is_complete = result
            .get("resultType")
            .is_none_or(|kind| kind == "complete");
        if result.get("isError") == Some(&Value::Bool(true)) || !is_complete {
            continue;
        }
        was_judged = true;
        let Some(found) = result.get("structuredContent") else {
            return Err(observed_after(
                sample.sent.to_string(),
                "`structuredContent` is missing",
            ));
        };
        let validity = Validator::compile_foreign(schema).map(|schema| schema.check(found));
        if let Ok(Validity::Invalid(violations)) = validity {
            let first = violations
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            let text = clip(&format!("{first}: {}", shown(found)));
            return Err(observed_after(sample.sent.to_string(), text));
        }
    }
    match was_judged {
        true => Ok(()),
        false => Err(skipped("no called tool has an output schema")),
    }
}

/// Returns true if text blocks have the structured content as JSON. A single member is often the wrapper of
/// a value that is not an object, so its value alone is accepted, too.
fn is_repeated(found: &Value, result: &Value) -> bool {
    let texts = value::entries(result, "content").filter_map(|block| block.get("text")?.as_str());
    let texts: Vec<&str> = texts.collect();
    let inner = found.as_object().filter(|members| members.len() == 1);
    let inner = inner.and_then(|members| members.values().next());
    let is_it = |text: &str, value: &Value| {
        value.as_str() == Some(text)
            || serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value)
    };
    [Some(found), inner].into_iter().flatten().any(|value| {
        let items = value.as_array().filter(|items| items.len() == texts.len());
        texts.iter().any(|text| is_it(text, value))
            || items.is_some_and(|items| {
                items
                    .iter()
                    .zip(&texts)
                    .all(|(item, text)| is_it(text, item))
            })
    })
}

async fn structured_text(peer: &mut Peer) -> Judgement {
    let mut was_judged = false;
    for sample in &peer.survey.calls {
        let Some(result) = sample.outcome.as_ref().ok() else {
            continue;
        };
        let Some(found) = result.get("structuredContent") else {
            continue;
        };
        was_judged = true;
        if !is_repeated(found, result) {
            return Err(observed(format!("no text block is {}", shown(found))));
        }
    }
    match was_judged {
        true => Ok(()),
        false => Err(skipped("no result has structured content")),
    }
}
