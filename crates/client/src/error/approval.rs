//! Why a tool is not called.

/// Why a tool was not called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// Nobody has approved it.
    #[error("the tool is not approved")]
    Never,
    /// It is not what was approved; or the server lists several tools of this name.
    #[error("the definition of the tool differs from the approved one")]
    Changed,
    /// The server does not list it, or so far behind that it is not looked at.
    #[error("the server does not list it")]
    Unlisted,
}
