//! The code of the rules, by subject.

pub(crate) mod counts;
pub(crate) mod gemini;
pub(crate) mod names;
pub(crate) mod schemas;
pub(crate) mod strict;
pub(crate) mod texts;

#[cfg(test)]
mod tests;
