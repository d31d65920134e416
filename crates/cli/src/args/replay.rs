//! The arguments of `pintle replay` and `pintle mock`.

use std::net::SocketAddr;
use std::path::PathBuf;

/// The form of the file of `pintle mock`.
pub(crate) const MOCK_HELP: &str = concat!(
    "The file:\n",
    "  name = \"weather\"\n\n",
    "  [[tool]]\n",
    "  name = \"forecast\"           # also description, input_schema, output_schema\n",
    "  text = \"sunny\"              # or structured = { … }, or error = \"…\"\n",
    "  delay_ms = 200\n",
    "  [[tool.case]]               # the first case that fits answers in place of the tool\n",
    "  when = { city = \"Bergen\" }\n",
    "  text = \"rain\"\n",
    "  [tool.question]             # asked before the answer\n",
    "  message = \"Really?\"\n",
    "  fields = { reason = { type = \"string\" } }\n\n",
    "  [[resource]]\n",
    "  uri = \"note://a\"            # also name, description, mime_type\n",
    "  text = \"A note\"\n\n",
    "  [[prompt]]\n",
    "  name = \"greet\"              # also description\n",
    "  arguments = [\"who\"]\n",
    "  text = \"Hello {who}\""
);

/// The arguments of `pintle replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// A file of `pintle tap --record`, or of `--trace`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: WhereArgs,

    /// Exit with code 5 at the first request without a recorded answer
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The arguments of `pintle mock`.
#[derive(Debug, clap::Args)]
pub(crate) struct MockArgs {
    /// A TOML file with tools, resources and prompts
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

/// Where a server is served.
#[derive(Debug, clap::Args)]
pub(crate) struct WhereArgs {
    /// Serve on standard input and output, which is the default
    #[arg(long, conflicts_with = "http")]
    pub(crate) stdio: bool,

    /// Serve over HTTP on this loopback address; port 0 is any free port
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
}
