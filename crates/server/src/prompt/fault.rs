//! Why a prompt cannot be offered.

use pintle_model::errors;
use pintle_schema::SchemaError;

use super::Prompt;

errors! {
    /// Mistake in the definition of a prompt. The server reports it when it starts.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum PromptDefinitionError {
        /// The prompt has no name.
        EmptyName => "the name is empty",
        /// The arguments cannot be taken from the type.
        Arguments(cause: SchemaError)
            => "the arguments cannot be taken from their type" (source: cause),
        /// An argument has a type that no text can be read as: arguments of prompts are text.
        NotText {
            /// Name of the argument.
            name: Box<str>,
        }
            => "the argument `{name}` is a list, a map or a struct, which text cannot fill; take a `String` and parse it",
        /// Two parameters of its handler take all arguments.
        Ambiguous => "two parameters of the handler take all arguments: make them one type",
        /// Two arguments have the same name.
        Duplicate {
            /// The name that occurs twice.
            name: Box<str>,
        } => "there are two arguments `{name}`",
        /// A completer is set for a name that is not an argument.
        NoArgument {
            /// The name that the completer is set for.
            name: Box<str>,
        } => "there is no argument `{name}` to complete",
        /// An argument has two completers.
        CompletedTwice {
            /// Name of the argument.
            name: Box<str>,
        } => "the argument `{name}` has two completers",
        /// The prompt has no handler.
        NoHandler => "the prompt runs nothing: give it a handler",
    }
}

/// Checks everything that can be checked before the first use.
pub(super) fn check(prompt: &Prompt) -> Result<(), PromptDefinitionError> {
    if prompt.name().is_empty() {
        return Err(PromptDefinitionError::EmptyName);
    }
    if let Some(fault) = &prompt.fault {
        return Err(fault.clone());
    }
    let arguments: Vec<&str> = prompt
        .declared()
        .iter()
        .map(|argument| &*argument.name)
        .collect();
    if let Some(name) = duplicate(&arguments) {
        return Err(PromptDefinitionError::Duplicate { name: name.into() });
    }
    check_completers(prompt, &arguments)?;
    match prompt.run {
        None => Err(PromptDefinitionError::NoHandler),
        Some(_) => Ok(()),
    }
}

fn check_completers(prompt: &Prompt, arguments: &[&str]) -> Result<(), PromptDefinitionError> {
    let completed: Vec<&str> = prompt.completers.names().collect();
    if let Some(name) = completed.iter().find(|name| !arguments.contains(name)) {
        return Err(PromptDefinitionError::NoArgument {
            name: (*name).into(),
        });
    }
    match duplicate(&completed) {
        Some(name) => Err(PromptDefinitionError::CompletedTwice { name: name.into() }),
        None => Ok(()),
    }
}

fn duplicate<'n>(names: &[&'n str]) -> Option<&'n str> {
    let mut seen = std::collections::BTreeSet::new();
    names.iter().copied().find(|name| !seen.insert(*name))
}
