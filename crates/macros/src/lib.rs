//! The attributes of Pintle: a function becomes a tool, a prompt or a resource.
//!
//! Use them through the crate `pintle`, which re-exports them; their expansions name its paths.
//! Nothing here is magic: every expansion is an impl of a public trait over a public builder, and
//! can be written by hand. There is no hidden registry.

use proc_macro::TokenStream;

mod arguments;
mod attribute;
mod common;
mod doc;
mod expansion;
mod function;
mod option;
mod param;
mod prompt;
mod resource;
mod template;
mod tool;

/// Makes a tool of a function.
///
/// The function stays as it was. Beside it appears a type of the same name, `struct add {}`, that
/// implements `IntoTool`, so that `server.tool::<add>()` works wherever the function is in scope.
///
/// ```text
/// /// Adds two numbers.
/// #[tool(read_only)]
/// async fn add(
///     /// The first addend.
///     a: i64,
///     /// The second addend.
///     #[arg(default = 1, min = 0)]
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
/// ```
///
/// expands, besides the function itself, to
///
/// ```text
/// struct add {}
///
/// impl IntoTool for add {
///     fn into_tool() -> Tool {
///         #[derive(Deserialize, JsonSchema)]
///         struct Arguments { /* a and b, with descriptions and constraints */ }
///
///         Tool::new("add")
///             .description("Adds two numbers.")
///             .read_only(true)
///             .input::<Arguments>()
///             .on_call(|call: &ToolCall<'_>| {
///                 let arguments = call.arguments::<Arguments>()?;
///                 Ok(add(arguments.a, arguments.b))
///             })
///     }
/// }
/// ```
///
/// # Options
///
/// - `name = "…"`, `title = "…"`, `description = "…"`, `icon = "https://…"`: for people and
///   models. The name is the function's and the description its doc comment unless said otherwise.
/// - `read_only`, `destructive`, `idempotent`, `open_world`, each also `= false`: hints. What is
///   not said is not sent.
/// - `timeout = "30s"`: how long a call may take (`ms`, `s`, `m` or `h`).
/// - `scopes("files:write")`: who may see and call it.
/// - `task = optional`, `required` or `forbidden`: whether it may run as a task.
/// - `blocking`: the function is plain and blocks; it runs on the pool for that.
/// - `crate = path`: where the crate `pintle` is.
///
/// # Parameters
///
/// A doc comment on a parameter is its description, `Option<T>` may be left out. `#[arg(…)]` takes
/// `default`, `default = …`, `min`, `max`, `min_len`, `max_len`, `pattern`, `rename`, `header`;
/// what it says is part of the schema, and is enforced.
///
/// `Context`, `State<T>`, `Extension<T>`, `Principal` and `Option<Principal>` are abilities: the
/// server provides them, the schema does not know them. They are recognised by name; another type
/// that implements `Ability` is marked `#[ability]`. `Args<T>` takes the whole argument object.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expansion::expand::<tool::Tool>(options.into(), item.into()).into()
}

/// Makes a prompt of a function.
///
/// The function stays as it was. Beside it appears a type of the same name that implements
/// `IntoPrompt`, for `server.prompt::<review>()`.
///
/// ```text
/// /// Reviews code.
/// #[prompt(title = "Code review", complete(style = styles))]
/// async fn review(
///     /// The code.
///     code: String,
///     style: Option<Style>,
/// ) -> Vec<PromptMessage> { … }
/// ```
///
/// Each parameter is an argument, read from its text: strings, numbers, `bool`, enums, and
/// whatever deserialises from a string. `Option<T>` and `#[arg(default = …)]` may be left out.
///
/// # Options
///
/// `name`, `title`, `description`, `icon`, `scopes`, `crate` as for [`macro@tool`], and
/// `complete(argument = function, …)`: what proposes values for an argument, a function or a list.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expansion::expand::<prompt::Prompt>(options.into(), item.into()).into()
}

/// Makes a resource, or a family of resources, of a function.
///
/// The function stays as it was. Beside it appears a type of the same name that implements
/// `IntoResource`, for `server.resource::<doc>()`.
///
/// ```text
/// /// One page of the manual.
/// #[resource("docs://{slug}", mime = "text/markdown", complete(slug = slugs))]
/// async fn doc(slug: PathSegment, db: State<Db>) -> Result<String, NotFound> { … }
/// ```
///
/// Every variable of the URI template has a parameter of its name, and every parameter that is no
/// ability is a variable: anything else does not compile.
///
/// # Options
///
/// The URI or template comes first. Then `name`, `title`, `description`, `icon`, `scopes`, `crate` as
/// for [`macro@tool`], `mime = "…"`, and `complete(variable = function, …)`.
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    expansion::expand::<resource::Resource>(options.into(), item.into()).into()
}
