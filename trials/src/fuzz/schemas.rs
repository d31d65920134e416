//! Schemas of tools, and values that are checked with them.

use pintle::model::JsonObject;
use pintle::schema::{Validator, Validity};
use serde_json::Value;

use super::first_line;

/// Compiling and checking end. Keywords that are enforced in our own schemas are enforced in
/// foreign ones, too.
///
/// # Panics
///
/// If not.
pub fn schemas(data: &[u8]) {
    let (schema, value) = first_line(data);
    let Ok(schema) = serde_json::from_slice::<JsonObject>(schema) else {
        return;
    };
    let value: Value = serde_json::from_slice(value).unwrap_or_default();
    let ours = Validator::compile(&schema);
    let foreign = Validator::compile_foreign(&schema);
    for validator in ours.iter().chain(&foreign) {
        let mut corrected = value.clone();
        validator.coerce_integers(&mut corrected);
        validator.drop_optional_nulls(&mut corrected);
        let _ = validator.validate(&corrected);
    }
    if let (Ok(ours), Ok(foreign)) = (&ours, &foreign) {
        let (ours, foreign) = (ours.check(&value), foreign.check(&value));
        assert_eq!(
            is_unfit(&ours),
            is_unfit(&foreign),
            "{ours:?} beside {foreign:?}"
        );
    }
}

fn is_unfit(verdict: &Validity) -> bool {
    matches!(verdict, Validity::Invalid(_))
}
