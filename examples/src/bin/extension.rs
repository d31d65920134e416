//! An extension of the protocol, as a crate of its own would bring it: a method, a notice, and the
//! settings that clients read.

use std::sync::{Mutex, PoisonError};

use pintle::model::Error;
use pintle::model::method::{Method, Notice};
use pintle::prelude::*;
use pintle::server::ProtocolExtension;
use serde::{Deserialize, Serialize};

/// `tides/record`: records the height of the water.
enum RecordTide {}

/// `notifications/tides/risen`: the water is higher than ever before.
enum TideRisen {}

#[derive(Serialize, Deserialize)]
struct Level {
    metres: f64,
}

#[derive(Serialize, Deserialize)]
struct Recorded {
    highest: f64,
}

impl Method for RecordTide {
    const NAME: &'static str = "tides/record";
    type Params = Level;
    type Result = Recorded;
}

impl Notice for TideRisen {
    const NAME: &'static str = "notifications/tides/risen";
    type Params = Level;
}

/// The private state that the handlers of this extension share.
#[derive(Default)]
struct Gauge(Mutex<f64>);

impl Gauge {
    /// Notes a level, and returns the highest one before it.
    fn note(&self, metres: f64) -> f64 {
        let mut highest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *highest;
        *highest = before.max(metres);
        before
    }
}

async fn record(
    level: Level,
    gauge: State<Gauge>,
    server: State<ServerHandle>,
) -> Result<Recorded, Error> {
    if !level.metres.is_finite() {
        return Err(Error::invalid_params("how high is that?"));
    }
    let highest = gauge.note(level.metres);
    if highest < level.metres {
        server.changes().notify::<TideRisen>(&level)?;
    }
    Ok(Recorded {
        highest: highest.max(level.metres),
    })
}

/// The extension; a client listens for its notices with `{"tideRisen": true}`.
fn tides() -> ProtocolExtension {
    ProtocolExtension::new("com.example/tides")
        .setting("unit", "m")
        .state(Gauge::default())
        .method::<RecordTide, _>(record)
        .notice::<TideRisen>("tideRisen")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> pintle::Result<()> {
    Server::new("pilot", "1.0.0").extend(tides()).run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use pintle_examples::client_of;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn the_highest_level_is_kept() -> pintle::Result<()> {
        let mut client = client_of(Server::new("pilot", "1.0.0").extend(tides()))?;
        let told = client.ask("server/discover", json!({})).await?;
        let offered = &told["result"]["capabilities"]["extensions"];
        assert_eq!(*offered, json!({ "com.example/tides": { "unit": "m" } }));
        for (metres, highest) in [(1.5, 1.5), (3.0, 3.0), (2.0, 3.0)] {
            let answer = client
                .ask("tides/record", json!({ "metres": metres }))
                .await?;
            assert_eq!(answer["result"]["highest"], highest);
        }
        let refused = client
            .ask("tides/record", json!({ "metres": "high" }))
            .await?;
        assert_eq!(refused["error"]["code"], -32602);
        Ok(())
    }
}
