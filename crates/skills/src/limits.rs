//! Bounds of what is served.

/// Bounds of the skills of one server. What is beyond them is an error at start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillLimits {
    /// Skills; 1,000 by default. All of them are kept in memory.
    pub skills: usize,
    /// Files of one skill, `SKILL.md` included; 512 by default: clients need not take more.
    pub skill_files: usize,
    /// Bytes of all files of one skill; 16 MiB by default: clients need not take more.
    pub skill_bytes: u64,
    /// Bytes of all files together; 256 MiB by default. They are kept in memory.
    pub total_bytes: u64,
    /// Bytes of the YAML of one skill; 64 KiB by default. It is repeated in every list.
    pub frontmatter_bytes: usize,
    /// Directories inside each other, on disk or in a path; 16 by default.
    pub depth: usize,
    /// Entries of a page of skills or of a directory; 50 by default, so that a page of the largest
    /// skills stays below what a message may hold.
    pub page: usize,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self {
            skills: 1_000,
            skill_files: 512,
            skill_bytes: 16 << 20,
            total_bytes: 256 << 20,
            frontmatter_bytes: 64 << 10,
            depth: 16,
            page: 50,
        }
    }
}
