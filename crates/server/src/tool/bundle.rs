//! Types that stand for tools, alone and in tuples.

use crate::tool::Tool;
use crate::tuples::all_tuples;

/// A type that stands for a tool; `#[tool]` makes one beside the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "does not stand for a tool",
    note = "put `#[tool]` on the function; a `Tool` built by hand is added with `add_tool`"
)]
pub trait IntoTool {
    /// Makes the tool.
    fn into_tool() -> Tool;
}

/// Several tools at once: a tuple of up to 16 types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of tools",
    note = "write a tuple of tools: `server.tools::<(add, sub)>()`"
)]
pub trait ToolSet {
    /// Makes the tools, in order.
    fn into_tools() -> Vec<Tool>;
}

macro_rules! tool_sets {
    () => {};
    ($($tool:ident $_via:ident),+) => {
        impl<$($tool: IntoTool),+> ToolSet for ($($tool,)+) {
            fn into_tools() -> Vec<Tool> {
                vec![$($tool::into_tool()),+]
            }
        }
    };
}

all_tuples!(tool_sets, up to 16);
