//! Examples: one idea each.
