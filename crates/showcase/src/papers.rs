//! Resources: a text, a picture, a family of them, and one that changes.

use std::time::Duration;

use pintle::model::{Annotations, Role};
use pintle::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::harbour::{Harbour, Vessel};
use super::tide;

pub(super) const GUIDE: &str = "harbour://guide";
pub(super) const CHART: &str = "harbour://charts/tide.png";
const MOVEMENTS: &str = "harbour://movements";

const GUIDE_TEXT: &str = "# Pilotage guide\n\n\
    Keep a clearance of a tenth of the draught below the keel. Pilotage is compulsory above six \
    metres of draught. Berths, from the sea inwards: breakwater, fish-quay, grain-pier, old-dock.\n";

/// The guide: a constant text, which clients may cache for an hour.
pub(super) fn guide() -> Resource {
    Resource::text(GUIDE, "guide", GUIDE_TEXT)
        .title("Pilotage guide")
        .description("How vessels are brought in here.")
        .mime("text/markdown")
        .annotations(
            Annotations::default()
                .with_audience([Role::Assistant])
                .with_priority(0.8),
        )
        .ttl(Duration::from_secs(3_600))
}

/// The tide of the day: constant bytes.
pub(super) fn chart() -> Resource {
    Resource::bytes(CHART, "chart", tide::curve(24), "image/png")
        .title("Tide curve")
        .description("The tide of the day, drawn.")
}

/// One vessel of the register.
#[resource("harbour://vessels/{call_sign}", title = "Vessel", complete(call_sign = call_signs))]
pub(super) async fn vessel(
    call_sign: PathSegment,
    harbour: State<Harbour>,
) -> Result<Json<Vessel>, NotFound> {
    harbour
        .vessel(call_sign.as_str())
        .cloned()
        .map(Json)
        .ok_or(NotFound)
}

/// Completes a call sign.
pub(super) fn call_signs(typed: String, harbour: State<Harbour>) -> Vec<String> {
    let typed = typed.to_uppercase();
    let call_signs = harbour
        .vessels()
        .iter()
        .map(|vessel| vessel.call_sign.clone());
    call_signs
        .filter(|call_sign| call_sign.starts_with(&typed))
        .collect()
}

/// How busy the day was.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Movements {
    today: u64,
}

/// How many movements were logged today. A subscription reports every change.
#[resource("harbour://movements", title = "Movements")]
pub(super) async fn movements(harbour: State<Harbour>) -> Json<Movements> {
    Json(Movements {
        today: harbour.movements(),
    })
}

/// Logs the arrival or departure of a vessel, which changes the resource `harbour://movements`.
#[tool(title = "Log a movement", destructive = false)]
pub(super) async fn log_movement(harbour: State<Harbour>, server: State<ServerHandle>) -> u64 {
    let today = harbour.log_movement();
    server.changes().resource(MOVEMENTS);
    today
}
