//! Judges an MCP server by the requirements of the protocol.
//!
//! [`check`] opens conversations with a [`Target`] in each revision that it serves, over stdio or
//! Streamable HTTP. It makes the checks of [`checks`] and returns a [`Report`]. A [`Finding`] has the
//! check, the requirements behind it, the sent bytes, the answer, and the expected behavior.
//!
//! ```no_run
//! use pintle_check::{CheckOptions, Level, Target, check};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::http("http://127.0.0.1:3000/mcp", &Default::default())?;
//! let report = check(&target, CheckOptions::default()).await?;
//! assert_eq!(report.failed(Level::Must), 0, "{:#?}", report.failures());
//! # Ok(())
//! # }
//! ```
//!
//! # Safety of a run
//!
//! A tool is called only if its annotations state that it is read-only and it requires no arguments, or if
//! [`CheckOptions::tools`] names it. Resources are read and prompts are got. Each answer is bounded in size
//! and time.
//!
//! # Requirements
//!
//! The ids of requirements are those of the tables behind `docs/SPEC-MAP.md` in the repository. Those of the
//! revisions with a handshake share one table. Ids of the form `H-1` are behaviors that Pintle promises: the
//! specification is silent about them.

mod check;
mod checks;
mod client;
mod finding;
mod level;
mod log;
mod options;
mod peer;
mod report;
mod run;
mod target;
mod text;
mod value;
mod wire;

pub use check::Check;
pub use checks::checks;
pub use client::{
    ClientCheck, ClientServer, ScriptedServer, StdioServer, Visitor, check_client, client_checks,
};
pub use finding::{Finding, Verdict};
pub use level::{Carrier, Level};
pub use options::{AllowedTool, CheckOptions};
pub use report::{Report, Side};
pub use run::{CheckError, check};
pub use target::{OpenError, Target};

/// Judges the server at a URL with the default options.
///
/// # Errors
///
/// [`CheckError`] if the URL is invalid, or no revision can be judged.
pub async fn check_http(url: &str) -> Result<Report, CheckError> {
    let target = Target::http(url, &Default::default())?;
    check(&target, CheckOptions::default()).await
}
