//! Completion of arguments.

use serde_json::{Value, json};

use super::{LEGACY, LEGACY_03, MODERN, run, without_fault};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, skipped};
use crate::peer::{Peer, Survey};
use crate::text::shown;
use crate::value::{self, Fault};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "completion",
        "A completion has at most 100 texts.",
        "Completion: Completion results",
        &[
            must(LEGACY, &["COMP-02", "COMP-04"]),
            must(MODERN, &["N-COMP-03"]),
        ],
        run!(result),
    ),
    Check::new(
        "completion-unknown-prompt",
        "A completion for an unknown prompt is answered with error -32602.",
        "Completion: Error handling",
        &[
            should(LEGACY_03, &["COMP-05"]),
            should(MODERN, &["N-COMP-04"]),
        ],
        run!(unknown_prompt),
    ),
    Check::new(
        "completion-undeclared",
        "Without the capability a completion is answered with error -32601.",
        "Completion: Error handling",
        &[
            should(LEGACY_03, &["COMP-05"]),
            should(MODERN, &["N-COMP-04"]),
        ],
        run!(undeclared),
    ),
    Check::new(
        "completion-malformed",
        "A completion without a reference or an argument is answered with error -32602.",
        "Completion: Error handling",
        &[
            should(LEGACY_03, &["COMP-05"]),
            should(MODERN, &["N-COMP-04"]),
        ],
        run!(malformed),
    ),
];

/// Returns the first prompt with an argument, and the argument.
pub(super) fn first_argument(survey: &Survey) -> Option<(String, String)> {
    let prompts = survey.entries("prompts/list").ok()?;
    prompts.into_iter().find_map(|prompt| {
        let mut names =
            value::entries(prompt, "arguments").filter_map(|it| it.get("name")?.as_str());
        Some((
            prompt.get("name")?.as_str()?.to_owned(),
            names.next()?.to_owned(),
        ))
    })
}

fn needs_completions(peer: &Peer) -> Judgement {
    match peer.survey.capability("completions") {
        Some(_) => Ok(()),
        None => Err(skipped("the server declares no completions")),
    }
}

async fn result(peer: &mut Peer) -> Judgement {
    needs_completions(peer)?;
    let reference = match first_argument(&peer.survey) {
        Some((prompt, argument)) => json!({ "ref": { "type": "ref/prompt", "name": prompt },
            "argument": { "name": argument, "value": "" } }),
        None => of_template(&peer.survey).ok_or_else(|| skipped("nothing can be completed"))?,
    };
    let answer = peer.ask("completion/complete", reference).await?;
    without_fault("completion/complete", fault(answer.result()?))
}

/// Returns the completion of the first variable of a template.
fn of_template(survey: &Survey) -> Option<Value> {
    let templates = survey.entries("resources/templates/list").ok()?;
    let template = templates.first()?.get("uriTemplate")?.as_str()?;
    let variable = template.split_once('{')?.1.split_once('}')?.0;
    let variable = variable.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    let variable = variable.split(',').next()?;
    Some(json!({ "ref": { "type": "ref/resource", "uri": template },
        "argument": { "name": variable, "value": "" } }))
}

fn fault(result: &Value) -> Fault {
    let empty = Value::Null;
    let completion = result.get("completion").unwrap_or(&empty);
    value::object(result, "completion")
        .or_else(|| value::list(completion, "values"))
        .or_else(|| value::optional_bool(completion, "hasMore"))
        .or_else(|| value::optional_count(completion, "total"))
        .or_else(|| {
            let mut values = value::entries(completion, "values");
            values.find(|value| !value.is_string()).map(shown)
        })
        .or_else(|| {
            let count = value::entries(completion, "values").count();
            (count > 100).then(|| format!("{count} values"))
        })
}

async fn unknown_prompt(peer: &mut Peer) -> Judgement {
    needs_completions(peer)?;
    let params = json!({ "ref": { "type": "ref/prompt", "name": "pintle_check_no_such_prompt" },
        "argument": { "name": "a", "value": "" } });
    peer.ask("completion/complete", params)
        .await?
        .has_code(&[-32602])
}

async fn undeclared(peer: &mut Peer) -> Judgement {
    if needs_completions(peer).is_ok() {
        return Err(skipped("the server declares completions"));
    }
    let params = json!({ "ref": { "type": "ref/prompt", "name": "a" },
        "argument": { "name": "a", "value": "" } });
    peer.ask("completion/complete", params)
        .await?
        .has_code(&[-32601])
}

async fn malformed(peer: &mut Peer) -> Judgement {
    needs_completions(peer)?;
    for params in [
        json!({}),
        json!({ "ref": { "type": "ref/prompt", "name": "a" } }),
        json!({ "ref": { "type": "ref/none" }, "argument": { "name": "a", "value": "" } }),
    ] {
        peer.ask("completion/complete", params)
            .await?
            .has_code(&[-32602])?;
    }
    Ok(())
}
