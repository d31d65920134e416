//! The messages of the compiler for wrong uses of an attribute.
//!
//! `TRYBUILD=overwrite cargo test -p pintle --test integration ui` writes the answers anew; review them like code.

#[test]
fn mistakes_are_explained_where_they_are_made() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
