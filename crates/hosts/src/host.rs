//! The hosts whose files are known: one row each.
//!
//! A new host is a new row, if its file is JSON, TOML or YAML. Hosts that keep their servers in a
//! database or in an account are not here.

use std::path::PathBuf;

use super::config_path::{ConfigPath, Environment};
use super::document::PROJECT;
use super::variable_syntax::VariableSyntax;

/// A program that keeps servers in a file.
#[derive(Debug)]
pub struct Host {
    /// The name of the host in `@host/name`.
    pub id: &'static str,
    /// The name of the host in other texts.
    pub name: &'static str,
    /// Its files in a project, from the project's root. A star means every file of the directory.
    pub(super) project: &'static [&'static str],
    /// Its files of the user and of the machine.
    pub(super) user: &'static [ConfigPath],
    /// The paths of keys under which servers stand.
    pub(super) servers: &'static [&'static [&'static str]],
    /// How its files refer to variables.
    pub(super) syntaxes: &'static [VariableSyntax],
}

impl Host {
    /// Returns the hosts whose files are known, in the order in which they are listed.
    pub fn all() -> &'static [Self] {
        HOSTS
    }

    /// Returns the host of an id.
    pub fn by_id(id: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.id == id)
    }

    /// Its files of the user and of the machine, where they are on this machine.
    pub(super) fn own_files(&self, environment: &Environment<'_>) -> Vec<PathBuf> {
        let places = self.user.iter().filter_map(|place| place.path(environment));
        places.flat_map(|path| environment.files(path)).collect()
    }
}

const MCP_SERVERS: &[&[&str]] = &[&["mcpServers"]];

/// A file that was named, of any host.
pub(super) const FILE: Host = Host {
    id: "file",
    name: "file",
    project: &[],
    user: &[],
    servers: &[
        &["mcpServers"],
        &["servers"],
        &["context_servers"],
        &["mcp_servers"],
        &["mcp", "servers"],
    ],
    syntaxes: &[VariableSyntax::Editor, VariableSyntax::Braces],
};

/// The same for YAML: `extensions` has another meaning in JSON.
pub(super) const YAML_FILE: Host = Host {
    id: "file",
    name: "file",
    project: &[],
    user: &[],
    servers: &[&["mcpServers"], &["extensions"]],
    syntaxes: &[
        VariableSyntax::Secrets,
        VariableSyntax::Editor,
        VariableSyntax::Braces,
        VariableSyntax::Dollar,
    ],
};

/// The hosts, in the order in which they are listed.
pub(super) const HOSTS: &[Host] = &[
    Host {
        id: "claude-code",
        name: "Claude Code",
        project: &[".mcp.json"],
        user: &[
            ConfigPath::Var("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json"),
            ConfigPath::Machine([
                "/etc/claude-code/managed-mcp.json",
                "/Library/Application Support/ClaudeCode/managed-mcp.json",
                r"C:\Program Files\ClaudeCode\managed-mcp.json",
            ]),
        ],
        servers: &[&["mcpServers"], &["projects", PROJECT, "mcpServers"]],
        syntaxes: &[VariableSyntax::Braces],
    },
    Host {
        id: "claude",
        name: "Claude Desktop",
        project: &[],
        user: &[ConfigPath::Settings("Claude/claude_desktop_config.json")],
        servers: MCP_SERVERS,
        syntaxes: &[],
    },
    Host {
        id: "vscode",
        name: "VS Code",
        project: &[".vscode/mcp.json"],
        user: &[
            ConfigPath::Settings("Code/User/mcp.json"),
            ConfigPath::Settings("Code - Insiders/User/mcp.json"),
            ConfigPath::Settings("VSCodium/User/mcp.json"),
            // Servers stood among the settings before they had a file of their own.
            ConfigPath::Settings("Code/User/settings.json"),
        ],
        servers: &[&["servers"], &["mcp", "servers"]],
        syntaxes: &[VariableSyntax::Editor],
    },
    Host {
        id: "visual-studio",
        name: "Visual Studio",
        project: &[".vs/mcp.json", ".mcp.json"],
        user: &[ConfigPath::Home(".mcp.json")],
        servers: &[&["servers"]],
        syntaxes: &[VariableSyntax::Editor],
    },
    Host {
        id: "copilot",
        name: "Copilot CLI",
        // It reads Claude Code's `.mcp.json`, too.
        project: &[".github/mcp.json"],
        user: &[ConfigPath::Var(
            "COPILOT_HOME",
            "mcp-config.json",
            ".copilot/mcp-config.json",
        )],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Braces],
    },
    Host {
        id: "cursor",
        name: "Cursor",
        project: &[".cursor/mcp.json"],
        user: &[ConfigPath::Home(".cursor/mcp.json")],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Editor],
    },
    Host {
        id: "windsurf",
        name: "Windsurf",
        project: &[],
        user: &[
            ConfigPath::Home(".codeium/windsurf/mcp_config.json"),
            ConfigPath::Home(".codeium/mcp_config.json"),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Editor],
    },
    Host {
        id: "zed",
        name: "Zed",
        project: &[".zed/settings.json"],
        user: &[ConfigPath::Xdg("zed/settings.json")],
        servers: &[&["context_servers"]],
        syntaxes: &[],
    },
    Host {
        id: "gemini",
        name: "Gemini CLI",
        project: &[".gemini/settings.json"],
        user: &[
            ConfigPath::Home(".gemini/settings.json"),
            ConfigPath::Machine([
                "/etc/gemini-cli/settings.json",
                "/Library/Application Support/GeminiCli/settings.json",
                r"C:\ProgramData\gemini-cli\settings.json",
            ]),
            ConfigPath::Machine([
                "/etc/gemini-cli/system-defaults.json",
                "/Library/Application Support/GeminiCli/system-defaults.json",
                r"C:\ProgramData\gemini-cli\system-defaults.json",
            ]),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Braces, VariableSyntax::Dollar],
    },
    Host {
        id: "antigravity",
        name: "Antigravity",
        project: &[".agents/mcp_config.json", ".agent/mcp_config.json"],
        user: &[
            ConfigPath::Home(".gemini/config/mcp_config.json"),
            // Its first versions had a file of their own.
            ConfigPath::Home(".gemini/antigravity/mcp_config.json"),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[],
    },
    Host {
        id: "codex",
        name: "Codex",
        project: &[".codex/config.toml"],
        user: &[ConfigPath::Var(
            "CODEX_HOME",
            "config.toml",
            ".codex/config.toml",
        )],
        servers: &[&["mcp_servers"]],
        syntaxes: &[],
    },
    Host {
        id: "lmstudio",
        name: "LM Studio",
        project: &[],
        user: &[ConfigPath::Home(".lmstudio/mcp.json")],
        servers: MCP_SERVERS,
        syntaxes: &[],
    },
    Host {
        id: "cline",
        name: "Cline",
        project: &[],
        user: &[
            ConfigPath::File(
                "CLINE_MCP_SETTINGS_PATH",
                ".cline/data/settings/cline_mcp_settings.json",
            ),
            ConfigPath::Settings(
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[],
    },
    Host {
        id: "roo",
        name: "Roo Code",
        project: &[".roo/mcp.json"],
        user: &[ConfigPath::Settings(
            "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        )],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Editor],
    },
    Host {
        id: "kilo",
        name: "Kilo Code",
        project: &[".kilocode/mcp.json"],
        user: &[
            ConfigPath::Home(".kilocode/cli/global/settings/mcp_settings.json"),
            ConfigPath::Settings(
                "Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json",
            ),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Editor],
    },
    Host {
        id: "kiro",
        name: "Kiro",
        project: &[".kiro/settings/mcp.json"],
        user: &[ConfigPath::Home(".kiro/settings/mcp.json")],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Braces],
    },
    Host {
        id: "amazonq",
        name: "Amazon Q",
        project: &[
            ".amazonq/agents/default.json",
            ".amazonq/cli-agents/*",
            ".amazonq/mcp.json",
        ],
        user: &[
            // What its editors use; what its terminal uses; what both used at first.
            ConfigPath::Home(".aws/amazonq/agents/default.json"),
            ConfigPath::Home(".aws/amazonq/cli-agents/*"),
            ConfigPath::Home(".aws/amazonq/mcp.json"),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[],
    },
    Host {
        id: "qwen",
        name: "Qwen Code",
        project: &[".qwen/settings.json"],
        user: &[ConfigPath::Home(".qwen/settings.json")],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Braces, VariableSyntax::Dollar],
    },
    Host {
        id: "opencode",
        name: "opencode",
        project: &["opencode.json", "opencode.jsonc"],
        user: &[
            ConfigPath::Xdg("opencode/opencode.json"),
            ConfigPath::Xdg("opencode/opencode.jsonc"),
        ],
        servers: &[&["mcp"]],
        syntaxes: &[VariableSyntax::Curly],
    },
    Host {
        id: "continue",
        name: "Continue",
        project: &[".continue/mcpServers/*"],
        user: &[
            ConfigPath::Home(".continue/config.yaml"),
            ConfigPath::Home(".continue/mcpServers/*"),
        ],
        servers: MCP_SERVERS,
        syntaxes: &[VariableSyntax::Secrets],
    },
    Host {
        id: "goose",
        name: "Goose",
        project: &[],
        user: &[
            ConfigPath::Xdg("goose/config.yaml"),
            ConfigPath::Windows("Block/goose/config/config.yaml"),
        ],
        servers: &[&["extensions"]],
        syntaxes: &[VariableSyntax::Braces, VariableSyntax::Dollar],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_host_has_a_name_of_its_own_and_a_file() {
        let ids: BTreeSet<_> = HOSTS.iter().map(|host| host.id).collect();
        assert_eq!(ids.len(), HOSTS.len());
        for host in HOSTS {
            assert!(
                !host.project.is_empty() || !host.user.is_empty(),
                "{}",
                host.id
            );
            assert!(!host.servers.is_empty(), "{}", host.id);
            assert!(!host.id.contains(['/', ' ']), "{}", host.id);
        }
    }
}
