//! The values of a template's variables.

use super::error::VariableError;
use super::typed::FromVariable;

/// Values by name, in the order they were set or matched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variables {
    values: Vec<(String, VariableValue)>,
}

/// The value of one variable, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableValue {
    /// One text.
    Text(String),
    /// Several texts: what `{x*}` makes of a list. Matching never makes an empty one.
    List(Vec<String>),
    /// Texts by name. It can be expanded; matching never makes one.
    Map(Vec<(String, String)>),
}

impl Variables {
    /// No variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable and returns the rest with it.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<VariableValue>) -> Self {
        self.insert(name, value);
        self
    }

    /// Sets a variable.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<VariableValue>) {
        let (name, value) = (name.into(), value.into());
        match self.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.values.push((name, value)),
        }
    }

    /// The value of a variable, if it has one.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&VariableValue> {
        self.values
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The value of a variable as a type of your own choice.
    ///
    /// # Errors
    ///
    /// [`VariableError`] if it is missing, is not a `T`, or would not be safe as one.
    pub fn get<T: FromVariable>(&self, name: &str) -> Result<T, VariableError> {
        let read = match self.value(name) {
            Some(value) => T::from_variable(value),
            None => T::when_absent(),
        };
        read.map_err(|fault| VariableError {
            name: name.to_owned(),
            fault,
        })
    }

    /// All variables that have a value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &VariableValue)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }
}

impl From<&str> for VariableValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for VariableValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for VariableValue {
    fn from(texts: Vec<String>) -> Self {
        Self::List(texts)
    }
}
