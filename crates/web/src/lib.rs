//! A page in the browser that shows and calls MCP servers, served on loopback.
//!
//! [`Web`] serves the page: hand-written files that are a part of the program. The servers come from a [`Targets`].
//! `pintle web` passes those of its command line and of the hosts. In development, [`Inspect::inspector`] serves the page
//! beside a server. A program can also serve the page of its own server alone:
//!
//! ```no_run
//! # async fn example(server: impl pintle_runtime::IntoService<Service: Clone>) -> Result<(), Box<dyn std::error::Error>> {
//! use pintle_web::{OneTarget, Web, WebOptions};
//!
//! let page = OneTarget::new("my server", server)?;
//! let web = Web::bind(([127, 0, 0, 1], 0).into(), page, WebOptions::default()).await?;
//! println!("{}", web.url());
//! web.serve(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! - **Access.** The address is loopback, and the fragment of the URL has a random token. The page sends it with each
//!   request. `Host` and `Origin` must be the address of the page.
//! - **Texts of servers** are never markup: the page writes them as text nodes, and its policy allows no other script.
//! - **Network.** The page connects to its own address only. Links of servers open after a question to the user.
//! - **Bounds.** Everything that waits or grows has a bound: [`WebOptions`].

mod api;
mod asked;
mod backend;
mod failure;
mod feed;
mod guard;
mod handlers;
mod inspector;
mod object;
mod observed;
mod options;
mod output;
mod page;
mod questions;
mod respond;
mod session;
mod sign_in;
mod target;
mod token;
mod web;

pub use inspector::{Inspect, Inspected, Inspector};
pub use options::WebOptions;
pub use output::ServerOutput;
pub use sign_in::SignInSteps;
pub use target::{Judge, OneTarget, RecordingText, Target, TargetError, TargetName, Targets};
pub use web::{Web, WebError};
