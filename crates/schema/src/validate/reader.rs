//! Typed access to the keywords of one schema.

use pintle_model::JsonObject;
use serde_json::{Number, Value};

use super::node::NameLists;
use crate::schema::SchemaError;
use crate::schema::keywords::{join, value_of};
use crate::schema::reading::Reading;

/// One schema object, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'p, 's> {
    pub(super) pointer: &'p str,
    pub(super) schema: &'s JsonObject,
    pub(super) reading: Reading,
}

impl<'s> Reader<'_, 's> {
    pub(super) fn at(&self, keyword: &str) -> String {
        join(self.pointer, keyword)
    }

    /// Returns the value of a keyword, if the dialect has it.
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        let value = value_of(self.schema, keyword)?;
        let is_known = !self.reading.is_foreign() || self.reading.knows(self.schema, keyword);
        is_known.then_some(value)
    }

    pub(super) fn count(&self, keyword: &str) -> Result<Option<u64>, SchemaError> {
        self.read(
            keyword,
            "a whole number, zero or more",
            |value| match value.as_u64() {
                Some(count) => Some(count),
                None => value
                    .as_f64()
                    .filter(|f| *f >= 0.0 && f.fract() == 0.0)
                    .map(|f| f as u64),
            },
        )
    }

    pub(super) fn number(&self, keyword: &str) -> Result<Option<Number>, SchemaError> {
        self.read(keyword, "a number", |value| match value {
            Value::Number(number) => Some(number.clone()),
            _ => None,
        })
    }

    pub(super) fn divisor(&self, keyword: &str) -> Result<Option<Number>, SchemaError> {
        self.read(keyword, "a number above zero", |value| match value {
            Value::Number(number) if number.as_f64().is_some_and(|f| f > 0.0) => {
                Some(number.clone())
            }
            _ => None,
        })
    }

    pub(super) fn flag(&self, keyword: &str) -> Result<bool, SchemaError> {
        let flag = self.read(keyword, "a boolean", Value::as_bool)?;
        Ok(flag.unwrap_or(false))
    }

    pub(super) fn text(&self, keyword: &str) -> Result<Option<&'s str>, SchemaError> {
        self.read(keyword, "a string", Value::as_str)
    }

    pub(super) fn list(&self, keyword: &str) -> Result<Option<&'s [Value]>, SchemaError> {
        self.read(keyword, "an array", |value| {
            value.as_array().map(Vec::as_slice)
        })
    }

    pub(super) fn map(&self, keyword: &str) -> Result<Option<&'s JsonObject>, SchemaError> {
        self.read(keyword, "an object", Value::as_object)
    }

    pub(super) fn strings(&self, keyword: &str) -> Result<Option<Vec<String>>, SchemaError> {
        self.read(keyword, "an array of strings", strings)
    }

    pub(super) fn string_lists(&self, keyword: &str) -> Result<Option<NameLists>, SchemaError> {
        self.read(keyword, "an object of arrays of strings", |value| {
            let lists = value.as_object()?.iter();
            lists
                .map(|(name, list)| Some((name.clone(), strings(list)?)))
                .collect()
        })
    }

    fn read<T>(
        &self,
        keyword: &str,
        expected: &'static str,
        read: impl Fn(&'s Value) -> Option<T>,
    ) -> Result<Option<T>, SchemaError> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        read(value).map(Some).ok_or_else(|| SchemaError::Malformed {
            pointer: self.at(keyword),
            expected,
        })
    }
}

pub(super) fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?.iter();
    items.map(|item| item.as_str().map(str::to_owned)).collect()
}
