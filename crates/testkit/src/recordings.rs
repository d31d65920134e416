//! Servers with recorded or fixed answers, as fixtures of tests.
//!
//! `pintle tap --record FILE` writes a recording. [`Replay::server`] answers from it, in the revision of each client.
//! A [`Mock`] has the answers of a TOML file. Both are servers like any other, without a process or a network.
//!
//! ```
//! use pintle_testkit::BothEras;
//! use pintle_testkit::recordings::{Recording, Replay};
//! use serde_json::json;
//!
//! // In a test: Recording::open("tests/weather.jsonl")
//! let recording = Recording::read(concat!(
//!     r#"{"pintle_recording":1}"#, "\n",
//!     r#"{"ms":1,"to":"server","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sky"}}}"#, "\n",
//!     r#"{"ms":2,"to":"client","message":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"clear"}]}}}"#,
//! ).as_bytes())?;
//!
//! let agreed = BothEras::new(|_| Replay::server(&recording).0).calling("sky", json!({})).run();
//! assert_eq!(agreed.text(), "clear");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pintle_tap::{
    Miss, Mock, MockError, RecordedExchange, RecordedMessage, RecordedServer, RecordedStep,
    Recording, RecordingError, Replay, ReplayMisses,
};
