//! Reasons why a client refuses to call a tool.

/// The reason why a pinned tool was not called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The tool was never approved.
    #[error("the tool is not approved")]
    Never,
    /// The tool differs from its approved definition, or the server lists several tools of this
    /// name.
    #[error("the definition of the tool differs from the approved one")]
    Changed,
    /// The server does not list the tool, or the tool lies beyond the limits of the list or the
    /// cache.
    #[error("the server does not list the tool")]
    Unlisted,
}
