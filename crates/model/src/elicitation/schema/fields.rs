//! The fields of a form, in the order in which they are shown.

use crate::read::{Members, Object, Read, ReadError, deserialize_by_read, read_by_build};

use serde::{Serialize, Serializer};

use super::PrimitiveSchema;

/// Fields by name, in order. Names are found by linear search, because forms are short.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ElicitFields(Vec<(String, PrimitiveSchema)>);

impl ElicitFields {
    /// Adds a field at the end, or replaces the field with the same name.
    pub fn insert(&mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) {
        let (name, field) = (name.into(), field.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = field,
            None => self.0.push((name, field)),
        }
    }

    /// The field `name`.
    pub fn get(&self, name: &str) -> Option<&PrimitiveSchema> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, field)| field)
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PrimitiveSchema)> {
        self.0.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// The fields in order, to change.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut PrimitiveSchema> {
        self.0.iter_mut().map(|(_, field)| field)
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, F: Into<PrimitiveSchema>> FromIterator<(N, F)> for ElicitFields {
    fn from_iter<I: IntoIterator<Item = (N, F)>>(fields: I) -> Self {
        let mut form = Self::default();
        for (name, field) in fields {
            form.insert(name, field);
        }
        form
    }
}

impl Serialize for ElicitFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Object for ElicitFields {
    const EXPECTED: &'static str = "an object of fields";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut fields = Self::default();
        while let Some(name) = members.next_name()? {
            let field = PrimitiveSchema::read(members)?;
            if fields.get(&name).is_some() {
                return Err(ReadError::Value(format!("duplicate field `{name}`")));
            }
            fields.0.push((name.into_owned(), field));
        }
        Ok(fields)
    }
}

read_by_build!(ElicitFields);
deserialize_by_read!(ElicitFields);
