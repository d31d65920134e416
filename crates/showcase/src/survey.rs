//! A task: work that continues after the answer to its call, reports progress and asks a question.

use std::time::Duration;

use pintle::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::icons;

/// Time for one line.
const LINE: Duration = Duration::from_millis(500);
/// The depths of the basin, line by line, in metres.
const DEPTHS: [f64; 6] = [7.9, 7.6, 7.4, 4.1, 7.3, 7.8];
/// A line with less depth may be sounded again, in metres.
const SHOAL: f64 = 5.0;

/// The result of a survey.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Survey {
    /// The least depth on each line, in metres.
    depths: Vec<f64>,
    /// The lines that were sounded twice.
    sounded_closer: Vec<usize>,
}

/// The answer to the question about a shoal.
#[derive(Deserialize, JsonSchema)]
struct Closer {
    /// Whether to sound the line again, slowly.
    again: bool,
}

/// Surveys the harbour basin line by line. This takes a while; clients that know tasks need not
/// wait for it.
#[tool(title = "Survey the basin", read_only, task = optional, icon = icons::ANCHOR)]
pub(super) async fn survey(
    cx: Context,
    /// How many lines are sounded.
    #[arg(default = 6, min = 1, max = 6)]
    lines: usize,
) -> Result<Json<Survey>> {
    let mut found = Survey {
        depths: Vec::new(),
        sounded_closer: Vec::new(),
    };
    for (line, depth) in (1..).zip(DEPTHS.into_iter().take(lines)) {
        tokio::time::sleep(LINE).await;
        cx.progress(line as f64, Some(lines as f64), format!("line {line}"))
            .await;
        if depth < SHOAL && asks_for_closer(&cx, line, depth).await? {
            tokio::time::sleep(2 * LINE).await;
            found.sounded_closer.push(line);
        }
        found.depths.push(depth);
    }
    Ok(Json(found))
}

/// Asks whether to sound a line again. Without a client that can answer, it is not sounded again.
async fn asks_for_closer(cx: &Context, line: usize, depth: f64) -> Result<bool, AskError> {
    let question = format!("Line {line} is only {depth} m deep. Sound it again, slowly?");
    match cx.elicit::<Closer>(question).named("closer").await {
        Ok(Answer::Accepted(closer)) => Ok(closer.again),
        Ok(_) | Err(AskError::Unsupported(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_basin_has_one_shoal_and_it_is_not_on_the_first_line() {
        let shoals = DEPTHS.iter().filter(|depth| **depth < SHOAL).count();
        assert!(shoals == 1 && DEPTHS[0] > SHOAL);
    }
}
