//! Limits of the skills of a server.

/// Limits of the skills of one server. A skill beyond them is an error at start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillLimits {
    /// Maximum number of skills, all of them in memory; default 1,000.
    pub max_skills: usize,
    /// Maximum number of files of one skill, `SKILL.md` included; default 512. Clients need not accept
    /// more.
    pub max_files_per_skill: usize,
    /// Maximum size of all files of one skill, in bytes; default 16 MiB. Clients need not accept more.
    pub max_bytes_per_skill: u64,
    /// Maximum size of all files together, in bytes; default 256 MiB. They are in memory.
    pub max_total_bytes: u64,
    /// Maximum size of the YAML of one skill, in bytes; default 64 KiB. Every list repeats it.
    pub max_frontmatter_bytes: usize,
    /// Maximum number of nested directories, on disk or in a path; default 16.
    pub max_depth: usize,
    /// Entries of a page of skills or of a directory; default 50. A page of the largest skills fits
    /// into one message.
    pub page_size: usize,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self {
            max_skills: 1_000,
            max_files_per_skill: 512,
            max_bytes_per_skill: 16 << 20,
            max_total_bytes: 256 << 20,
            max_frontmatter_bytes: 64 << 10,
            max_depth: 16,
            page_size: 50,
        }
    }
}
