//! Values of every revision, against published schemas and documents.

mod documents;
mod generated;
mod schema_coverage;
mod seeds;
