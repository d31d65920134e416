//! Hosts with limits of their own.

use std::fmt;

use serde::Serialize;

/// A host, or the API behind it, that has limits for tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Host {
    /// Claude Desktop, claude.ai, Claude Code, and the API of Anthropic.
    Claude,
    /// The API of OpenAI, with strict functions, and clients that use it.
    OpenAi,
    /// The API of Gemini, and clients that use it.
    Gemini,
    /// GitHub Copilot in VS Code and in the terminal.
    Copilot,
    /// Cursor, the editor.
    Cursor,
}

impl Host {
    /// Every host with rules.
    pub const ALL: [Self; 5] = [
        Self::Claude,
        Self::OpenAi,
        Self::Gemini,
        Self::Copilot,
        Self::Cursor,
    ];

    /// The name of the host on a command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Claude => "Claude",
            Self::OpenAi => "OpenAI",
            Self::Gemini => "Gemini",
            Self::Copilot => "Copilot",
            Self::Cursor => "Cursor",
        })
    }
}
