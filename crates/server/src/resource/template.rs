//! URI templates (RFC 6570): expanding them, and matching URIs against them.
//!
//! All four levels expand. The RFC leaves matching open, so it is our own. `{x}` is one path segment
//! or a part of it, and `{+x}` any path. `{/x*}` is the segments of a path. `{?x,y}` is parameters
//! that are optional and have no order. A matched value is decoded exactly once.

pub use error::{TemplateError, VariableError, VariableErrorKind};
pub(crate) use percent::percent_encoded;
pub use safe_path::{PathSegment, RelativePath};
pub use typed::FromVariable;
pub use variables::{VariableValue, Variables};

mod error;
mod expand;
mod expression;
mod matching;
mod parse;
mod path;
mod percent;
mod query;
mod safe_path;
mod typed;
mod variables;

use expression::Part;
use matching::Matcher;

/// The longest template, in bytes.
pub(crate) const MAX_TEMPLATE: usize = 8 * 1024;

/// How many variables a template may have.
pub(crate) const MAX_VARIABLES: usize = 256;

/// The longest URI that is matched or made, in bytes.
pub(crate) const MAX_URI: usize = 64 * 1024;

/// A URI template.
#[derive(Debug, Clone)]
pub struct Template {
    source: Box<str>,
    parts: Vec<Part>,
    matcher: Result<Matcher, TemplateError>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// [`TemplateError`] names what is wrong and where. A template that is well-formed and cannot be
    /// matched is not an error here: see [`Template::check_matchable`].
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        let parts = parse::parse(source)?;
        Ok(Self {
            source: source.into(),
            matcher: Matcher::new(&parts),
            parts,
        })
    }

    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The names of the variables, in the order they are written.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.parts.iter().filter_map(Part::as_expression);
        expressions.flat_map(|expression| expression.variables.iter().map(|v| &*v.name))
    }

    /// Whether a URI may leave the variable out: those of a query, and lists of path segments.
    #[must_use]
    pub fn is_optional(&self, variable: &str) -> bool {
        let mut expressions = self.parts.iter().filter_map(Part::as_expression);
        expressions.any(|expression| expression.may_leave_out(variable))
            || self
                .matcher
                .as_ref()
                .is_ok_and(|matcher| matcher.may_leave_out(variable))
    }

    /// Checks that URIs can be matched against the template.
    ///
    /// # Errors
    ///
    /// [`TemplateError::Unmatchable`] names the variable and the reason.
    pub fn check_matchable(&self) -> Result<(), TemplateError> {
        self.matcher.as_ref().map(drop).map_err(Clone::clone)
    }

    /// Finds the variables that make the template this URI. `None` if no values do, if the
    /// text is not a URI, or if the template cannot be matched at all.
    ///
    /// Takes time linear in the URI. Parameters of the query that the template does not know are
    /// left aside.
    #[must_use]
    pub fn matches(&self, uri: &str) -> Option<Variables> {
        let is_clean = |byte: u8| byte > b' ' && byte != 0x7F;
        if uri.len() > MAX_URI || !uri.bytes().all(is_clean) {
            return None;
        }
        self.matcher.as_ref().ok()?.matches(uri)
    }

    /// Makes the URI of these variables. A variable that is not given is left out.
    ///
    /// # Errors
    ///
    /// [`TemplateError::UriTooLong`], or [`TemplateError::PrefixOfMany`] if a `{x:3}` is given more
    /// than one text.
    pub fn expand(&self, variables: &Variables) -> Result<String, TemplateError> {
        expand::expand(&self.parts, variables)
    }
}

#[cfg(test)]
mod tests;
