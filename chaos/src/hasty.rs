//! Clients that share one address, and send more requests than its quota.
//!
//! All processes of a run have one clock. A request that was sent and answered within one interval of the quota was
//! admitted in it. The servers count time by their store, so the first and last moments of an interval are left out.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::measure::http::{Connection, Request};
use crate::replica::{QUOTA, QUOTA_INTERVAL, answer};
use crate::tally::{End, Kind, Tally};

const CLIENTS: usize = 8;
/// The pause of a client between two requests: all send at most 400 in a second.
const PAUSE: Duration = Duration::from_millis(20);
/// The address of these clients.
const ADDRESS: &str = "10.1.0.1";
/// The clocks of servers differ by less.
const MARGIN: Duration = Duration::from_millis(100);

/// Requests that were admitted, by the interval that they surely belong to.
pub(crate) type Admitted = BTreeMap<u64, usize>;

/// Starts the clients.
pub(crate) fn start(
    proxy: SocketAddr,
    tally: &Arc<Tally>,
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<()>> {
    let client = |number| {
        let (tally, stop) = (Arc::clone(tally), Arc::clone(stop));
        spawn(move || work(number, proxy, &tally, &stop))
    };
    (0..CLIENTS).map(client).collect()
}

fn work(client: usize, proxy: SocketAddr, tally: &Tally, stop: &AtomicBool) {
    let mut connection = None;
    while !stop.load(Ordering::Relaxed) {
        sleep(PAUSE);
        let open = connection.take().or_else(|| Connection::open(proxy).ok());
        let Some(mut open) = open else { continue };
        let number = tally.send();
        let (key, value) = (format!("hasty{client}-{number}"), 7);
        let (began, sent) = (Instant::now(), now());
        let end = call(&mut open, &key, value);
        if end == End::Right {
            tally.admit(interval(sent, now()));
        }
        if !matches!(end, End::Explained(_)) {
            connection = Some(open);
        }
        tally.end(key, "2026-07-28", Kind::Hasty, began.elapsed(), end);
    }
}

fn call(connection: &mut Connection, key: &str, value: i64) -> End {
    let arguments = json!({ "key": key, "value": value });
    let request = Request::call(None, "append", &arguments).with_address(ADDRESS);
    let Ok((head, body)) = connection.exchange(&request) else {
        return End::Explained("connection lost".to_owned());
    };
    let most = QUOTA_INTERVAL.as_secs();
    match (head.status, head.retry_after) {
        (200, _) => end(&body, value),
        (429, Some(1..)) if head.retry_after <= Some(most) => End::Refused,
        (502..=504, _) => End::Explained("502, 503 or 504".to_owned()),
        (status, retry_after) => {
            End::Unexplained(format!("status {status}, Retry-After {retry_after:?}"))
        }
    }
}

fn end(body: &[u8], value: i64) -> End {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = message["result"]["content"][0]["text"].as_str();
    match text == Some(answer(value).to_string().as_str()) {
        true => End::Right,
        false => End::Wrong(String::from_utf8_lossy(body).into_owned()),
    }
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Returns the interval that has both times. `None` near its border.
fn interval(sent: Duration, ended: Duration) -> Option<u64> {
    let of = |time: Duration| time.as_millis() / QUOTA_INTERVAL.as_millis();
    let first = of(sent.saturating_sub(MARGIN));
    let last = of(ended + MARGIN);
    (first == last).then(|| u64::try_from(first).unwrap_or(u64::MAX))
}

/// Returns the interval of the moment after a time.
pub(crate) fn interval_after(time: Duration) -> u64 {
    let intervals = (now() + time).as_millis() / QUOTA_INTERVAL.as_millis();
    u64::try_from(intervals).unwrap_or(u64::MAX)
}

/// Returns the number of requests beyond the quota, by interval. `quotas` has the number of quotas that faults allow in an
/// interval, if it is more than one.
pub(crate) fn beyond(admitted: &Admitted, quotas: &BTreeMap<u64, usize>) -> Admitted {
    let excess = |(interval, count): (&u64, &usize)| {
        let most = QUOTA * quotas.get(interval).copied().unwrap_or(1);
        let excess = count.saturating_sub(most);
        (excess > 0).then_some((*interval, excess))
    };
    admitted.iter().filter_map(excess).collect()
}

/// Returns how many seconds before this moment an interval began.
pub(crate) fn age_of(interval: u64) -> f64 {
    let began = QUOTA_INTERVAL.as_secs_f64() * interval as f64;
    now().as_secs_f64() - began
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_near_a_border_belongs_to_no_interval() {
        let at = Duration::from_millis;
        assert_eq!(interval(at(30_200), at(39_800)), Some(3));
        assert_eq!(interval(at(30_050), at(30_200)), None);
        assert_eq!(interval(at(39_000), at(39_950)), None);
    }

    #[test]
    fn requests_beyond_the_quota_are_counted_unless_a_fault_allows_them() {
        let admitted = Admitted::from([(3, QUOTA), (4, QUOTA + 2), (5, 2 * QUOTA + 1)]);
        let excess = beyond(&admitted, &BTreeMap::from([(5, 2)]));
        assert_eq!(excess, Admitted::from([(4, 2), (5, 1)]));
        let none = beyond(&admitted, &BTreeMap::from([(4, 2), (5, 3)]));
        assert_eq!(none, Admitted::new());
    }
}
