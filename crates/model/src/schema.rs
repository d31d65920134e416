//! A JSON Schema that its clones share.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::JsonObject;

/// A JSON Schema as an object.
///
/// It is used like the [`JsonObject`] that it dereferences to. A clone shares the members of the
/// original, because many tools have the same schema and every list repeats it. A change of a shared
/// schema copies the members first, so no other clone changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema(Arc<JsonObject>);

impl Schema {
    /// Returns the members. It copies them if the schema is shared.
    pub fn into_object(self) -> JsonObject {
        Arc::unwrap_or_clone(self.0)
    }
}

impl Deref for Schema {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        &self.0
    }
}

impl DerefMut for Schema {
    fn deref_mut(&mut self) -> &mut JsonObject {
        Arc::make_mut(&mut self.0)
    }
}

impl From<JsonObject> for Schema {
    fn from(members: JsonObject) -> Self {
        Self(Arc::new(members))
    }
}

impl From<Schema> for JsonObject {
    fn from(schema: Schema) -> Self {
        schema.into_object()
    }
}

impl PartialEq<JsonObject> for Schema {
    fn eq(&self, other: &JsonObject) -> bool {
        *self.0 == *other
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
impl Schema {
    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        JsonObject::from_iter([("type".to_owned(), json!("object"))]).into()
    }

    #[test]
    fn a_clone_shares_its_members_until_it_changes() {
        let first = schema();
        let mut second = first.clone();
        assert!(second.is_shared_with(&first));

        second.insert("title".to_owned(), json!("x"));
        assert_eq!(first, schema());
        assert_eq!(json!(second), json!({"type": "object", "title": "x"}));
    }

    #[test]
    fn the_members_of_a_shared_schema_are_copied_out() {
        let first = schema();
        let mut members = first.clone().into_object();
        members.clear();
        assert_eq!(first, schema());
    }
}
