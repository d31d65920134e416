//! The MCP client: one handle for a server of any revision.
//!
//! ```
//! # async fn example(server: impl pintle_runtime::Service) -> Result<(), Box<dyn std::error::Error>> {
//! use pintle_client::{Client, InProcess};
//! use pintle_runtime::Answer;
//! use serde_json::json;
//!
//! let client = Client::builder()
//!     .on_elicit(|form| async move {
//!         // Ask the user; this example accepts the defaults.
//!         Answer::Accepted(form.defaults)
//!     })
//!     .roots(["file:///src"])
//!     .connect(InProcess::new(server))
//!     .await?;
//! let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! # drop(sum);
//! # Ok(())
//! # }
//! ```
//!
//! With the crate `pintle` and its feature `http-client`, a URL is enough: `Client::connect("https://…")`.
//!
//! - **Era.** The client asks the server what it is, and speaks the newest revision that both
//!   know: see [`EraMode`]. Calls look the same in all of them.
//! - **Calls.** Every method gives a [`Call`] or a [`List`] that is made when it is awaited, with
//!   options on the way: time-outs, progress, metadata. Dropping the future gives the call up.
//! - **Questions.** Handlers are registered once; they answer a server's request up to 2025-11-25
//!   and a question inside of a result since. What is not registered is not declared, and what is
//!   not declared is refused.
//! - **Tasks.** A call that becomes a task is followed to its end; [`Call::as_task`] gives it a
//!   name instead, with which any later process finds it again: [`Client::task`].
//! - **Approvals.** A tool that differs from its approved form is reported, or not called:
//!   [`Approvals`].
//! - **Outputs.** Structured content is checked against what its tool promises: [`OutputCheck`].
//! - **Bounds.** Everything that waits or grows has a bound: [`ClientOptions`].
//! - **Ends.** A conversation that is lost is opened again by the next call.

mod api;
mod approvals;
mod attempt;
mod cache;
mod cache_invalidation;
mod call;
mod change_queue;
mod checked;
mod checks;
mod client;
mod client_tasks;
mod connect;
mod conversation;
mod dispatch;
mod era;
mod error;
mod exchange;
mod execute;
mod follow;
mod forwarded;
mod group;
mod handlers;
mod into_connect;
mod keep_alive;
mod list;
mod listen;
mod opening;
mod options;
mod output_schema;
mod pending_task;
mod pending_visits;
mod question_types;
mod questions;
mod recovery;
mod request;
mod result;
mod rounds;
mod state;
mod subscribe;
mod targets;
mod task;
mod task_events;
mod tool_cache;
mod tool_lookup;
mod turns;
mod url;

pub use approvals::Approvals;
pub use call::{Call, CallFuture, RunningCall};
pub use client::{Client, ClientBuilder};
pub use conversation::ServerInfo;
pub use era::{Era, EraCache, EraMode};
pub use error::{
    ApprovalError, CallError, ConnectError, Misbehavior, OutputError, OutputErrorKind,
    QuestionError, SamplingError,
};
pub use group::{
    AddMemberError, Group, GroupCall, GroupChanges, GroupError, GroupList, GroupOptions,
    MemberChange, MemberError, MemberItem, MemberState, MemberTarget,
};
pub use into_connect::{ByConnect, ByService, IntoConnect};
pub use list::{CompleteList, InvalidItem, Item, List, Page, Pages, RawList};
pub use listen::Subscription;
pub use options::ClientOptions;
pub use output_schema::OutputCheck;
pub use question_types::{FormQuestion, UrlQuestion};
#[cfg(unix)]
pub use targets::Unix;
pub use targets::{InProcess, InProcessTransport, Streams, Tcp, in_process};
pub use task::{Task, TaskCall, TaskStart, TaskWait};
