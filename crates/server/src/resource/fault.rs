//! Why a resource cannot be offered.

use super::Resource;
use super::template::{MAX_URI, Template, TemplateError};
use pintle_model::errors;

errors! {
    /// Mistake in the definition of a resource. The server reports it when it starts.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ResourceDefinitionError {
        /// The address is not a valid URI.
        Uri {
            /// The part of the grammar that the address breaks.
            reason: &'static str,
        } => "invalid URI: {reason}",
        /// Its template cannot be matched.
        Template(cause: TemplateError) => "the template cannot be used" (source: cause),
        /// The resource has no name.
        EmptyName => "the name is empty",
        /// A size was given for a template, whose resources have one each.
        Sized => "a template has no size",
        /// A completer is set for a name that is not a variable.
        NoVariable {
            /// The name that the completer is set for.
            name: Box<str>,
        } => "there is no variable `{name}` to complete",
        /// A variable has two completers.
        CompletedTwice {
            /// Name of the variable.
            name: Box<str>,
        } => "the variable `{name}` has two completers",
        /// Its reader takes more or fewer variables than there are.
        Parameters {
            /// Number of variables that the reader takes.
            taken: usize,
            /// Number of variables in the template.
            all: usize,
        }
            => "the reader takes {taken} variables of {all}: it takes all of them in order, or none",
        /// The resource has no reader.
        NoHandler => "the resource has no reader; add one with `reader`",
    }
}

/// Checks everything that can be checked before the first read.
pub(super) fn check(resource: &Resource) -> Result<(), ResourceDefinitionError> {
    let variables = match &resource.template {
        None => check_uri(resource.uri()).map(|()| Vec::new())?,
        Some(template) => check_template(resource, template.as_ref())?,
    };
    if resource.name().is_empty() {
        return Err(ResourceDefinitionError::EmptyName);
    }
    check_completers(resource, &variables)?;
    let (taken, all) = (resource.taken, variables.len());
    match resource.run {
        None => Err(ResourceDefinitionError::NoHandler),
        Some(_) if taken == 0 || taken == all => Ok(()),
        Some(_) => Err(ResourceDefinitionError::Parameters { taken, all }),
    }
}

fn check_template<'t>(
    resource: &Resource,
    template: Result<&'t std::sync::Arc<Template>, &TemplateError>,
) -> Result<Vec<&'t str>, ResourceDefinitionError> {
    let template = template.map_err(|error| ResourceDefinitionError::Template(error.clone()))?;
    template
        .check_matchable()
        .map_err(ResourceDefinitionError::Template)?;
    let literal = resource.uri().split('{').next().unwrap_or_default();
    check_scheme(literal)?;
    match resource.definition.size {
        Some(_) => Err(ResourceDefinitionError::Sized),
        None => Ok(template.variables().collect()),
    }
}

fn check_completers(
    resource: &Resource,
    variables: &[&str],
) -> Result<(), ResourceDefinitionError> {
    let mut seen: Vec<&str> = Vec::new();
    for name in resource.completers.names() {
        if !variables.contains(&name) {
            return Err(ResourceDefinitionError::NoVariable { name: name.into() });
        }
        if seen.contains(&name) {
            return Err(ResourceDefinitionError::CompletedTwice { name: name.into() });
        }
        seen.push(name);
    }
    Ok(())
}

/// RFC 3986: a scheme, and nothing but the characters of URIs.
fn check_uri(uri: &str) -> Result<(), ResourceDefinitionError> {
    check_scheme(uri)?;
    let mut rest = uri.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'%', [a, b, after @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => after,
            (b'%', _) => return Err(bad("a `%` is followed by two hexadecimal digits")),
            _ if is_uri_byte(byte) => after,
            _ => return Err(bad("it has a character that must be percent-encoded")),
        };
    }
    match uri.len() {
        ..=MAX_URI => Ok(()),
        _ => Err(bad("it is too long")),
    }
}

fn check_scheme(uri: &str) -> Result<(), ResourceDefinitionError> {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme.as_bytes());
    let is_tail = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    match scheme {
        Some([first, tail @ ..]) if first.is_ascii_alphabetic() && tail.iter().all(is_tail) => {
            Ok(())
        }
        _ => Err(bad("it does not begin with a scheme such as `docs:`")),
    }
}

fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte)
}

fn bad(reason: &'static str) -> ResourceDefinitionError {
    ResourceDefinitionError::Uri { reason }
}
