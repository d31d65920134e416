//! The harbour: what the desk knows. Shared by all handlers as state.

use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The harbour.
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
    /// Her name.
    pub(super) name: String,
    /// What she is.
    pub(super) kind: Kind,
    /// Her draught, in metres.
    pub(super) draught: f64,
    /// Where she lies; absent while she is at sea.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) berth: Option<String>,
}

/// What a vessel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Carries whatever there is.
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
    /// The harbour as it is in the morning.
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

    /// The vessels, in the order they were entered.
    pub(super) fn vessels(&self) -> &[Vessel] {
        &self.vessels
    }

    /// The vessel of a call sign.
    pub(super) fn vessel(&self, call_sign: &str) -> Option<&Vessel> {
        self.vessels
            .iter()
            .find(|vessel| vessel.call_sign == call_sign)
    }

    /// Who lies at a berth.
    pub(super) fn lies_at(&self, berth: &str) -> Option<&Vessel> {
        self.vessels
            .iter()
            .find(|vessel| vessel.berth.as_deref() == Some(berth))
    }

    /// How many movements were logged today.
    pub(super) fn movements(&self) -> u64 {
        self.movements.load(Ordering::Relaxed)
    }

    /// Logs one more, and says how many that makes.
    pub(super) fn log_movement(&self) -> u64 {
        self.movements.fetch_add(1, Ordering::Relaxed) + 1
    }
}
