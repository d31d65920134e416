//! A complete implementation of the [Model Context Protocol](https://modelcontextprotocol.io):
//! all five revisions, one handler for all of them.
//!
//! A tool is a function. Its doc comment is its description, its parameters are its schema:
//!
//! ```no_run
//! use pintle::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! async fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! pintle::serve!(Server::new("calculator", "1.0.0").tool::<add>());
//! ```
//!
//! [The book](https://github.com/pintle-mcp/pintle/blob/main/docs/book/src/SUMMARY.md) has a chapter for each task, with a complete
//! program in each.
//!
//! # Where things are
//!
//! | module | for |
//! |---|---|
//! | [`model`] | the types of every revision |
//! | [`proto`] | the engine of a conversation, without I/O |
//! | [`runtime`] | drivers, [`Context`](runtime::Context), services and layers |
//! | [`schema`] | JSON Schema: derived from types, and enforced |
#![cfg_attr(feature = "server", doc = "| [`server`] | tools, resources, prompts |")]
#![cfg_attr(feature = "server", doc = "| [`store`] | where tasks are kept |")]
#![cfg_attr(
    any(feature = "http", feature = "http-client"),
    doc = "| [`http`] | Streamable HTTP |"
)]
#![cfg_attr(feature = "client", doc = "| [`client`] | the client |")]
#![cfg_attr(
    feature = "client",
    doc = "| [`process`] | servers as child processes |"
)]
#![cfg_attr(
    any(feature = "auth", feature = "auth-server"),
    doc = "| [`auth`] | tokens: how to get them, and who they are for |"
)]
#![cfg_attr(
    feature = "openapi",
    doc = "| [`openapi`] | tools from an OpenAPI document |"
)]
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `server` | yes | the server framework, and servers on standard streams and sockets |
//! | `macros` | yes | `#[tool]`, `#[prompt]`, `#[resource]`, `#[pintle::main]`, [`serve!`] |
//! | `derive` | yes | `#[data]`, and the derives of serde and schemars; a server without them builds in less time |
//! | `tasks` | yes | tools that run as tasks, and `Server::store`; `file-store` and `replicas` add it |
//! | `any-schema` | no | `Tool::from_schema` with any JSON Schema |
//! | `http` | no | Streamable HTTP: `into_http()`, `serve_http()`, and `--http` of `run()` |
//! | `openapi` | no | [`openapi`]: the operations of an OpenAPI document as tools |
//! | `keys` | no | [`keys`]: keys that replicas share, for request states and stores; `http` adds it |
//! | `replicas` | no | `state`: a state that the replicas of a server share, and stores that several processes can open; `sqlite`, `redis` and `postgres` add it |
//! | `auth-server` | no | servers that accept only requests with a token: [`auth::resource::RequireBearer`] |
//! | `file-store` | no | `store::FileStore`: tasks outlive their process |
//! | `sqlite` | no | `sqlite::SqliteStore`: several processes of one host share tasks; needs a C compiler |
//! | `redis` | no | `redis::RedisStore`: the processes of several hosts share a store in Redis or Valkey |
//! | `postgres` | no | `postgres::PostgresStore`: the processes of several hosts share a store |
//! | `audit` | no | `audit::Audit`: one line of JSON for each request |
//! | `otel` | no | `otel::Telemetry`: spans and metrics by the OpenTelemetry conventions for MCP |
//! | `otlp` | no | `otel::Exports`: their export by OTLP over HTTP |
//! | `prometheus` | no | `otel::MetricsServer`: metrics as the text of Prometheus |
//! | `inspector` | no | `web::Inspect`: `inspector()` serves a page that shows and calls the server, in development |
//! | `client` | no | the client: servers in process, behind byte streams, behind sockets |
//! | `http-client` | no | the client over Streamable HTTP: [`http::client::HttpConnect`] |
//! | `auth` | no | sign-ins of that client: `auth::OAuth`, for `HttpClientOptions::authorizer` |
//! | `keyring` | no | their credentials in the keyring of the system: `auth::KeyringCredentialStore` |
//! | `sse` | no | the HTTP transport of 2024-11-05 beside it: `HttpServer::with_sse()` |
//!
//! Features add items; they never change the behavior of existing items. One exception: `any-schema` removes an error
//! of `Tool::from_schema`.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(inline)]
pub use pintle_model as model;
#[doc(inline)]
pub use pintle_proto as proto;
#[doc(inline)]
pub use pintle_runtime as runtime;
#[doc(inline)]
pub use pintle_schema as schema;

#[cfg(feature = "audit")]
#[doc(inline)]
pub use pintle_audit as audit;
#[cfg(any(feature = "auth", feature = "auth-server"))]
#[doc(inline)]
pub use pintle_auth as auth;
#[cfg(any(feature = "http", feature = "http-client"))]
#[doc(inline)]
pub use pintle_http as http;
#[cfg(feature = "keys")]
#[doc(inline)]
pub use pintle_keys as keys;
#[cfg(feature = "derive")]
pub use pintle_macros::data;
#[cfg(feature = "macros")]
pub use pintle_macros::{main, prompt, resource, tool, tools};
#[cfg(feature = "otel")]
#[doc(inline)]
pub use pintle_otel as otel;
#[cfg(feature = "postgres")]
#[doc(inline)]
pub use pintle_postgres as postgres;
#[cfg(feature = "client")]
#[doc(inline)]
pub use pintle_process as process;
#[cfg(feature = "redis")]
#[doc(inline)]
pub use pintle_redis as redis;
#[cfg(feature = "server")]
#[doc(inline)]
pub use pintle_server as server;
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use pintle_sqlite as sqlite;
#[cfg(feature = "server")]
#[doc(inline)]
pub use pintle_store as store;
#[cfg(feature = "inspector")]
#[doc(inline)]
pub use pintle_web as web;

/// The client of servers of any revision; [`pintle_client`] describes it.
///
/// The items of [`process`] are also here.
#[cfg(feature = "client")]
pub mod client {
    pub use pintle_client::*;
    pub use pintle_process::{
        ChildExit, ChildOptions, ChildServer, ChildTransport, Command, SpawnError, Supervisor,
    };
}

#[cfg(feature = "server")]
mod command_line;
#[cfg(feature = "http-client")]
mod connect;
#[cfg(feature = "server")]
mod fallback;
#[cfg(feature = "macros")]
mod main_function;
#[cfg(feature = "openapi")]
pub mod openapi;
#[cfg(feature = "server")]
mod run;
#[cfg(feature = "replicas")]
mod state;

pub mod prelude;

#[cfg(feature = "server")]
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[cfg(feature = "http-client")]
pub use connect::ByUrl;
#[cfg(feature = "macros")]
pub use main_function::Main;
#[cfg(feature = "server")]
pub use run::{Run, RunError};
#[cfg(feature = "replicas")]
pub use state::{StateError, StateErrorKind, StateUrl, state};

/// Any error, in a box.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of `main` and of handlers that return arbitrary errors.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(all(doctest, feature = "auth", feature = "auth-server", feature = "macros"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
