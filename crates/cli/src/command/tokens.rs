//! `pintle tokens`: the cost of definitions in the context of a model.

use pintle_lint::{DefinitionCost, estimate};
use serde_json::json;

use super::Invocation;
use super::diff::read;
use crate::args::{Format, SurfaceSource};
use crate::exit::CliError;
use crate::output;
use crate::screen::Screen;
use crate::text;

/// Prints the estimated cost of the instructions and of each tool, the most expensive first.
///
/// # Errors
///
/// The server or the file cannot be read.
pub(super) async fn run(invocation: &Invocation, source: &SurfaceSource) -> Result<(), CliError> {
    let mut costs = estimate(&read(invocation, source).await?);
    costs.sort_by_key(|cost| std::cmp::Reverse(cost.tokens));
    let tokens: usize = costs.iter().map(|cost| cost.tokens).sum();
    let bytes: usize = costs.iter().map(|cost| cost.bytes).sum();
    match invocation.format {
        Format::Json => output::json(
            &Screen::look(),
            &json!({ "tokens": tokens, "bytes": bytes, "definitions": costs }),
        ),
        Format::Text => output::result(page(&costs, tokens, bytes).as_bytes()),
    }
}

fn page(costs: &[DefinitionCost], tokens: usize, bytes: usize) -> String {
    let head = format!("{:>8} {:>9}\n", "tokens", "bytes");
    let rows = costs.iter().map(|cost| {
        let name = cost.tool.as_deref().unwrap_or("(instructions)");
        format!(
            "{:>8} {:>9}  {}\n",
            cost.tokens,
            cost.bytes,
            text::line(name)
        )
    });
    let rows: String = rows.collect();
    format!("{head}{rows}{tokens:>8} {bytes:>9}  in all; tokens are an estimate\n")
}
