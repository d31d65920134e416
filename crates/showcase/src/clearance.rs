//! Typed arguments with constraints, structured output, annotations, a title and an icon.

use pintle::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::icons;

/// The water below the keel.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Clearance {
    /// Metres of water below the keel; negative is aground.
    clearance: f64,
    /// How much deeper the vessel lies for her speed, in metres.
    squat: f64,
    /// Whether the clearance is a tenth of the draught or more.
    is_safe: bool,
}

/// Computes the water below a vessel's keel, squat included.
#[tool(title = "Under-keel clearance", read_only, idempotent, open_world = false, icon = icons::ANCHOR)]
pub(super) async fn under_keel(
    /// Charted depth of the channel, in metres.
    #[arg(min = 0, max = 200)]
    charted_depth: f64,
    /// Height of tide above chart datum, in metres.
    #[arg(min = -2, max = 15)]
    tide: f64,
    /// Draught of the vessel, in metres.
    #[arg(min = 0.1, max = 30)]
    draught: f64,
    /// Speed through the water, in knots.
    #[arg(default = 6.0, min = 0, max = 25)]
    speed: f64,
) -> Json<Clearance> {
    // Barrass, open water: a hundredth of the square of the speed, by a full block coefficient.
    let squat = speed * speed / 100.0;
    let clearance = charted_depth + tide - draught - squat;
    Json(Clearance {
        clearance,
        squat,
        is_safe: clearance >= draught / 10.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn speed_takes_water_away() {
        let Json(slow) = under_keel(8.0, 2.0, 6.8, 0.0).await;
        let Json(fast) = under_keel(8.0, 2.0, 6.8, 20.0).await;
        assert!(slow.is_safe && !fast.is_safe);
        assert!((slow.clearance - fast.clearance - fast.squat).abs() < 1e-9);
    }
}
