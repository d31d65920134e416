//! Serves an MCP server of any kind, as the commands of `pintle` do.
//!
//! ```no_run
//! use pintle::prelude::*;
//! use pintle::runtime::BoxService;
//! use pintle_serving::{Exposure, Observation, Serving, ServingEvent, Transport, serve};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new("desk", "1.0.0").build()?;
//! let transport = Transport::Http {
//!     address: "127.0.0.1:8000".parse()?,
//!     exposure: Exposure::Loopback,
//! };
//! let serving = Serving::new(transport);
//! serve(BoxService::new(server), serving, |event: ServingEvent| eprintln!("{event:?}")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The functions are not generic, so a program that uses them compiles no code of HTTP.

#[cfg(feature = "telemetry")]
mod exporter;
#[cfg(not(feature = "telemetry"))]
#[path = "no_exporter.rs"]
mod exporter;
mod observation;
mod observe;
mod serve;
mod signal;
mod stdio;
mod transport;
#[cfg(unix)]
mod unix_socket;

pub use observation::{Observation, ObservationError, OtlpTarget};
pub use serve::{RequestQuota, Serving, ServingError, ServingEvent, serve, serve_stdio};
pub use signal::stop_signal;
pub use stdio::Stdio;
pub use transport::{BearerPolicy, Exposure, Transport};
