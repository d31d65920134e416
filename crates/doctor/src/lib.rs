//! Finds out why an MCP server does not work in a host, and names the file and the line to change.
//!
//! A diagnosis has two parts. [`gather::examine`] reads the definition of a server, starts it as its host would, and
//! returns [`Facts`]. [`diagnose`] and [`diagnose_files`] turn facts into [`Finding`]s; they perform no I/O. The table
//! of [`rules`] has every rule with its severity.
//!
//! The caller states with [`Permission`] whether a server may be used. Without it nothing of the definition is
//! expanded, started or contacted: the file of a project may come from a stranger.
//!
//! [`auth`] checks each step of the authorization of a server at a URL.

pub mod auth;
mod diagnose;
mod facts;
mod finding;
pub mod gather;
mod options;
mod redact;
mod rule;

pub use diagnose::{diagnose, diagnose_files};
pub use facts::{
    Contact, Conversation, Definition, Ending, EndpointFacts, Facts, Failure, LeftProcess,
    ListFacts, Lookup, MissingFile, Place, ProgramFacts, RunFacts, State, TokenFacts, ToolFinding,
    UnexpandedFacts,
};
pub use finding::Finding;
pub use options::DoctorOptions;
pub use rule::{Rule, Severity, rules};

/// Whether a server may be used for the diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// The user agreed: variables are expanded, a program is started, a URL is contacted.
    Use,
    /// Only the text of the definition is checked.
    ReadDefinition,
}
