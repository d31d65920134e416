//! One field of a form: its description, and its value from typed text.

use pintle::model::{Choice, JsonObject, NumberKind, PrimitiveSchema};
use pintle::schema::{Formats, Validator};
use serde_json::{Value, json};

use crate::text;

/// A field of a form, for a user who fills it in.
#[derive(Debug)]
pub(super) struct Field<'f> {
    /// Name of the field in the answer.
    pub(super) name: &'f str,
    schema: &'f PrimitiveSchema,
    /// Whether the field must have a value.
    pub(super) is_required: bool,
}

/// A word that can be chosen, with its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) word: String,
    pub(super) title: String,
}

/// Number of words that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    One,
    Some,
}

impl<'f> Field<'f> {
    pub(super) fn new(name: &'f str, schema: &'f PrimitiveSchema, is_required: bool) -> Self {
        Self {
            name,
            schema,
            is_required,
        }
    }

    /// Returns the title of the field, or else its name.
    pub(super) fn title(&self) -> String {
        let title = self.member("title");
        let title = title.as_ref().and_then(Value::as_str);
        text::line(title.unwrap_or(self.name)).into_owned()
    }

    /// Returns the description of the field, and the kind of its values.
    pub(super) fn about(&self) -> String {
        let description = self.member("description");
        let description = description.as_ref().and_then(Value::as_str);
        let mut about = text::line(description.unwrap_or_default()).into_owned();
        let kind = self.kind();
        match about.is_empty() {
            true => about = kind,
            false if !kind.is_empty() => about = format!("{about} ({kind})"),
            false => {}
        }
        about
    }

    fn kind(&self) -> String {
        match self.schema {
            PrimitiveSchema::Boolean(_) => "yes or no".to_owned(),
            PrimitiveSchema::Number(number) => match number.r#type {
                NumberKind::Integer => "a whole number".to_owned(),
                NumberKind::Number => "a number".to_owned(),
            },
            PrimitiveSchema::String(string) => match &string.format {
                Some(format) => text::line(&shown_format(format)).into_owned(),
                None => String::new(),
            },
            PrimitiveSchema::MultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_) => {
                "any of these, separated by commas".to_owned()
            }
            _ => String::new(),
        }
    }

    /// Returns the words to choose from, if the field has a list of them.
    pub(super) fn options(&self) -> Option<(Vec<Entry>, Chosen)> {
        let plain = |words: &[String]| words.iter().map(|word| Entry::new(word, word)).collect();
        let titled = |choices: &[Choice]| {
            let choices = choices.iter();
            choices
                .map(|choice| Entry::new(&choice.value, &choice.title))
                .collect()
        };
        match self.schema {
            PrimitiveSchema::SingleSelect(select) => Some((plain(&select.words), Chosen::One)),
            PrimitiveSchema::TitledSingleSelect(select) => {
                Some((titled(&select.one_of), Chosen::One))
            }
            PrimitiveSchema::LegacyTitled(select) => {
                let names = select.enum_names.as_deref().unwrap_or_default();
                let pairs = select.words.iter().enumerate();
                let options =
                    pairs.map(|(at, word)| Entry::new(word, names.get(at).unwrap_or(word)));
                Some((options.collect(), Chosen::One))
            }
            PrimitiveSchema::MultiSelect(select) => {
                Some((plain(&select.items.words), Chosen::Some))
            }
            PrimitiveSchema::TitledMultiSelect(select) => {
                Some((titled(&select.items.any_of), Chosen::Some))
            }
            _ => None,
        }
    }

    /// Returns the default value of the field.
    pub(super) fn default(&self) -> Option<Value> {
        self.member("default").filter(|value| !value.is_null())
    }

    /// Converts typed text to a value that fits the field.
    ///
    /// # Errors
    ///
    /// The reason why the text does not fit, for the user.
    pub(super) fn value(&self, typed: &str) -> Result<Value, String> {
        let value = match (self.options(), self.schema) {
            (Some((options, Chosen::One)), _) => Value::String(choose(typed, &options)?),
            (Some((options, Chosen::Some)), _) => {
                let words = typed
                    .split(',')
                    .map(str::trim)
                    .filter(|word| !word.is_empty());
                let chosen: Result<Vec<_>, _> = words.map(|word| choose(word, &options)).collect();
                json!(chosen?)
            }
            (None, PrimitiveSchema::Boolean(_)) => {
                Value::Bool(yes_or_no(typed).ok_or("answer yes or no")?)
            }
            (None, PrimitiveSchema::Number(_)) => {
                let number = serde_json::from_str(typed.trim()).map(Value::Number);
                number.map_err(|_| "that is not a number".to_owned())?
            }
            (None, PrimitiveSchema::String(_)) => Value::from(typed),
            (None, _) => serde_json::from_str(typed).unwrap_or_else(|_| Value::from(typed)),
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Checks that a value fits the field, formats included.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        let Ok(Value::Object(schema)) = serde_json::to_value(self.schema) else {
            return Ok(());
        };
        // The server enforces a pattern that this client cannot match.
        let Ok(validator) = Validator::compile_with(&schema, Formats::Enforced) else {
            return Ok(());
        };
        validator.validate(value).map_err(|violations| {
            let first = violations.first();
            let expected = first.map_or("something else", |violation| violation.expected.as_str());
            format!("expected {}", text::line(expected))
        })
    }

    fn member(&self, name: &str) -> Option<Value> {
        match serde_json::to_value(self.schema) {
            Ok(Value::Object(mut members)) => JsonObject::remove(&mut members, name),
            _ => None,
        }
    }
}

impl Entry {
    fn new(word: &str, title: &str) -> Self {
        Self {
            word: word.to_owned(),
            title: title.to_owned(),
        }
    }

    fn is(&self, typed: &str) -> bool {
        let typed = typed.to_lowercase();
        self.word.to_lowercase() == typed || self.title.to_lowercase() == typed
    }
}

/// Returns the word of an option, chosen by word, title or number.
fn choose(typed: &str, options: &[Entry]) -> Result<String, String> {
    let exact = options.iter().find(|option| option.word == typed);
    let alike = || options.iter().find(|option| option.is(typed));
    let numbered = || {
        let number: usize = typed.parse().ok()?;
        options.get(number.checked_sub(1)?)
    };
    let found = exact.or_else(alike).or_else(numbered);
    let wrong = || format!("`{}` is not one of these", text::line(typed));
    found.map(|option| option.word.clone()).ok_or_else(wrong)
}

/// Converts an answer to yes (true) or no (false). Returns `None` for other text.
pub(super) fn yes_or_no(typed: &str) -> Option<bool> {
    match typed.trim().to_lowercase().as_str() {
        "y" | "yes" | "true" | "on" | "1" => Some(true),
        "n" | "no" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn shown_format(format: &pintle::model::StringFormat) -> String {
    use pintle::model::StringFormat;
    match format {
        StringFormat::Email => "an e-mail address".to_owned(),
        StringFormat::Uri => "an address such as https://example.com".to_owned(),
        StringFormat::Date => "a date such as 2026-07-28".to_owned(),
        StringFormat::DateTime => "a time such as 2026-07-28T12:00:00Z".to_owned(),
        other => serde_json::to_value(other)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default(),
    }
}
