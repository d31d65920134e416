//! Keywords of dialects before 2020-12 that were renamed or split since.

use serde_json::Value;

use super::Compiler;
use crate::schema::SchemaError;
use crate::schema::keywords::join;
use crate::validate::node::Rule;
use crate::validate::reader::{Reader, strings};

impl<'a> Compiler<'a> {
    /// `dependencies`: for each member that is there, others that must be, or a schema.
    pub(super) fn dependencies(
        &mut self,
        reader: &Reader<'_, 'a>,
    ) -> Result<Option<Rule>, SchemaError> {
        if !self.reading.has_older_forms() {
            return Ok(None);
        }
        let Some(dependencies) = reader.map("dependencies")? else {
            return Ok(None);
        };
        let at = reader.at("dependencies");
        let (mut lists, mut schemas) = (Vec::new(), Vec::new());
        for (name, dependency) in dependencies {
            let pointer = join(&at, name);
            if dependency.is_array() {
                lists.push((name.clone(), names(&pointer, dependency)?));
            } else {
                schemas.push((name.clone(), self.child(pointer, dependency)?));
            }
        }
        Ok(Some(Rule::Dependencies { lists, schemas }))
    }
}

fn names(pointer: &str, list: &Value) -> Result<Vec<String>, SchemaError> {
    strings(list).ok_or_else(|| SchemaError::Malformed {
        pointer: pointer.to_owned(),
        expected: "an array of strings",
    })
}
