//! The reference of a tool to the code of tasks.

use std::any::Any;

/// The code of tasks, which is an eighth of a server. A program contains it only if one of its tools can be a task, or if it
/// sets options of tasks. Nothing else refers to it.
///
/// The type of the code is hidden, because tools are below the rooms of that code.
#[derive(Clone, Copy)]
pub(crate) struct TaskCode(pub(crate) &'static (dyn Any + Send + Sync));
