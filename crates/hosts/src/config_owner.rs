//! The owners of configuration files.

/// The owner of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigOwner {
    /// The author of the project, who may be a stranger.
    Project,
    /// Unknown: the file was named on the command line and is not a file of the user's own.
    Named,
    /// The user of this machine, or its owner.
    User,
}
