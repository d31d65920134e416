//! Functions as handlers: any async function of up to eight parameters that a call can fill.

use crate::rejection::Rejection;
use crate::tool::extract::FromCall;
use crate::tool::result::IntoToolResult;
use crate::tool::{Tool, ToolCall};
use crate::tuples::all_tuples;

/// Handler of a tool: an async function or closure of up to eight parameters.
///
/// Every parameter is an ability ([`Context`](pintle_runtime::Context), [`State`](crate::State), …)
/// except at most one, which takes all arguments as a type that derives `Deserialize` and
/// `JsonSchema`. The schema comes from that type, the output schema from the return type.
///
/// `M` distinguishes functions of different parameters and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the handler of a tool",
    label = "no handler",
    note = "a handler is an async function of up to 8 parameters; all but one are abilities, one takes the arguments",
    note = "it returns something that implements `IntoToolResult`, and its future is `Send`"
)]
pub trait Handler<M>: Send + Sync + 'static {
    /// Future of the value that the function returns.
    type Future: Future<Output: IntoToolResult> + Send + 'static;

    /// Adds the needs of the parameters to the tool.
    fn describe(tool: Tool) -> Tool;

    /// Fills the parameters and begins a call.
    ///
    /// # Errors
    ///
    /// [`Rejection`] if a parameter cannot be filled.
    fn start(&self, call: &ToolCall<'_>) -> Result<Self::Future, Rejection>;
}

macro_rules! handlers {
    ($($param:ident $via:ident),*) => {
        impl<F, Fut, $($param, $via),*> Handler<($(($via, $param),)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: IntoToolResult> + Send + 'static,
            $($param: FromCall<$via>,)*
        {
            type Future = Fut;

            fn describe(tool: Tool) -> Tool {
                $(let tool = $param::describe(tool);)*
                tool
            }

            #[allow(unused_variables)]
            fn start(&self, call: &ToolCall<'_>) -> Result<Fut, Rejection> {
                Ok(self($($param::from_call(call)?),*))
            }
        }
    };
}

all_tuples!(handlers, up to 8);
