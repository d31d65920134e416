//! The harbour: the vessels and the movements of the day. All handlers share it as state.

use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of the server.
#[derive(Debug)]
pub(super) struct Harbour {
    vessels: Vec<Vessel>,
    movements: AtomicU64,
}

/// A vessel in the register.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct Vessel {
    /// Four letters by which the vessel is called.
    pub(super) call_sign: String,
    /// The name of the vessel.
    pub(super) name: String,
    /// The kind of the vessel.
    pub(super) kind: Kind,
    /// Her draught, in metres.
    pub(super) draught: f64,
    /// Where she lies; absent while she is at sea.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) berth: Option<String>,
}

/// The kind of a vessel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Carries any cargo.
    Coaster,
    /// Carries people, by the clock.
    Ferry,
    /// Helps the others.
    Tug,
    /// Is in the way.
    Yacht,
}

/// The berths, from the sea inwards.
pub(super) const BERTHS: [&str; 4] = ["breakwater", "fish-quay", "grain-pier", "old-dock"];

impl Harbour {
    /// Returns the harbour in the morning: four vessels, and no movement.
    pub(super) fn open() -> Self {
        let vessel = |call_sign: &str, name: &str, kind, draught, berth: Option<&str>| Vessel {
            call_sign: call_sign.into(),
            name: name.into(),
            kind,
            draught,
            berth: berth.map(Into::into),
        };
        let vessels = vec![
            vessel("GUDG", "Gudgeon", Kind::Tug, 3.2, Some("fish-quay")),
            vessel("RULE", "Rule of Twelfths", Kind::Ferry, 4.6, None),
            vessel("RECK", "Dead Reckoning", Kind::Coaster, 6.8, None),
            vessel("SLAK", "Slack Water", Kind::Yacht, 2.1, Some("old-dock")),
        ];
        Self {
            vessels,
            movements: AtomicU64::new(0),
        }
    }

    /// Returns the vessels, in the order of the register.
    pub(super) fn vessels(&self) -> &[Vessel] {
        &self.vessels
    }

    /// Returns the vessel with a call sign.
    pub(super) fn vessel(&self, call_sign: &str) -> Option<&Vessel> {
        self.vessels
            .iter()
            .find(|vessel| vessel.call_sign == call_sign)
    }

    /// Returns the vessel at a berth.
    pub(super) fn lies_at(&self, berth: &str) -> Option<&Vessel> {
        self.vessels
            .iter()
            .find(|vessel| vessel.berth.as_deref() == Some(berth))
    }

    /// Returns the number of movements that were logged today.
    pub(super) fn movements(&self) -> u64 {
        self.movements.load(Ordering::Relaxed)
    }

    /// Logs one movement, and returns the number of all movements.
    pub(super) fn log_movement(&self) -> u64 {
        self.movements.fetch_add(1, Ordering::Relaxed) + 1
    }
}
