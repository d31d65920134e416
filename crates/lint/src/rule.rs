//! The table of rules.

use std::fmt;

use serde::Serialize;

use crate::hit::Check;
use crate::host::Host;
use crate::rules::{counts, gemini, names, schemas, strict, texts};

/// A rule for tools, with the limit and its source.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// The name of the rule, such as `claude-name`.
    pub id: &'static str,
    /// The host with the limit; `None` for a rule of every host.
    pub host: Option<Host>,
    /// Whether the host rejects the tool.
    pub severity: Severity,
    /// The limit, as a fact.
    pub limit: &'static str,
    /// The change of the tool that ends the finding.
    pub fix: &'static str,
    /// Where the limit is documented, or was reported.
    pub source: &'static str,
    /// The words by which a user recognizes the error of the host. `N` stands for a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_error: Option<&'static str>,
    #[serde(skip)]
    pub(crate) check: Check,
}

impl Rule {
    const fn with_host_error(mut self, words: &'static str) -> Self {
        self.host_error = Some(words);
        self
    }
}

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The host was reported to reject or drop the tool.
    Error,
    /// The effect depends on the mode, the model or the client, or only the quality suffers.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Returns all rules.
pub fn rules() -> &'static [Rule] {
    RULES
}

const fn error(
    id: &'static str,
    host: Option<Host>,
    limit: &'static str,
    fix: &'static str,
    source: &'static str,
    check: Check,
) -> Rule {
    Rule {
        id,
        host,
        severity: Severity::Error,
        limit,
        fix,
        source,
        host_error: None,
        check,
    }
}

const fn warning(
    id: &'static str,
    host: Option<Host>,
    limit: &'static str,
    fix: &'static str,
    source: &'static str,
    check: Check,
) -> Rule {
    Rule {
        severity: Severity::Warning,
        ..error(id, host, limit, fix, source, check)
    }
}

const CLAUDE: Option<Host> = Some(Host::Claude);
const OPENAI: Option<Host> = Some(Host::OpenAi);
const GEMINI: Option<Host> = Some(Host::Gemini);
const COPILOT: Option<Host> = Some(Host::Copilot);
const CURSOR: Option<Host> = Some(Host::Cursor);

/// The specification of tools.
const MCP: &str = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools";
/// The subset of JSON Schema for strict functions.
const OPENAI_SCHEMAS: &str =
    "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas";
/// The reference of the API.
const OPENAI_API: &str = "https://github.com/openai/openai-openapi";
/// The fields of a schema in the API.
const GEMINI_SCHEMA: &str = "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/Schema";

const RULES: &[Rule] = &[
    error(
        "duplicate-name",
        None,
        "names of tools are unique",
        "rename one of the tools",
        MCP,
        Check::Server(names::duplicate),
    ),
    warning(
        "mcp-name",
        None,
        "a name has 1 to 128 of A–Z a–z 0–9 _ - .",
        "rename the tool",
        MCP,
        Check::Tool(names::mcp),
    ),
    error(
        "schema-object",
        None,
        "the root of inputSchema has the type `object`",
        "wrap the arguments in an object",
        MCP,
        Check::Tool(schemas::root_object),
    ),
    warning(
        "description-missing",
        None,
        "a model chooses tools by their descriptions",
        "state what the tool does, and when to use it",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
        Check::Tool(texts::missing),
    ),
    warning(
        "description-duplicate",
        None,
        "a model cannot distinguish tools with the same description",
        "state how the tools differ",
        "a rule of this project",
        Check::Server(texts::duplicate),
    ),
    warning(
        "hidden-character",
        None,
        "a model reads characters that a reviewer does not see",
        "remove the character",
        "https://promptshield.js.org/docs/detectors/invisible-chars",
        Check::Server(texts::hidden),
    ),
    warning(
        "instruction",
        None,
        "a text that commands the model is a sign of tool poisoning",
        "describe the tool, and do not address the model",
        "https://invariantlabs.ai/blog/mcp-security-notification-tool-poisoning-attacks",
        Check::Server(texts::instruction),
    ),
    error(
        "claude-name",
        CLAUDE,
        "a name has 1 to 64 of A–Z a–z 0–9 _ -",
        "rename the tool",
        "https://github.com/evoila/meho/issues/2745",
        Check::Tool(names::letters_64),
    )
    .with_host_error("tools.N.custom.name: String should match pattern"),
    error(
        "claude-root-keyword",
        CLAUDE,
        "the root of a schema has no oneOf, anyOf or allOf",
        "describe the alternatives, and check them in the tool",
        "https://github.com/anthropics/claude-code/issues/40075",
        Check::Tool(schemas::root_combination),
    )
    .with_host_error("input_schema does not support oneOf, allOf, or anyOf"),
    error(
        "claude-property-name",
        CLAUDE,
        "a name of an argument has 1 to 64 of A–Z a–z 0–9 _ . -",
        "rename the argument",
        "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
        Check::Tool(names::properties),
    )
    .with_host_error("input_schema.properties: Property keys should match pattern"),
    error(
        "claude-draft",
        CLAUDE,
        "a schema is valid by JSON Schema 2020-12",
        "use prefixItems for a list of schemas, and numbers for exclusive bounds",
        "https://github.com/anomalyco/opencode/issues/2082",
        Check::Tool(schemas::older_draft),
    )
    .with_host_error("input_schema: JSON schema is invalid"),
    warning(
        "claude-description-length",
        CLAUDE,
        "Claude Code cuts a description off after 2048 characters",
        "shorten the description",
        "https://github.com/anthropics/claude-code/issues/41593",
        Check::Tool(texts::longer_than_2048),
    ),
    error(
        "openai-name",
        OPENAI,
        "a name has 1 to 64 of A–Z a–z 0–9 _ -",
        "rename the tool",
        OPENAI_API,
        Check::Tool(names::letters_64),
    )
    .with_host_error("Invalid 'tools[N].name': string does not match pattern"),
    error(
        "openai-tools",
        OPENAI,
        "a request has at most 128 functions",
        "offer fewer tools, or tools with more arguments",
        OPENAI_API,
        Check::Server(counts::more_than_128),
    )
    .with_host_error("Invalid 'tools': array too long"),
    error(
        "openai-root-keyword",
        OPENAI,
        "the root of a schema has no oneOf, anyOf, allOf, enum or not",
        "describe the alternatives, and check them in the tool",
        "https://github.com/langchain-ai/langchainjs/issues/9804",
        Check::Tool(schemas::root_keyword),
    )
    .with_host_error("schema must have type 'object' and not have 'oneOf'"),
    warning(
        "openai-description-length",
        OPENAI,
        "some models accept descriptions of at most 1024 characters",
        "shorten the description",
        "https://github.com/probelabs/probe/issues/9",
        Check::Tool(texts::longer_than_1024),
    ),
    warning(
        "openai-strict-additional",
        OPENAI,
        "strict functions need additionalProperties: false in each object",
        "add it; serde has deny_unknown_fields for a struct",
        OPENAI_SCHEMAS,
        Check::Tool(strict::additional),
    )
    .with_host_error("'additionalProperties' is required to be supplied"),
    warning(
        "openai-strict-required",
        OPENAI,
        "strict functions list each property in required",
        "list it, and permit null for an optional value",
        OPENAI_SCHEMAS,
        Check::Tool(strict::required),
    )
    .with_host_error("'required' is required to be supplied"),
    warning(
        "openai-strict-keyword",
        OPENAI,
        "strict functions have no allOf, not, if, then, else, dependentRequired or dependentSchemas",
        "describe the condition, and check it in the tool",
        OPENAI_SCHEMAS,
        Check::Tool(strict::keyword),
    )
    .with_host_error("'allOf' is not permitted"),
    warning(
        "openai-strict-depth",
        OPENAI,
        "strict functions have at most 10 levels of objects",
        "flatten the arguments",
        OPENAI_SCHEMAS,
        Check::Tool(strict::depth),
    ),
    warning(
        "openai-strict-properties",
        OPENAI,
        "strict functions have at most 5000 properties",
        "divide the tool",
        OPENAI_SCHEMAS,
        Check::Tool(strict::properties),
    ),
    warning(
        "openai-strict-enum",
        OPENAI,
        "strict functions have at most 1000 values of enums",
        "use a text, and check it in the tool",
        OPENAI_SCHEMAS,
        Check::Tool(strict::enum_values),
    ),
    warning(
        "openai-strict-text",
        OPENAI,
        "names and values of enums in strict functions have at most 120000 characters",
        "use shorter names, or texts in place of enums",
        OPENAI_SCHEMAS,
        Check::Tool(strict::text),
    ),
    error(
        "gemini-name",
        GEMINI,
        "a name begins with a letter or _, and has at most 64 of A–Z a–z 0–9 _ . : -",
        "rename the tool",
        "https://github.com/google-gemini/gemini-cli/issues/2966",
        Check::Tool(names::gemini),
    )
    .with_host_error("function_declarations[N].name: Invalid function name"),
    error(
        "gemini-tools",
        GEMINI,
        "a request has at most 512 functions",
        "offer fewer tools, or tools with more arguments",
        "https://github.com/google-gemini/gemini-cli/issues/19083",
        Check::Server(counts::more_than_512),
    )
    .with_host_error("At most 512 function declarations"),
    error(
        "gemini-ref",
        GEMINI,
        "beside $ref stand only description and default",
        "write the definition in place of the reference",
        "https://github.com/anomalyco/opencode/issues/12295",
        Check::Tool(gemini::reference),
    )
    .with_host_error("was set alongside unsupported fields"),
    error(
        "gemini-items",
        GEMINI,
        "an array has items",
        "add the schema of the elements",
        "https://github.com/DEEIX-AI/DEEIX-Chat/issues/546",
        Check::Tool(schemas::items),
    )
    .with_host_error("items: missing field"),
    error(
        "gemini-required",
        GEMINI,
        "each name in required is a property",
        "add the property, or remove the name",
        "https://github.com/google-gemini/gemini-cli/issues/1458",
        Check::Tool(gemini::required),
    )
    .with_host_error("required[N]: property is not defined"),
    error(
        "gemini-enum",
        GEMINI,
        "values of an enum are texts",
        "use texts, or name the values in the description",
        "https://github.com/Draculabo/AntigravityManager/pull/260",
        Check::Tool(gemini::enum_texts),
    )
    .with_host_error("Invalid value at 'tools[N]…enum[N]' (TYPE_STRING)"),
    warning(
        "gemini-keyword",
        GEMINI,
        "the field `parameters` has no oneOf, allOf, not, if, const, patternProperties or exclusive bounds",
        "use anyOf, enum and inclusive bounds, or describe the condition",
        GEMINI_SCHEMA,
        Check::Tool(gemini::keyword),
    )
    .with_host_error("Unknown name \"const\" … Cannot find field"),
    warning(
        "gemini-type",
        GEMINI,
        "the field `parameters` has one type for each value",
        "use one type, or anyOf",
        "https://github.com/zed-industries/zed/issues/44875",
        Check::Tool(gemini::type_list),
    ),
    warning(
        "gemini-format",
        GEMINI,
        "some models accept only the formats `enum` and `date-time` of a text",
        "name the format in the description",
        "https://github.com/google-gemini/gemini-cli/issues/3178",
        Check::Tool(gemini::format),
    )
    .with_host_error("only 'enum' and 'date-time' are supported"),
    error(
        "copilot-name",
        COPILOT,
        "a name has 1 to 128 of A–Z a–z 0–9 _ -",
        "rename the tool",
        "https://github.com/github/copilot-cli/issues/1879",
        Check::Tool(names::letters_128),
    )
    .with_host_error("tools.N.custom.name: String should match pattern"),
    error(
        "copilot-tools",
        COPILOT,
        "a request has at most 128 tools",
        "offer fewer tools, or tools with more arguments",
        "https://github.com/microsoft/vscode-copilot-release/issues/11653",
        Check::Server(counts::more_than_128),
    )
    .with_host_error("Cannot have more than 128 tools per request"),
    error(
        "copilot-items",
        COPILOT,
        "an array has items",
        "add the schema of the elements",
        "https://github.com/microsoft/vscode/issues/248810",
        Check::Tool(schemas::items),
    )
    .with_host_error("tool parameters array type must have items"),
    warning(
        "cursor-name-length",
        CURSOR,
        "the names of the server and of the tool have less than 60 characters together",
        "shorten the name of the tool",
        "https://github.com/ComposioHQ/composio/issues/2788",
        Check::Server(names::cursor),
    ),
    warning(
        "cursor-tools",
        CURSOR,
        "Cursor warns of more than 80 tools of all servers",
        "offer fewer tools, or tools with more arguments",
        "https://github.com/Snowflake-Labs/mcp/issues/77",
        Check::Server(counts::more_than_80),
    ),
];
