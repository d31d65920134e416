//! Why a tool is not called.

/// Why a tool was not called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// Nobody has approved it.
    #[error("nobody has approved it")]
    Never,
    /// It is not what was approved; or the server lists several tools of this name.
    #[error("it is not what was approved")]
    Changed,
    /// The server does not list it, or so far behind that it is not looked at.
    #[error("the server does not list it")]
    Unlisted,
}
