//! Readings of records that no request causes.
//!
//! A stream of a session needs the settings although its client sends no further request. The record of a part is in
//! doubt after lost news, and when the store did not answer. A store that has lost its content needs the settings that
//! its replicas know.

use std::sync::Weak;
use std::time::Duration;

use pintle_runtime::SharedSessions;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::session_changes::{Reloaded, reload};
use super::sessions::Sessions;

/// The number of sessions whose records are read at the same time, when no request waits for them.
const MAX_READINGS: usize = 16;
/// The pause after a reading that failed.
const RETRY: Duration = Duration::from_secs(1);

/// Reads the records of sessions in doubt, although no request of them arrives: their streams need the settings, or the
/// store has lost them. Returns after the endpoint.
pub(super) async fn settle(shared: Weak<dyn SharedSessions>, sessions: Weak<Sessions>) {
    let Some(mut doubts) = sessions.upgrade().map(|it| it.doubts()) else {
        return;
    };
    loop {
        while !settle_once(&shared, &sessions).await {
            sleep(RETRY).await;
        }
        if doubts.changed().await.is_err() {
            return;
        }
    }
}

/// Reads the records once. Returns false if the store does not answer.
async fn settle_once(shared: &Weak<dyn SharedSessions>, sessions: &Weak<Sessions>) -> bool {
    let waiting = sessions.upgrade().map(|it| it.in_doubt());
    let mut waiting = waiting.unwrap_or_default().into_iter();
    let mut readings = JoinSet::new();
    loop {
        while readings.len() < MAX_READINGS
            && let Some(session) = waiting.next()
        {
            let (shared, sessions) = (Weak::clone(shared), Weak::clone(sessions));
            readings.spawn(async move {
                let (Some(shared), Some(sessions)) = (shared.upgrade(), sessions.upgrade()) else {
                    return Reloaded::Ended;
                };
                reload(&*shared, &sessions, &session).await
            });
        }
        match readings.join_next().await {
            None => return true,
            Some(Ok(Reloaded::Unread)) => return false,
            Some(_) => {}
        }
    }
}
