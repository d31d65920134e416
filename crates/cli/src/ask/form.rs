//! A form of a server that the user fills in on the terminal.

use pintle::model::{ElicitSchema, JsonObject};
use pintle::runtime::Answer;
use serde_json::Value;

use super::dialogue::Dialogue;
use super::field::{Field, yes_or_no};
use crate::page::{Page, Row};
use crate::screen::Style;
use crate::text;

/// The reason why a form ended without content.
enum FormExit {
    Declined,
    Cancelled,
}

/// Asks the user to fill in a form. The end of input cancels it. Content is shown before it is
/// sent.
pub(crate) fn fill(
    server: &str,
    message: &str,
    schema: &ElicitSchema,
    dialogue: &mut dyn Dialogue,
) -> Answer<JsonObject> {
    let fields = schema.properties.iter();
    let fields: Vec<Field<'_>> = fields
        .map(|(name, field)| Field::new(name, field, schema.is_required(name)))
        .collect();
    introduce(server, message, !fields.is_empty(), dialogue);
    let mut answers = vec![None; fields.len()];
    loop {
        if let Err(exit) = ask_all(&fields, &mut answers, dialogue) {
            return exit.into();
        }
        match confirm(&fields, &answers, dialogue) {
            Ok(true) => return Answer::Accepted(content(&fields, answers)),
            Ok(false) => {}
            Err(exit) => return exit.into(),
        }
    }
}

impl<T> From<FormExit> for Answer<T> {
    fn from(exit: FormExit) -> Self {
        match exit {
            FormExit::Declined => Self::Declined,
            FormExit::Cancelled => Self::Cancelled,
        }
    }
}

fn introduce(server: &str, message: &str, has_fields: bool, dialogue: &mut dyn Dialogue) {
    let look = dialogue.look();
    let mut page = Page::new(look);
    let server = look.paint(Style::Name, &text::line(server));
    page.line(&format!("\n{server} asks:"));
    page.paragraphs(2, message);
    if has_fields {
        let help = "Enter keeps the value in [ ]; /decline refuses the form, /cancel closes it.";
        page.line(&look.paint(Style::Faint, help));
    }
    dialogue.show(&page.into_text());
}

fn ask_all(
    fields: &[Field<'_>],
    answers: &mut [Option<Value>],
    dialogue: &mut dyn Dialogue,
) -> Result<(), FormExit> {
    for (field, answer) in fields.iter().zip(answers) {
        describe(field, dialogue);
        let current = answer.take().or_else(|| field.default());
        *answer = ask(field, current, dialogue)?;
    }
    Ok(())
}

fn describe(field: &Field<'_>, dialogue: &mut dyn Dialogue) {
    let look = dialogue.look();
    let mut page = Page::new(look);
    let mut title = field.title();
    if field.is_required {
        title.push_str(" *");
    }
    page.gap();
    page.rows(0, &[Row::new(title, field.about())]);
    if let Some((options, _)) = field.options() {
        let rows = options.iter().enumerate().map(|(index, option)| {
            let title = if option.title == option.word {
                ""
            } else {
                option.title.as_str()
            };
            Row::new(
                format!("{}. {}", index + 1, text::line(&option.word)),
                title,
            )
        });
        page.rows(2, &rows.collect::<Vec<_>>());
    }
    dialogue.show(&page.into_text());
}

/// Asks until an answer fits, or the user ends the form.
fn ask(
    field: &Field<'_>,
    current: Option<Value>,
    dialogue: &mut dyn Dialogue,
) -> Result<Option<Value>, FormExit> {
    let prompt = match &current {
        Some(value) => format!("[{}] > ", shown(value)),
        None => "> ".to_owned(),
    };
    loop {
        let typed = dialogue.ask(&prompt).ok_or(FormExit::Cancelled)?;
        let reason = match typed.trim() {
            "/decline" => return Err(FormExit::Declined),
            "/cancel" => return Err(FormExit::Cancelled),
            "" => match (&current, field.is_required) {
                // A default of the server may violate the server's own schema.
                (Some(value), _) => match field.check(value) {
                    Ok(()) => return Ok(current),
                    Err(reason) => reason,
                },
                (None, false) => return Ok(None),
                (None, true) => "this field is required".to_owned(),
            },
            _ => match field.value(&typed) {
                Ok(value) => return Ok(Some(value)),
                Err(reason) => reason,
            },
        };
        let look = dialogue.look();
        dialogue.show(&format!("  {}\n", look.paint(Style::Bad, &reason)));
    }
}

/// Shows the content and asks whether to send it. Returns false if the user edits it again.
fn confirm(
    fields: &[Field<'_>],
    answers: &[Option<Value>],
    dialogue: &mut dyn Dialogue,
) -> Result<bool, FormExit> {
    let question = match fields.is_empty() {
        true => "Accept? [yes/no/cancel] > ",
        false => {
            let rows = fields.iter().zip(answers).map(|(field, answer)| {
                let answer = answer
                    .as_ref()
                    .map_or_else(|| "(left out)".to_owned(), shown);
                Row::new(field.title(), answer)
            });
            let mut page = Page::new(dialogue.look());
            page.line("");
            page.rows(2, &rows.collect::<Vec<_>>());
            dialogue.show(&page.into_text());
            "Send this? [yes/no/edit/cancel] > "
        }
    };
    loop {
        let typed = dialogue.ask(question).ok_or(FormExit::Cancelled)?;
        match (yes_or_no(&typed), typed.trim().to_lowercase().as_str()) {
            (Some(true), _) => return Ok(true),
            (Some(false), _) | (_, "/decline" | "decline") => return Err(FormExit::Declined),
            (_, "e" | "edit") if !fields.is_empty() => return Ok(false),
            (_, "c" | "cancel" | "/cancel") => return Err(FormExit::Cancelled),
            _ => {}
        }
    }
}

fn content(fields: &[Field<'_>], answers: Vec<Option<Value>>) -> JsonObject {
    let answered = fields.iter().zip(answers);
    answered
        .filter_map(|(field, answer)| Some((field.name.to_owned(), answer?)))
        .collect()
}

/// Returns a value as a user types it.
fn shown(value: &Value) -> String {
    let shown = match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    text::line(&shown).into_owned()
}
