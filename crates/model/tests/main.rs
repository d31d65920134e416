//! Values of every revision, against published schemas and documents.

mod documents;
mod error_texts;
mod generated;
mod schema_coverage;
mod seeds;
