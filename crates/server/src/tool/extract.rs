//! What the parameters of a handler are made from.

use std::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::ability::Ability;
use crate::rejection::Rejection;
use crate::tool::{Tool, ToolCall};

/// The whole argument object of a call, as one type.
///
/// The schema of the tool is that of `T`. Doc comments reach the model: the comment of `T` is the `description` of
/// the schema, and the comment of each field is the `description` of its property. A `#[schemars(description = "…")]`
/// replaces a comment. The description of the tool itself is another text: [`Tool::description`], or the
/// doc comment of the function under `#[tool]`.
///
/// ```
/// use pintle_server::{Args, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// A search in the manual.
/// #[derive(Deserialize, JsonSchema)]
/// struct Search {
///     /// The words to find.
///     words: String,
/// }
///
/// let tool = Tool::new("search").handler(async |Args(search): Args<Search>| search.words);
/// let schema = serde_json::json!(tool.definition().input_schema);
/// assert_eq!(schema["description"], "A search in the manual.");
/// assert_eq!(schema["properties"]["words"]["description"], "The words to find.");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Args<T>(pub T);

impl<T> Deref for Args<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Args<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A parameter of a [`Handler`](crate::Handler): an [`Ability`], [`Args`], or the arguments plain.
///
/// `Via` distinguishes these implementations and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "neither an ability nor readable from the arguments",
    note = "the arguments are taken as a type that derives `Deserialize` and `JsonSchema`"
)]
pub trait FromCall<Via>: Sized {
    /// Adds the needs of this parameter to the tool: a schema, or state.
    fn describe(tool: Tool) -> Tool;

    /// Takes the parameter out of a call.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if it is not in there.
    fn from_call(call: &ToolCall<'_>) -> Result<Self, Rejection>;
}

/// Marks parameters that the server provides.
#[derive(Debug)]
pub enum ViaAbility {}

/// Marks parameters that are [`Args`].
#[derive(Debug)]
pub enum ViaArgs {}

/// Marks parameters that are the arguments themselves.
#[derive(Debug)]
pub enum ViaArguments {}

impl<A: Ability> FromCall<ViaAbility> for A {
    fn describe(tool: Tool) -> Tool {
        tool.needs::<A>()
    }

    fn from_call(call: &ToolCall<'_>) -> Result<Self, Rejection> {
        call.ability()
    }
}

impl<T: DeserializeOwned + JsonSchema + 'static> FromCall<ViaArgs> for Args<T> {
    fn describe(tool: Tool) -> Tool {
        tool.input::<T>()
    }

    fn from_call(call: &ToolCall<'_>) -> Result<Self, Rejection> {
        call.arguments().map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema + 'static> FromCall<ViaArguments> for T {
    fn describe(tool: Tool) -> Tool {
        tool.input::<T>()
    }

    fn from_call(call: &ToolCall<'_>) -> Result<Self, Rejection> {
        call.arguments()
    }
}
