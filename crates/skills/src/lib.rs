//! Agent skills over MCP: the extension `io.modelcontextprotocol/skills` (SEP-2640), for servers.
//!
//! A skill is a directory with a `SKILL.md`. YAML between two lines of `---` gives its name and its
//! purpose; the rest is for a model that uses the skill. [`Skills`] reads skills from a directory or
//! from memory, and is added to a server like any extension:
//!
//! ```
//! use pintle::server::Server;
//! use pintle_skills::{Skill, Skills};
//!
//! let refunds = Skill::new("refunds", "---\nname: refunds\ndescription: Pays money back.\n---\nBe kind.\n")
//!     .file("references/limits.md", "Up to 50 €.");
//! let skills = Skills::new().skill(refunds)?;
//! let app = Server::new("shop", "1.0.0").extend(skills).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Clients that speak 2026-07-28 list skills, get one by its URI, and walk its directories. Older
//!   clients see the same files as resources.
//! - All files are read and checked at start. So the digests match the served files, also if the
//!   directory changes. Restart the server to serve changed skills.
//! - Symbolic links, special files and files beyond [`SkillLimits`] are errors at start, with their
//!   path. Names that begin with a dot are left out.
//!
//! This crate uses only the public API of `pintle`.

mod catalog;
mod directory;
mod entry;
mod error;
mod extension;
mod frontmatter;
mod limits;
mod media;
mod methods;
mod skill;
mod uri;
mod yaml;

pub use entry::{FileMismatchError, SkillEntry, SkillFile, SkillFiles};
pub use error::{SkillError, SkillErrorKind};
pub use extension::Skills;
pub use limits::SkillLimits;
pub use methods::{
    DirectoryResult, GetSkill, GetSkillResult, ListSkills, ListSkillsResult, ReadDirectory,
    UriPageParams, UriParams,
};
pub use skill::Skill;

/// The id of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";
