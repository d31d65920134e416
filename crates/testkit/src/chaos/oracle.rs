//! The answers that a server owes, recorded apart from the engine.

use std::collections::BTreeMap;

use pintle_proto::{Lane, RequestKey, TransmitKind};
use serde_json::Value;

use crate::endpoint::Sent;

/// Every request that a server has received, and its fate.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    rows: BTreeMap<RequestKey, ReceivedRequest>,
}

/// One request that the server has received.
#[derive(Debug)]
struct ReceivedRequest {
    id: Value,
    fate: Fate,
    progress: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Open,
    Answered,
    Cancelled,
}

impl Oracle {
    /// Records a received request.
    pub(super) fn received(&mut self, key: RequestKey, id: Value) -> Result<(), String> {
        let row = ReceivedRequest {
            id,
            fate: Fate::Open,
            progress: None,
        };
        match self.rows.insert(key, row) {
            None => Ok(()),
            Some(_) => Err(format!("{key:?} names two requests")),
        }
    }

    /// Records the cancellation of a request.
    pub(super) fn cancelled(&mut self, key: RequestKey) -> Result<(), String> {
        let row = self
            .rows
            .get_mut(&key)
            .ok_or(format!("{key:?} was never received"))?;
        match std::mem::replace(&mut row.fate, Fate::Cancelled) {
            Fate::Open => Ok(()),
            fate => Err(format!("{key:?} is cancelled and was {fate:?}")),
        }
    }

    /// Records a sent message.
    pub(super) fn sent(&mut self, sent: &Sent) -> Result<(), String> {
        let Lane::Reply(key) = sent.lane else {
            return self.sent_to_session(sent);
        };
        let row = self
            .rows
            .get_mut(&key)
            .ok_or(format!("{key:?} was never received"))?;
        if row.fate != Fate::Open {
            return Err(format!(
                "the lane of {key:?} was {:?} and says {}",
                row.fate, sent.message
            ));
        }
        match sent.kind {
            TransmitKind::Answer(_) => row.answer(&sent.message),
            _ => row.record(&sent.message),
        }
    }

    fn sent_to_session(&self, sent: &Sent) -> Result<(), String> {
        match sent.kind {
            TransmitKind::Answer(_) => {
                Err(format!("an answer without a request: {}", sent.message))
            }
            _ => Ok(()),
        }
    }

    /// The ids of the open requests, or of the ended ones.
    pub(super) fn ids(&self, open: bool) -> Vec<Value> {
        let rows = self
            .rows
            .values()
            .filter(|row| (row.fate == Fate::Open) == open);
        rows.map(|row| row.id.clone()).collect()
    }

    /// The keys of all requests, open or ended.
    pub(super) fn keys(&self) -> Vec<RequestKey> {
        self.rows.keys().copied().collect()
    }

    /// Checks that no answer is owed any more.
    pub(super) fn ended(&self) -> Result<(), String> {
        let open = self.rows.iter().find(|(_, row)| row.fate == Fate::Open);
        match open {
            None => Ok(()),
            Some((key, row)) => Err(format!(
                "{key:?} (id {}) was neither answered nor cancelled",
                row.id
            )),
        }
    }
}

/// Returns false for codes that the protocol reserves without a meaning.
fn is_defined(code: i64) -> bool {
    let is_reserved = (-32768..=-32000).contains(&code);
    let is_standard = (-32603..=-32600).contains(&code) || code == -32700;
    !is_reserved || is_standard || (-32022..=-32020).contains(&code)
}

impl ReceivedRequest {
    fn answer(&mut self, message: &Value) -> Result<(), String> {
        self.fate = Fate::Answered;
        let is_one = message["result"].is_object() != message["error"].is_object();
        if message["id"] != self.id || !is_one {
            return Err(format!("request {} was answered with {message}", self.id));
        }
        match message["error"]["code"].as_i64() {
            Some(code) if !is_defined(code) => Err(format!("no revision defines the code {code}")),
            _ => Ok(()),
        }
    }

    fn record(&mut self, message: &Value) -> Result<(), String> {
        if message["method"] != "notifications/progress" {
            return Ok(());
        }
        let progress = message["params"]["progress"].as_f64();
        if progress.is_none() || progress <= self.progress {
            return Err(format!(
                "progress went from {:?} to {progress:?}",
                self.progress
            ));
        }
        self.progress = progress;
        Ok(())
    }
}
