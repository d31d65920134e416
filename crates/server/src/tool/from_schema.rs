//! Tools whose schema is known at run time only.

use pintle_model::JsonObject;
use pintle_schema as schema;
use pintle_schema::{SchemaError, Validator};

use crate::tool::Tool;
use crate::tool::fault::ToolDefinitionError;

impl Tool {
    /// Begins a tool whose input schema is JSON: from a file, a database or another server. Its handler
    /// receives the arguments as JSON, and every call is checked against the schema.
    ///
    /// Pintle enforces the keywords that [`Tool::input_schema`] accepts. With the feature `any-schema` a schema may
    /// also have other keywords, other patterns and an older dialect, and the crate `jsonschema` enforces it.
    ///
    /// ```
    /// use pintle_model::JsonObject;
    /// use pintle_server::Tool;
    ///
    /// let schema: JsonObject = serde_json::from_str(
    ///     r#"{ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] }"#,
    /// )?;
    /// let tool = Tool::from_schema("weather", schema)?
    ///     .description("Returns the weather of a city.")
    ///     .handler(async |arguments: JsonObject| format!("{} has rain", arguments["city"]));
    /// assert!(tool.check().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ToolDefinitionError::Feature`] names the keyword that requires the feature, if the feature is off.
    /// - [`ToolDefinitionError::Input`] if the schema cannot be offered or enforced at all.
    pub fn from_schema(
        name: impl Into<String>,
        schema: JsonObject,
    ) -> Result<Self, ToolDefinitionError> {
        Self::new(name).accept_schema(schema)
    }

    fn accept_schema(mut self, schema: JsonObject) -> Result<Self, ToolDefinitionError> {
        let checked = schema::check_input(&schema).and_then(|()| Validator::compile(&schema));
        match checked {
            Ok(validator) => self.checks.write_input(validator),
            Err(error) if is_beyond_ours(&error) => self.accept_any(&schema, error)?,
            Err(error) => return Err(ToolDefinitionError::Input(error)),
        }
        self.definition.input_schema = schema.into();
        Ok(self)
    }

    #[cfg(feature = "any-schema")]
    fn accept_any(
        &mut self,
        input: &JsonObject,
        _: SchemaError,
    ) -> Result<(), ToolDefinitionError> {
        let compiled = crate::tool::any::AnyValidator::compile_input(input);
        self.checks
            .accept_any_input(compiled.map_err(ToolDefinitionError::Input)?);
        Ok(())
    }

    #[cfg(not(feature = "any-schema"))]
    fn accept_any(
        &mut self,
        _: &JsonObject,
        cause: SchemaError,
    ) -> Result<(), ToolDefinitionError> {
        Err(ToolDefinitionError::Feature(cause))
    }
}

/// Returns true if a schema may be valid, but is more than our validator enforces.
fn is_beyond_ours(error: &SchemaError) -> bool {
    matches!(
        error,
        SchemaError::Unsupported { .. }
            | SchemaError::Pattern { .. }
            | SchemaError::Dialect { .. }
            | SchemaError::RemoteRef { .. }
            | SchemaError::DanglingRef { .. }
    )
}

#[cfg(test)]
mod tests {
    use pintle_model::Outcome;
    use pintle_runtime::Extensions;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::ability::ExtractContext;
    use crate::testing::context;

    fn tool(schema: Value) -> Result<Tool, ToolDefinitionError> {
        let schema = serde_json::from_value(schema).expect("an object");
        let tool = Tool::from_schema("echo", schema)?;
        Ok(tool.handler(async |arguments: JsonObject| Value::Object(arguments).to_string()))
    }

    async fn call(tool: &Tool, arguments: &str) -> (bool, String) {
        let (cx, state) = (context(), Extensions::new());
        let arguments = RawValue::from_string(arguments.to_owned()).expect("JSON");
        let scope = ExtractContext::new(&cx, &state);
        match tool.call(Some((&*arguments).into()), scope).await {
            Ok(Outcome::Complete(result)) => {
                let has_failed = result.has_failed();
                let result = serde_json::to_value(result).expect("JSON");
                let text = result["content"][0]["text"].as_str().expect("a text");
                (has_failed, text.to_owned())
            }
            other => panic!("not {other:?}"),
        }
    }

    #[tokio::test]
    async fn a_tool_from_a_schema_checks_and_receives_json() {
        let schema = json!({ "type": "object", "properties": { "n": { "minimum": 2 } } });
        let tool = tool(schema.clone()).expect("the schema is enforced");
        assert_eq!(
            serde_json::to_value(&tool.definition().input_schema).expect("JSON"),
            schema
        );
        assert_eq!(
            call(&tool, r#"{"n":2}"#).await,
            (false, r#"{"n":2}"#.to_owned())
        );
        let (has_failed, text) = call(&tool, r#"{"n":1}"#).await;
        assert!(has_failed && text.contains("/n"), "{text}");
    }

    #[test]
    fn a_schema_whose_root_is_not_an_object_is_refused() {
        let error = tool(json!({ "type": "string" })).expect_err("refused");
        assert!(matches!(
            error,
            ToolDefinitionError::Input(SchemaError::Root { .. })
        ));
    }

    #[cfg(not(feature = "any-schema"))]
    #[test]
    fn the_error_names_the_keyword_and_the_feature() {
        let schema = json!({ "type": "object", "unevaluatedProperties": false });
        let error = tool(schema).expect_err("refused").to_string();
        assert!(error.contains("`unevaluatedProperties`"), "{error}");
        assert!(error.contains("`any-schema`"), "{error}");
    }

    #[cfg(feature = "any-schema")]
    #[tokio::test]
    async fn other_keywords_are_enforced_by_the_feature() {
        let schema = json!({
            "type": "object",
            "allOf": [{ "properties": { "a": { "type": "integer" } } }],
            "unevaluatedProperties": false
        });
        let tool = tool(schema).expect("the schema is enforced");
        assert_eq!(
            call(&tool, r#"{"a":1}"#).await,
            (false, r#"{"a":1}"#.to_owned())
        );
        let (has_failed, text) = call(&tool, r#"{"b":1}"#).await;
        assert!(
            has_failed && text.contains("unevaluatedProperties"),
            "{text}"
        );
    }
}
