//! The surface of an MCP server: everything that a model and a user read of it.
//!
//! A [`Surface`] has the name and the version of the server, its instructions, and the whole definitions of its
//! tools, prompts, resources and resource templates. [`Surface::to_json`] returns a lock file, which a project commits
//! and reviews. [`Surface::compare`] finds every difference between two surfaces, and [`Comparison::to_text`]
//! shows them word by word.
//!
//! A lock file protects from a server that changes the definition of a tool after a review. Invisible characters
//! are escapes in the file and in a comparison, so that a reader sees them.
//!
//! ```
//! use pintle_model::Tool;
//! use pintle_surface::Surface;
//!
//! let old = Surface::new("calculator", "1.0.0")
//!     .with_tools([&Tool::without_arguments("add").with_description("Adds numbers.")]);
//! let new = Surface::new("calculator", "1.0.0")
//!     .with_tools([&Tool::without_arguments("add").with_description("Adds num\u{200b}bers.")]);
//! assert_eq!(Surface::from_json(&old.to_json())?, old);
//!
//! let expected = "tool add: changed\n  /description: Adds [-numbers-]{+num\\u{200b}bers+}.\n";
//! assert_eq!(old.compare(&new).to_text(), expected);
//! # Ok::<(), pintle_surface::SurfaceError>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod client;
mod compare;
mod file;
mod hidden;
mod render;
mod surface;
mod words;

pub use compare::{Change, Comparison, Difference, MemberChange};
pub use file::{FORMAT, MAX_ENTRIES, MAX_FILE_BYTES, SurfaceError};
pub use hidden::{is_hidden, show_hidden};
pub use surface::{EntryKind, Surface};
