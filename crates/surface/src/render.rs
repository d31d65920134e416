//! A comparison as text, without terminal codes.

use std::fmt::Write as _;

use serde_json::Value;

use crate::compare::{Change, Comparison, Difference, MemberChange};
use crate::hidden::show_hidden;
use crate::surface::Definition;
use crate::words::{MAX_STEPS, Steps, word_diff};

impl Comparison {
    /// Returns the comparison as text: a line for each entry, and below it a line for each member. A changed text has
    /// `[-old-]{+new+}` between unchanged words, and `…` in place of long unchanged parts.
    ///
    /// Characters that a reader does not see are escapes such as `\u{200b}`; the text has no terminal codes. Texts of
    /// very many words are shown whole, in place of their words.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut steps = Steps(MAX_STEPS);
        for change in self.changes() {
            push_change(&mut text, change, &mut steps);
        }
        text
    }
}

fn push_change(text: &mut String, change: &Change, steps: &mut Steps) {
    let kind = change
        .kind
        .map_or_else(|| "server".to_owned(), |kind| kind.to_string());
    let what = match &change.difference {
        Difference::Added { .. } => "added",
        Difference::Removed { .. } => "removed",
        Difference::Changed { .. } => "changed",
    };
    // Writing to a text does not fail.
    let _ = writeln!(text, "{kind} {}: {what}", show_hidden(&change.key));
    match &change.difference {
        Difference::Added { definition } | Difference::Removed { definition } => {
            push_definition(text, definition);
        }
        Difference::Changed { members } => {
            for member in members {
                let pointer = show_hidden(&member.pointer);
                let _ = writeln!(text, "  {pointer}: {}", shown_change(member, steps));
            }
        }
    }
}

fn push_definition(text: &mut String, definition: &Definition) {
    for (name, value) in definition {
        let _ = writeln!(
            text,
            "  /{}: {}",
            show_hidden(name),
            show_hidden(&plain(value))
        );
    }
}

fn shown_change(member: &MemberChange, steps: &mut Steps) -> String {
    match (&member.old, &member.new) {
        (Some(Value::String(old)), Some(Value::String(new))) => word_diff(old, new, steps),
        (Some(old), Some(new)) => word_diff(&old.to_string(), &new.to_string(), steps),
        (old, new) => {
            let old = old.as_ref().map(plain).unwrap_or_default();
            let new = new.as_ref().map(plain).unwrap_or_default();
            let (open, text, close) = match new.is_empty() {
                true => ("[-", old, "-]"),
                false => ("{+", new, "+}"),
            };
            format!("{open}{}{close}", show_hidden(&text))
        }
    }
}

/// Returns a text as it is, and other values as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::Tool;
    use serde_json::json;

    use super::*;
    use crate::{Surface, is_hidden};

    #[test]
    fn a_comparison_shows_every_difference() {
        let schema = |value: Value| value.as_object().cloned().unwrap_or_default();
        let old = Surface::new("s", "1.0").with_tools([
            &Tool::new(
                "add",
                schema(json!({ "type": "object", "required": ["a"] })),
            ),
            &Tool::without_arguments("drop").with_description("Drops."),
        ]);
        let new = Surface::new("s", "1.1")
            .with_instructions(Some("Read\nme."))
            .with_tools([&Tool::new(
                "add",
                schema(json!({ "type": "object", "required": ["a", "b"] })),
            )]);
        let expected = r#"server s: changed
  /version: 1.[-0-]{+1+}
  /instructions: {+Read\nme.+}
tool add: changed
  /inputSchema/required: ["a"{+,"b"+}]
tool drop: removed
  /name: drop
  /description: Drops.
  /inputSchema: {"additionalProperties":false,"type":"object"}
"#;
        assert_eq!(old.compare(&new).to_text(), expected);
        let back = new.compare(&old).to_text();
        assert!(back.contains("  /instructions: [-Read\\nme.-]\n"), "{back}");
        assert!(back.contains("tool drop: added\n  /name: drop\n"), "{back}");
    }

    #[test]
    fn names_of_members_have_no_hidden_characters() {
        let mut tool = Tool::without_arguments("t\u{1b}[2J");
        tool.input_schema.insert("\u{202e}".to_owned(), json!(1));
        let new = Surface::new("s", "1").with_tools([&tool]);
        let mut other = tool.clone();
        other.input_schema.insert("\u{202e}".to_owned(), json!(2));
        let changed = Surface::new("s", "1").with_tools([&other]);
        for text in [
            Surface::new("s", "1").compare(&new).to_text(),
            new.compare(&changed).to_text(),
        ] {
            assert!(!text.contains(|c| c != '\n' && is_hidden(c)), "{text}");
        }
    }
}
