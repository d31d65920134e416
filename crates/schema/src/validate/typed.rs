//! The schema and validator of a type: derived once, and shared by all tools with that type.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use pintle_model::Schema;
use schemars::JsonSchema;
use schemars::generate::Contract;

use super::needs::{self, SchemaSource};
use super::{Formats, Validator, compile, defaults};
use crate::schema::reading::Reading;
use crate::schema::{HeaderBinding, SchemaError, generate, header_bindings, input_schema_of};

/// The schema of arguments that are decoded as one type, with its validator and headers.
#[derive(Debug)]
pub struct Typed {
    /// The schema, as [`input_schema`](crate::input_schema) returns it.
    pub schema: Schema,
    /// The validator of the schema. It skips checks that decoding performs anyway.
    pub validator: Validator,
    /// The parameters that are mirrored into headers.
    pub headers: Vec<HeaderBinding>,
}

/// The values in use, by type: as many entries as the program has types of arguments.
static HELD: Mutex<BTreeMap<TypeId, Weak<Typed>>> = Mutex::new(BTreeMap::new());

impl Typed {
    /// Derives the schema of `T`, or returns the same value again while one is in use.
    ///
    /// # Errors
    ///
    /// As [`input_schema`](crate::input_schema) and [`Validator::compile`], and
    /// [`SchemaError::Default`] for a default that breaks a bound.
    pub fn of<T: JsonSchema + 'static>() -> Result<Arc<Self>, SchemaError> {
        let held = || HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let found = held().get(&TypeId::of::<T>()).and_then(Weak::upgrade);
        if let Some(typed) = found {
            return Ok(typed);
        }
        // Nothing is locked here: this runs code of the type.
        let typed = Arc::new(Self::derive::<T>()?);
        held().insert(TypeId::of::<T>(), Arc::downgrade(&typed));
        Ok(typed)
    }

    /// Derives it anew.
    pub(super) fn derive<T: JsonSchema>() -> Result<Self, SchemaError> {
        let derived = generate::<T>(Contract::Deserialize);
        let needs_check = needs::says_more(&derived, SchemaSource::Derived);
        let schema = input_schema_of(derived)?;
        defaults::check(&schema)?;
        let compiled = compile::compile(&schema, Reading::OURS, Formats::Noted)?;
        let validator = Validator {
            nodes: compiled.nodes,
            needs_check,
            unenforced: compiled.unenforced,
            is_foreign: false,
        };
        let headers = header_bindings(&schema)?;
        Ok(Self {
            schema: schema.into(),
            validator,
            headers,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(dead_code, reason = "the derived schema reads them")]
    #[derive(JsonSchema)]
    struct Record {
        key: String,
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
    }

    #[expect(dead_code, reason = "the derived schema reads it")]
    #[derive(JsonSchema)]
    #[schemars(rename = "Record")]
    struct Other {
        number: u8,
    }

    #[test]
    fn tools_of_one_type_share_its_schema() {
        let first = Typed::of::<Record>().unwrap();
        let second = Typed::of::<Record>().unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(first.headers[0].name, "Region");
    }

    #[test]
    fn types_of_one_name_have_schemas_of_their_own() {
        let (record, other) = (
            Typed::of::<Record>().unwrap(),
            Typed::of::<Other>().unwrap(),
        );
        assert_eq!(record.schema["required"], json!(["key", "region"]));
        assert_eq!(other.schema["required"], json!(["number"]));
        assert_eq!(
            record
                .validator
                .validate(&json!({ "key": "", "region": "" })),
            Ok(())
        );
        assert!(other.validator.validate(&json!({ "key": "" })).is_err());
    }

    #[test]
    fn an_unused_schema_is_dropped_from_the_cache() {
        #[derive(JsonSchema)]
        struct Brief {}
        let held = Arc::downgrade(&Typed::of::<Brief>().unwrap());
        assert!(held.upgrade().is_none());
        assert!(Typed::of::<Brief>().is_ok(), "and it is derived again");
    }

    #[test]
    fn an_invalid_type_is_refused_each_time() {
        for _ in 0..2 {
            assert!(Typed::of::<Vec<u8>>().is_err());
        }
    }
}
