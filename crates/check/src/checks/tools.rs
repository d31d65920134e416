//! The definitions of tools.

use std::collections::BTreeSet;

use pintle_model::Feature;
use pintle_schema::{SchemaError, Validator, header_bindings};
use serde_json::Value;

use super::{LEGACY, LEGACY_03, LEGACY_06, LEGACY_11, MODERN, content, run};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, observed_after, skipped};
use crate::peer::Peer;
use crate::text::clip;
use crate::value::{self, Fault};

const TASKS: &[Feature] = &[Feature::CoreTasks];

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "tool-shape",
        "A tool has a name and an input schema, and its other members have their types.",
        "Tools: Data types",
        &[must(LEGACY, &["TOOL-05"]), must(MODERN, &["N-TOOL-07"])],
        run!(shape),
    ),
    Check::new(
        "tool-input-schema-root",
        "The root of an input schema has the type `object`.",
        "Tools: Data types",
        &[must(LEGACY, &["TOOL-06"]), must(MODERN, &["N-SCH-09"])],
        run!(input_root),
    ),
    Check::new(
        "tool-output-schema-root",
        "The root of an output schema has the type `object`.",
        "Tools: Output schema",
        &[must(LEGACY_06, &["TOOL-07"])],
        run!(output_root),
    ),
    Check::new(
        "tool-schemas-valid",
        "The schemas of a tool are valid in their dialect.",
        "Base protocol: JSON Schema usage",
        &[must(LEGACY_11, &["JSCH-08"]), must(MODERN, &["N-SCH-04"])],
        run!(schemas),
    ),
    Check::new(
        "tool-names",
        "A name has 1 to 128 of the characters A–Z a–z 0–9 _ - .",
        "Tools: Tool names",
        &[
            should(LEGACY_11, &["TOOL-12", "TOOL-14", "TOOL-15"]),
            should(MODERN, &["N-TOOL-05"]),
        ],
        run!(names),
    ),
    Check::new(
        "tool-names-unique",
        "No two tools have the same name.",
        "Tools: Tool names",
        &[
            should(LEGACY_11, &["TOOL-16"]),
            should(MODERN, &["N-TOOL-05"]),
        ],
        run!(unique),
    ),
    Check::new(
        "tool-annotations",
        "The hints of a tool are booleans.",
        "Tools: Data types",
        &[must(LEGACY_03, &["TOOL-10"])],
        run!(annotations),
    ),
    Check::new(
        "tool-task-support",
        "`execution.taskSupport` of a tool is `forbidden`, `optional` or `required`.",
        "Tasks: Tool-level negotiation",
        &[must(TASKS, &["TOOL-08"])],
        run!(task_support),
    ),
    Check::new(
        "tool-icons",
        "The icons of a tool have a source and known sizes.",
        "Base protocol: Icons",
        &[
            must(LEGACY_11, &["ICON-01", "ICON-02"]),
            must(MODERN, &["N-ICON-05"]),
        ],
        run!(icons),
    ),
    Check::new(
        "tool-header-annotations",
        "Each `x-mcp-header` is a unique name on a text, integer or boolean below `properties`.",
        "Streamable HTTP: Custom headers from tool parameters",
        &[must(
            MODERN,
            &["N-XHDR-03", "N-XHDR-04", "N-XHDR-05", "N-XHDR-06"],
        )],
        run!(header_annotations),
    ),
];

/// Judges each tool.
async fn each(peer: &mut Peer, judge: fn(&Value) -> Fault) -> Judgement {
    for tool in peer.survey.entries("tools/list")? {
        if let Some(fault) = judge(tool) {
            let name = tool
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("(no name)");
            return Err(observed_after(
                "tools/list",
                format!("tool {name:?}: {fault}"),
            ));
        }
    }
    Ok(())
}

async fn shape(peer: &mut Peer) -> Judgement {
    each(peer, |tool| {
        value::text(tool, "name")
            .or_else(|| value::object(tool, "inputSchema"))
            .or_else(|| value::optional_text(tool, "title"))
            .or_else(|| value::optional_text(tool, "description"))
            .or_else(|| {
                tool.get("outputSchema")
                    .and_then(|_| value::object(tool, "outputSchema"))
            })
            .or_else(|| {
                tool.get("annotations")
                    .and_then(|_| value::object(tool, "annotations"))
            })
            .or_else(|| tool.get("_meta").and_then(|_| value::object(tool, "_meta")))
    })
    .await
}

fn root_is_object(tool: &Value, member: &str) -> Fault {
    let schema = tool.get(member)?;
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => None,
        found => Some(format!("the `type` of `{member}` is {found:?}")),
    }
}

async fn input_root(peer: &mut Peer) -> Judgement {
    each(peer, |tool| root_is_object(tool, "inputSchema")).await
}

async fn output_root(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["tools/list"], "/outputSchema")?;
    each(peer, |tool| root_is_object(tool, "outputSchema")).await
}

async fn schemas(peer: &mut Peer) -> Judgement {
    each(peer, |tool| {
        ["inputSchema", "outputSchema"]
            .into_iter()
            .find_map(|member| {
                let schema = tool.get(member)?.as_object()?;
                match Validator::compile_foreign(schema) {
                    Err(
                        error @ (SchemaError::Malformed { .. } | SchemaError::DanglingRef { .. }),
                    ) => Some(clip(&format!("`{member}`: {error}"))),
                    // Other errors are about limits of this validator.
                    _ => None,
                }
            })
    })
    .await
}

async fn names(peer: &mut Peer) -> Judgement {
    each(peer, |tool| {
        let name = tool.get("name")?.as_str()?;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let length = name.chars().count();
        let is_valid = (1..=128).contains(&length) && name.chars().all(is_allowed);
        (!is_valid).then(|| format!("the name has {length} characters, or others"))
    })
    .await
}

async fn unique(peer: &mut Peer) -> Judgement {
    let mut known = BTreeSet::new();
    for tool in peer.survey.entries("tools/list")? {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if !known.insert(name) {
            return Err(observed_after(
                "tools/list",
                format!("two tools are {name:?}"),
            ));
        }
    }
    Ok(())
}

async fn annotations(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["tools/list"], "/annotations")?;
    each(peer, |tool| {
        let annotations = tool.get("annotations")?;
        [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ]
        .into_iter()
        .find_map(|hint| value::optional_bool(annotations, hint))
        .or_else(|| value::optional_text(annotations, "title"))
    })
    .await
}

async fn task_support(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["tools/list"], "/execution/taskSupport")?;
    each(peer, |tool| {
        let execution = tool.get("execution")?;
        match execution.get("taskSupport").map(Value::as_str) {
            None | Some(Some("forbidden" | "optional" | "required")) => None,
            Some(found) => Some(format!("`taskSupport` is {found:?}")),
        }
    })
    .await
}

async fn icons(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["tools/list"], "/icons")?;
    each(peer, content::icons).await
}

async fn header_annotations(peer: &mut Peer) -> Judgement {
    let has_any = peer.survey.entries("tools/list")?.into_iter().any(|tool| {
        let schema = tool.get("inputSchema").map(Value::to_string);
        schema.is_some_and(|schema| schema.contains("\"x-mcp-header\""))
    });
    if !has_any {
        return Err(skipped("no schema has `x-mcp-header`"));
    }
    each(peer, |tool| {
        let schema = tool.get("inputSchema")?.as_object()?;
        match header_bindings(schema) {
            Err(error @ SchemaError::Header { .. }) => Some(clip(&error.to_string())),
            _ => None,
        }
    })
    .await
}
