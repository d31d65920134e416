//! A form of a server, filled in on the terminal.

use pintle::model::{ElicitSchema, JsonObject};
use pintle::runtime::Answer;
use serde_json::Value;

use super::dialogue::Dialogue;
use super::field::{Field, yes_or_no};
use crate::page::{Page, Row};
use crate::screen::Style;
use crate::text;

/// Why a form was left.
enum Left {
    Declined,
    Cancelled,
}

/// Lets somebody fill in a form. The end of input is a cancellation; nothing is sent that was not
/// shown before.
pub(crate) fn fill(
    who: &str,
    message: &str,
    schema: &ElicitSchema,
    dialogue: &mut dyn Dialogue,
) -> Answer<JsonObject> {
    let fields = schema.properties.iter();
    let fields: Vec<Field<'_>> = fields
        .map(|(name, field)| Field::new(name, field, schema.is_required(name)))
        .collect();
    introduce(who, message, !fields.is_empty(), dialogue);
    let mut answers = vec![None; fields.len()];
    loop {
        if let Err(left) = ask_all(&fields, &mut answers, dialogue) {
            return left.into();
        }
        match confirm(&fields, &answers, dialogue) {
            Ok(true) => return Answer::Accepted(content(&fields, answers)),
            Ok(false) => {}
            Err(left) => return left.into(),
        }
    }
}

impl<T> From<Left> for Answer<T> {
    fn from(left: Left) -> Self {
        match left {
            Left::Declined => Self::Declined,
            Left::Cancelled => Self::Cancelled,
        }
    }
}

fn introduce(who: &str, message: &str, has_fields: bool, dialogue: &mut dyn Dialogue) {
    let look = dialogue.look();
    let mut page = Page::new(look);
    let who = look.paint(Style::Name, &text::line(who));
    page.line(&format!("\n{who} asks:"));
    page.paragraphs(2, message);
    if has_fields {
        let help = "Enter keeps what stands in [ ]; /decline says no, /cancel goes away.";
        page.line(&look.paint(Style::Faint, help));
    }
    dialogue.say(&page.into_text());
}

fn ask_all(
    fields: &[Field<'_>],
    answers: &mut [Option<Value>],
    dialogue: &mut dyn Dialogue,
) -> Result<(), Left> {
    for (field, answer) in fields.iter().zip(answers) {
        describe(field, dialogue);
        let standing = answer.take().or_else(|| field.default());
        *answer = ask(field, standing, dialogue)?;
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
    dialogue.say(&page.into_text());
}

/// Asks until the answer fits, or the form is left.
fn ask(
    field: &Field<'_>,
    standing: Option<Value>,
    dialogue: &mut dyn Dialogue,
) -> Result<Option<Value>, Left> {
    let prompt = match &standing {
        Some(value) => format!("[{}] > ", shown(value)),
        None => "> ".to_owned(),
    };
    loop {
        let typed = dialogue.ask(&prompt).ok_or(Left::Cancelled)?;
        let reason = match typed.trim() {
            "/decline" => return Err(Left::Declined),
            "/cancel" => return Err(Left::Cancelled),
            "" => match (&standing, field.is_required) {
                // What the server proposes may break its own rules.
                (Some(value), _) => match field.check(value) {
                    Ok(()) => return Ok(standing),
                    Err(reason) => reason,
                },
                (None, false) => return Ok(None),
                (None, true) => "this has to be filled in".to_owned(),
            },
            _ => match field.value(&typed) {
                Ok(value) => return Ok(Some(value)),
                Err(reason) => reason,
            },
        };
        let look = dialogue.look();
        dialogue.say(&format!("  {}\n", look.paint(Style::Bad, &reason)));
    }
}

/// Shows what will be sent; true is a yes, false a wish to go through it again.
fn confirm(
    fields: &[Field<'_>],
    answers: &[Option<Value>],
    dialogue: &mut dyn Dialogue,
) -> Result<bool, Left> {
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
            dialogue.say(&page.into_text());
            "Send this? [yes/no/edit/cancel] > "
        }
    };
    loop {
        let typed = dialogue.ask(question).ok_or(Left::Cancelled)?;
        match (yes_or_no(&typed), typed.trim().to_lowercase().as_str()) {
            (Some(true), _) => return Ok(true),
            (Some(false), _) | (_, "/decline" | "decline") => return Err(Left::Declined),
            (_, "e" | "edit") if !fields.is_empty() => return Ok(false),
            (_, "c" | "cancel" | "/cancel") => return Err(Left::Cancelled),
            _ => {}
        }
    }
}

fn content(fields: &[Field<'_>], answers: Vec<Option<Value>>) -> JsonObject {
    let given = fields.iter().zip(answers);
    given
        .filter_map(|(field, answer)| Some((field.name.to_owned(), answer?)))
        .collect()
}

/// A value as it is typed.
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
