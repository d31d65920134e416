//! Lists as structured output, and an `Err` for the model. HTTP clients repeat one argument in a header, so
//! that a proxy can route by it.

use std::fmt;

use pintle::prelude::*;

use super::harbour::{Harbour, Kind, Vessel};

/// Lists the vessels in the register.
#[tool(title = "Vessels", read_only, open_world = false)]
pub(super) async fn vessels(
    /// Only those of one kind.
    kind: Option<Kind>,
    harbour: State<Harbour>,
) -> Json<Vec<Vessel>> {
    let is_of_kind = |vessel: &&Vessel| kind.is_none_or(|kind| vessel.kind == kind);
    Json(
        harbour
            .vessels()
            .iter()
            .filter(is_of_kind)
            .cloned()
            .collect(),
    )
}

/// Returns the vessel at a berth.
#[tool(title = "Berth", read_only, open_world = false)]
pub(super) async fn berth(
    /// The berth's name, such as `fish-quay`.
    #[arg(header = "Berth", min_len = 1, max_len = 40)]
    name: String,
    harbour: State<Harbour>,
) -> String {
    match harbour.lies_at(&name) {
        Some(vessel) => format!("{} lies at {name}", vessel.name),
        None => format!("{name} is free"),
    }
}

/// Calls a vessel by radio.
#[tool(read_only)]
pub(super) async fn hail(
    /// The vessel's call sign: four letters.
    #[arg(pattern = "^[A-Z]{4}$")]
    call_sign: String,
    harbour: State<Harbour>,
) -> Result<String, NoAnswerError> {
    let vessel = harbour
        .vessel(&call_sign)
        .ok_or(NoAnswerError { call_sign })?;
    Ok(format!(
        "{}, {}, this is {}. Good watch.",
        vessel.call_sign, vessel.call_sign, vessel.name
    ))
}

/// No vessel answers. The text is for the model, which may try another call sign.
#[derive(Debug)]
pub(super) struct NoAnswerError {
    call_sign: String,
}

impl fmt::Display for NoAnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no vessel has the call sign {}; the tool `vessels` lists them",
            self.call_sign
        )
    }
}

impl std::error::Error for NoAnswerError {}
