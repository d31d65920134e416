//! The attributes of Pintle. They turn a function or a method into a tool, a prompt or a resource. They also turn a
//! type into data with a schema, and a server into a program.
//!
//! Use them through the crate `pintle`, which re-exports them, because the expansions name its paths.
//! An expansion implements a public trait with a public builder, and can be written by hand. There
//! is no hidden registry.

use proc_macro::TokenStream;

mod arguments;
mod attribute;
mod common;
mod data;
mod doc;
mod expansion;
mod function;
mod item;
mod keywords;
mod main_function;
mod methods;
mod option;
mod param;
mod prompt;
mod resource;
mod template;
mod tool;

/// Turns a function into a tool.
///
/// The function does not change. The attribute adds a type of the same name, `struct add {}`, that
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
///   models. By default the name is the name of the function, and the description its doc comment.
/// - `read_only`, `destructive`, `idempotent`, `open_world`, each also `= false`: hints. An absent
///   hint is not sent.
/// - `timeout = "30s"`: the longest time that a call may take, in `ms`, `s`, `m` or `h`.
/// - `scopes("files:write")`: the scopes that a caller needs to see and call the tool.
/// - `tags("admin")`: tags, by which `Server::only_tags` and `without_tags` choose.
/// - `task = optional`, `required` or `forbidden`: whether the tool may run as a task.
/// - `blocking`: the function is not async and blocks, so it runs on the pool of blocking threads.
/// - `crate = path`: the path of the crate `pintle`.
///
/// # Parameters
///
/// A doc comment on a parameter is its description. So is a line in the doc comment of the function, in a list below
/// `# Arguments`. Its form is ``- `city`: The name of the city``. An argument of type `Option<T>` may be absent.
/// `#[arg(…)]` accepts `default`, `default = …`, `min`, `max`, `min_len`, `max_len`, `pattern`,
/// `one_of("…", "…")`, `rename` and `header`. These options are part of the schema, and are enforced.
///
/// `Context`, `State<T>`, `Locked<T>`, `Extension<T>`, `Principal` and `Option<Principal>` are abilities: the
/// server provides them, and the schema does not have them. They are recognised by name. Another
/// type that implements `Ability` is marked `#[ability]`. `Args<T>` is the whole argument object.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expansion::expand::<tool::Tool>(options.into(), item.into()).into()
}

/// Turns methods of a type into tools, resources and prompts.
///
/// The attribute stands on an `impl` block, and `#[tool]`, `#[resource]` and `#[prompt]` on its methods.
/// The block does not change. The attribute implements `Methods` for the type, so that
/// `server.methods(Desk::new())` offers them. All calls share the value.
///
/// ```text
/// #[tools]
/// impl Desk {
///     /// Closes a ticket.
///     #[tool(idempotent)]
///     async fn close(&self, id: u32) -> Result<String> { … }
///
///     /// One ticket.
///     #[resource("desk://tickets/{id}")]
///     async fn ticket(&self, id: u32) -> Result<String, NotFound> { … }
///
///     fn find(&self, id: u32) -> Option<Ticket> { … }
/// }
/// ```
///
/// expands, besides the block, to
///
/// ```text
/// impl Methods for Desk {
///     fn add_to(self: Arc<Self>, server: Server) -> Server {
///         let server = server.add_tool(/* as `#[tool]` builds it, with a clone of the `Arc` */);
///         server.add_resource(/* … */)
///     }
/// }
/// ```
///
/// A method takes `&self`, `self: Arc<Self>` or no `self`, and everything that a function takes. The type
/// is `Send`, `Sync` and `'static`.
///
/// A type has one block with the attribute; other blocks of the type have none. To divide many methods, make a type for each
/// group, with a clone of the same `Arc`, and call `server.methods(…)` for each.
///
/// # Options
///
/// - `crate = path`: the path of the crate `pintle`, for all methods of the block.
#[proc_macro_attribute]
pub fn tools(options: TokenStream, item: TokenStream) -> TokenStream {
    methods::expand(options.into(), item.into()).into()
}

/// Turns a function into a prompt.
///
/// The function does not change. The attribute adds a type of the same name that implements
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
/// Each parameter is an argument, read from its text: strings, numbers, `bool`, enums, and other
/// types that deserialize from a string. Arguments with `Option<T>` or `#[arg(default = …)]` may be
/// absent.
///
/// # Options
///
/// `name`, `title`, `description`, `icon`, `scopes`, `tags`, `crate` as for [`macro@tool`], and
/// `complete(argument = function, …)`: a function or a list that proposes values of the argument.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    expansion::expand::<prompt::Prompt>(options.into(), item.into()).into()
}

/// Turns a function into a resource, or into a template of resources.
///
/// The function does not change. The attribute adds a type of the same name that implements
/// `IntoResource`, for `server.resource::<doc>()`.
///
/// ```text
/// /// One page of the manual.
/// #[resource("docs://{slug}", mime = "text/markdown", complete(slug = slugs))]
/// async fn doc(slug: PathSegment, db: State<Db>) -> Result<String, NotFound> { … }
/// ```
///
/// Each variable of the URI template needs a parameter of its name. Each parameter is a variable or
/// an ability. Other functions do not compile.
///
/// # Options
///
/// The URI or template comes first. Then `name`, `title`, `description`, `icon`, `scopes`, `tags`, `crate` as
/// for [`macro@tool`], `mime = "…"`, and `complete(variable = function, …)`.
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    expansion::expand::<resource::Resource>(options.into(), item.into()).into()
}

/// Makes a type fit for arguments, results and forms.
///
/// ```text
/// #[data(rename_all = "lowercase")]
/// enum Unit {
///     #[default]
///     Celsius,
///     Fahrenheit,
/// }
/// ```
///
/// The type derives `Debug`, `Clone`, `Serialize`, `Deserialize` and `JsonSchema`. An enum without fields also derives
/// `Copy`, `PartialEq` and `Eq`, and one with `#[default]` derives `Default`. A derive that the type names itself is
/// not repeated. The traits are those that `pintle` re-exports, so the manifest needs neither `serde` nor `schemars`.
///
/// The fields are owned, as for every type that implements `Deserialize`. Attributes `#[serde(…)]` and
/// `#[schemars(…)]` on the type, its fields and its variants work as usual.
///
/// # Options
///
/// - `crate = path`: the path of the crate `pintle`. It comes first.
/// - `new`, before options of serde: a function `new` with a parameter for each field, in their order. It is as visible as the
///   type. `Ok(Json(Weather::new(city, temperature)))` is then a result in one line.
/// - All others are passed to `#[serde(…)]`: `rename_all`, `deny_unknown_fields`, `tag` and so on.
#[proc_macro_attribute]
pub fn data(options: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(options.into(), item.into()).into()
}

/// Turns a function that returns a server into a program.
///
/// ```text
/// #[pintle::main]
/// fn main() -> Server {
///     Server::new("calculator", "1.0.0").tool::<add>()
/// }
/// ```
///
/// The function may be async, and may return a `Result` of a server. The program serves the server as `Run::run` does:
/// on standard streams, or on the transport that the command line names. A function that serves in its body returns
/// `()` or a `Result` of it.
///
/// The function runs on the multi-threaded runtime of tokio, and the manifest does not need `tokio`. An error is printed with
/// its causes on standard error, and the exit code is 1. For another runtime write `#[tokio::main]`, and call
/// `server.run().await`.
///
/// # Options
///
/// - `crate = path`: the path of the crate `pintle`.
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    main_function::expand(options.into(), item.into()).into()
}
