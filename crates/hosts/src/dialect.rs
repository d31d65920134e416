//! How each host writes a server: the file that gets it, and the names of its members.

use super::host::Host;

/// How a host writes a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// The files of the user that may get a server.
    pub(super) user: Places,
    /// The files of a project that may get a server.
    pub(super) project: Places,
    /// The value of `type` for a program.
    pub(super) program_type: Option<&'static str>,
    /// The member with the program. `command` and `args` are one list if its name ends with `[]`.
    pub(super) command: &'static str,
    /// The member with the environment.
    pub(super) environment: &'static str,
    /// Whether a program has `cwd`.
    pub(super) has_directory: bool,
    /// Whether a program has `envFile`.
    pub(super) has_env_file: bool,
    /// The value of `type` for a URL.
    pub(super) url_type: Option<&'static str>,
    /// The member with the URL. Absent if the file has programs only.
    pub(super) url: Option<&'static str>,
    /// The path of the member with the headers.
    pub(super) headers: &'static [&'static str],
    /// Whether `type` can be `sse`.
    pub(super) has_sse: bool,
    /// Members that do not depend on the server.
    pub(super) extras: Extras,
}

/// Which of a host's files gets a server, by their positions in the table of hosts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Places {
    /// The host has no such file.
    None,
    /// The first of these that exists; otherwise the first whose directory exists; otherwise the first.
    Any(&'static [usize]),
    /// The first position if that file exists, otherwise the second.
    ExistingOr(usize, usize),
    /// A JSON file of the server's own, in the directory at this position.
    OwnFile(usize),
}

/// Members that do not depend on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extras {
    None,
    /// `source`, which Zed required until 2025.
    Source,
    /// The member `tools`, which permits all tools.
    Tools,
    /// The member `enabled` with the value true.
    Enabled,
    /// `name`, `description`, `enabled` and `timeout` of Goose.
    Extension,
    /// The members of Codex that name variables of the environment.
    EnvNames,
}

/// Most hosts follow the first one: Claude Desktop.
const COMMON: Dialect = Dialect {
    user: Places::Any(&[0]),
    project: Places::Any(&[0]),
    program_type: None,
    command: "command",
    environment: "env",
    has_directory: false,
    has_env_file: false,
    url_type: None,
    url: Some("url"),
    headers: &["headers"],
    has_sse: false,
    extras: Extras::None,
};

/// The hosts of Microsoft, and Claude Code.
const TYPED: Dialect = Dialect {
    program_type: Some("stdio"),
    url_type: Some("http"),
    has_sse: true,
    ..COMMON
};

impl Host {
    /// Whether its files can refer to variables of the environment.
    pub fn has_references(&self) -> bool {
        !self.syntaxes.is_empty() || self.dialect().extras == Extras::EnvNames
    }

    /// Returns how the host writes a server.
    pub(super) fn dialect(&self) -> Dialect {
        match self.id {
            "claude-code" => TYPED,
            "claude" => Dialect {
                project: Places::None,
                url: None,
                ..COMMON
            },
            "vscode" => Dialect {
                user: Places::Any(&[0, 1, 2]),
                has_directory: true,
                has_env_file: true,
                ..TYPED
            },
            "visual-studio" => Dialect {
                project: Places::ExistingOr(0, 1),
                ..TYPED
            },
            "copilot" => Dialect {
                program_type: Some("local"),
                has_directory: true,
                extras: Extras::Tools,
                ..TYPED
            },
            "cursor" => Dialect {
                has_env_file: true,
                ..COMMON
            },
            "windsurf" => Dialect {
                user: Places::Any(&[0, 1]),
                project: Places::None,
                url: Some("serverUrl"),
                ..COMMON
            },
            "zed" => Dialect {
                extras: Extras::Source,
                ..COMMON
            },
            "gemini" | "qwen" => Dialect {
                has_directory: true,
                url: Some("httpUrl"),
                ..COMMON
            },
            "antigravity" => Dialect {
                user: Places::Any(&[0, 1]),
                project: Places::Any(&[0, 1]),
                url: Some("serverUrl"),
                ..COMMON
            },
            "codex" => Dialect {
                has_directory: true,
                headers: &["http_headers"],
                extras: Extras::EnvNames,
                ..COMMON
            },
            _ => self.later_dialect(),
        }
    }

    fn later_dialect(&self) -> Dialect {
        match self.id {
            "lmstudio" => Dialect {
                project: Places::None,
                ..COMMON
            },
            "cline" => Dialect {
                user: Places::Any(&[0, 1]),
                project: Places::None,
                url_type: Some("streamableHttp"),
                has_sse: true,
                ..COMMON
            },
            "roo" | "kilo" => Dialect {
                user: Places::Any(&[0, 1][..self.user.len()]),
                url_type: Some("streamable-http"),
                has_sse: true,
                has_directory: true,
                ..COMMON
            },
            "amazonq" => Dialect {
                user: Places::ExistingOr(0, 2),
                project: Places::ExistingOr(0, 2),
                url_type: Some("http"),
                ..COMMON
            },
            "opencode" => Dialect {
                user: Places::Any(&[0, 1]),
                project: Places::Any(&[0, 1]),
                program_type: Some("local"),
                command: "command[]",
                environment: "environment",
                url_type: Some("remote"),
                extras: Extras::Enabled,
                ..COMMON
            },
            "continue" => Dialect {
                user: Places::OwnFile(1),
                project: Places::OwnFile(0),
                url_type: Some("streamable-http"),
                headers: &["requestOptions", "headers"],
                has_sse: true,
                ..COMMON
            },
            "goose" => Dialect {
                user: Places::Any(&[1, 0]),
                project: Places::None,
                program_type: Some("stdio"),
                command: "cmd",
                environment: "envs",
                url_type: Some("streamable_http"),
                url: Some("uri"),
                extras: Extras::Extension,
                ..COMMON
            },
            _ => COMMON,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HOSTS;

    #[test]
    fn every_place_is_a_file_that_the_host_reads() {
        for host in HOSTS {
            let dialect = host.dialect();
            for (places, count) in [
                (dialect.user, host.user.len()),
                (dialect.project, host.project.len()),
            ] {
                let is_there = match places {
                    Places::None => true,
                    Places::Any(positions) => positions.iter().all(|position| *position < count),
                    Places::ExistingOr(first, second) => first.max(second) < count,
                    Places::OwnFile(position) => position < count,
                };
                assert!(is_there, "{}: {places:?}", host.id);
            }
            let has_file = !host.project.is_empty();
            let is_written = !matches!(dialect.project, Places::None);
            assert_eq!(has_file, is_written, "{}", host.id);
        }
    }
}
