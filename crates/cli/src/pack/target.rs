//! The platforms of programs.

use super::error::PackError;

/// The target of a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The triple, such as `aarch64-apple-darwin`.
    pub(super) name: String,
    /// The name of the platform in a bundle.
    pub(super) platform: &'static str,
}

impl Target {
    /// Reads a triple such as `x86_64-unknown-linux-musl`.
    pub(super) fn parse(name: &str) -> Result<Self, PackError> {
        let parts: Vec<_> = name.split('-').collect();
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let platform = if parts.contains(&"linux") {
            "linux"
        } else if parts.contains(&"darwin") {
            "darwin"
        } else if parts.contains(&"windows") {
            "win32"
        } else {
            return Err(PackError::UnknownTarget(name.to_owned()));
        };
        match name.chars().all(is_safe) && parts.len() >= 3 {
            true => Ok(Self {
                name: name.to_owned(),
                platform,
            }),
            false => Err(PackError::UnknownTarget(name.to_owned())),
        }
    }

    /// Returns the path of the program in the bundle.
    pub(super) fn entry_point(&self, program: &str) -> String {
        match self.platform {
            "win32" => format!("server/{program}.exe"),
            _ => format!("server/{program}"),
        }
    }
}
