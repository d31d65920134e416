//! The operations of a document, and its bounds.

use pintle_openapi::{OpenApi, OpenApiError, OpenApiLimits};
use serde_json::{Value, json};

use crate::{document, names, of};

fn ships() -> Value {
    json!({
        "/ships": {
            "parameters": [{ "name": "flag", "in": "query", "schema": { "type": "string" } }],
            "get": { "operationId": "list.ships", "tags": ["read"], "summary": "Lists.", "description": "All of them." },
            "post": { "operationId": "add_ship", "tags": ["write"], "deprecated": true },
        },
        "/ships/{name}": {
            "parameters": [{ "$ref": "#/components/parameters/name" }],
            "delete": { "tags": ["write", "admin"] },
        },
    })
}

fn harbour() -> OpenApi {
    let name =
        json!({ "name": "name", "in": "path", "required": true, "schema": { "type": "string" } });
    of(
        json!({ "openapi": "3.1.0", "paths": ships(), "components": { "parameters": { "name": name } } }),
    )
}

#[test]
fn each_operation_has_a_name_and_a_description() {
    let operations = harbour().operations().expect("three");
    assert_eq!(
        names(&harbour()).expect("three"),
        "list_ships add_ship delete_ships__name"
    );
    let texts: Vec<_> = operations
        .iter()
        .map(|operation| operation.description())
        .collect();
    assert_eq!(
        texts,
        [Some("Lists.\n\nAll of them."), Some("Deprecated."), None]
    );
    let hints = |at: usize| {
        (
            operations[at].is_read_only(),
            operations[at].is_idempotent(),
        )
    };
    assert_eq!(
        [hints(0), hints(1), hints(2)],
        [(true, true), (false, false), (false, true)]
    );
}

#[test]
fn an_added_tag_is_beside_those_of_the_document() {
    let tagged = harbour().tag("api").operations().expect("three");
    let tags: Vec<&str> = tagged[0].tags().iter().map(|tag| &**tag).collect();
    assert_eq!(tags, ["read", "api"]);
    let none = harbour().tag("api").only_tags(["api"]);
    assert_eq!(none.operations().expect("none").len(), 0);
}

#[test]
fn filters_choose_by_tag_method_id_and_closure() {
    let names = |api: OpenApi| names(&api).expect("operations");
    assert_eq!(
        names(harbour().only_tags(["admin", "read"])),
        "list_ships delete_ships__name"
    );
    assert_eq!(
        names(harbour().only_methods(["get", "DELETE"])),
        "list_ships delete_ships__name"
    );
    assert_eq!(
        names(harbour().only_operations(["list.ships"])),
        "list_ships"
    );
    assert_eq!(
        names(
            harbour()
                .filter(|one| !one.is_deprecated)
                .only_tags(["write"])
        ),
        "delete_ships__name"
    );
    let missing = harbour().only_operations(["list_ships"]).operations();
    assert!(matches!(missing, Err(OpenApiError::NoOperation(id)) if *id == *"list_ships"));
}

#[test]
fn equal_names_are_numbered() {
    let operation = json!({ "operationId": "a" });
    let api = document(
        json!({ "/x": { "get": operation, "put": operation }, "/y": { "get": operation } }),
    );
    assert_eq!(names(&api).expect("three"), "a a_2 a_3");
}

#[test]
fn a_schema_has_parameters_a_body_and_the_definitions_of_both() {
    let api = of(json!({
        "openapi": "3.0.3",
        "paths": { "/ships/{id}": { "put": {
            "parameters": [
                { "name": "id", "in": "path", "schema": { "type": "integer" }, "description": "Number of the ship." },
                { "name": "id", "in": "query", "schema": { "$ref": "#/components/schemas/Flag" } },
                { "name": "session", "in": "cookie", "schema": {} },
                { "name": "Authorization", "in": "header", "schema": {} },
                { "name": "X-Key", "in": "header", "required": true, "schema": {} },
            ],
            "requestBody": { "required": true, "content": { "application/json; charset=utf-8": {
                "schema": { "$ref": "#/components/schemas/Ship" },
            } } },
        } } },
        "components": { "schemas": {
            "Flag": { "type": "string", "nullable": true },
            "Ship": { "type": "object", "properties": { "flag": { "$ref": "#/components/schemas/Flag" } } },
            "Unused": { "type": "string" },
        } },
    }));
    let operations = api.header("x-key", "secret").operations().expect("one");
    let expected = json!({
        "type": "object",
        "properties": {
            "id_path": { "type": "integer", "description": "Number of the ship." },
            "id_query": { "$ref": "#/$defs/Flag" },
            "body": { "$ref": "#/$defs/Ship" },
        },
        "required": ["id_path", "body"],
        "additionalProperties": false,
        "$defs": {
            "Flag": { "type": ["string", "null"] },
            "Ship": { "type": "object", "properties": { "flag": { "$ref": "#/$defs/Flag" } } },
        },
    });
    assert_eq!(
        Value::Object(operations[0].input_schema().clone()),
        expected
    );
}

#[test]
fn scopes_come_from_security_and_from_a_member() {
    let api = || {
        of(json!({
            "openapi": "3.1.0",
            "security": [{ "oauth": ["read"] }],
            "paths": { "/x": {
                "get": { "x-scopes": ["ships"] },
                "put": { "security": [{ "oauth": ["write"] }] },
            } },
        }))
    };
    let scopes = |api: OpenApi| {
        let operations = api.operations().expect("two");
        operations
            .iter()
            .map(|one| one.scopes().join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(scopes(api()), ["read", "write"]);
    assert_eq!(
        scopes(api().scopes_member("x-scopes")),
        ["read ships", "write"]
    );
    assert_eq!(
        scopes(api().ignore_security().scopes_member("x-scopes")),
        ["ships", ""]
    );
}

#[test]
fn an_operation_that_cannot_be_a_tool_is_an_error_or_left_out() {
    let parameter = |place: &str, more: Value| {
        let mut parameter = json!({ "name": "p", "in": place, "required": true, "schema": {} });
        parameter
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        json!({ "parameters": [parameter] })
    };
    let query = |n: usize| json!({ "name": n.to_string(), "in": "query", "schema": {} });
    for (path, operation) in [
        ("/x", parameter("cookie", json!({}))),
        ("/x", parameter("path", json!({}))),
        ("/x/{q}", json!({})),
        ("/x/{p}", parameter("path", json!({ "style": "matrix" }))),
        ("/x", parameter("header", json!({ "name": "Host" }))),
        (
            "/x",
            parameter(
                "query",
                json!({ "schema": { "$ref": "https://a.example/s.json" } }),
            ),
        ),
        (
            "/x",
            parameter("query", json!({ "schema": { "$ref": "#/nothing" } })),
        ),
        (
            "/x",
            json!({ "requestBody": { "required": true, "content": { "text/csv": {} } } }),
        ),
        ("/x?y=1", json!({})),
        ("x", json!({})),
        ("/x", json!({ "security": "none" })),
        ("/x", json!({ "parameters": {} })),
        (
            "/x",
            json!({ "parameters": (0..257).map(query).collect::<Vec<_>>() }),
        ),
        (
            "/x",
            json!({ "security": [{ "a": (0..65).map(|n| n.to_string()).collect::<Vec<_>>() }] }),
        ),
    ] {
        let api = || document(json!({ path: { "get": operation }, "/y": { "get": {} } }));
        let error = api().operations().expect_err("refused");
        assert!(
            matches!(error, OpenApiError::Unsupported { .. }),
            "{error:?}"
        );
        assert_eq!(
            names(&api().skip_unsupported()).expect("one"),
            "get_y",
            "{operation}"
        );
    }
}

#[test]
fn a_document_is_bounded() {
    let mut limits = OpenApiLimits::default();
    limits.max_operations = 2;
    let error = harbour()
        .limits(limits)
        .operations()
        .expect_err("three operations");
    assert!(matches!(error, OpenApiError::TooManyOperations(2)));

    let large = json!({ "enum": (0..100).collect::<Vec<_>>() });
    let parameter = json!({ "name": "p", "in": "query", "schema": { "$ref": "#/large" } });
    let operation = json!({ "parameters": [parameter] });
    let paths: serde_json::Map<String, Value> = (0..100)
        .map(|n| (format!("/{n}"), json!({ "get": operation })))
        .collect();
    let api = of(json!({ "openapi": "3.1.0", "paths": paths, "large": large }));
    assert_eq!(api.operations().expect("within the limits").len(), 100);
    let mut limits = OpenApiLimits::default();
    limits.max_schema_values = 5_000;
    let error = api
        .limits(limits)
        .skip_unsupported()
        .operations()
        .expect_err("100 copies");
    assert!(matches!(error, OpenApiError::TooManySchemas(5_000)));

    // One long text that many operations copy.
    let parameter =
        json!({ "name": "p", "in": "query", "schema": {}, "description": "x".repeat(64_000) });
    let operation = json!({ "parameters": [{ "$ref": "#/long" }] });
    let paths: serde_json::Map<String, Value> = (0..100)
        .map(|n| (format!("/{n}"), json!({ "get": operation })))
        .collect();
    let api = of(json!({ "openapi": "3.1.0", "paths": paths, "long": parameter }));
    limits.max_schema_values = 50_000;
    let error = api.limits(limits).operations().expect_err("100 copies");
    assert!(matches!(error, OpenApiError::TooManySchemas(50_000)));

    let text = " ".repeat(OpenApiLimits::default().max_document_bytes + 1);
    assert!(matches!(
        OpenApi::parse(text),
        Err(OpenApiError::TooLarge(_))
    ));
}

#[test]
fn another_version_is_refused() {
    for document in [
        json!({ "swagger": "2.0" }),
        json!({ "openapi": "4.0.0" }),
        json!({ "openapi": 3 }),
        json!([]),
    ] {
        let error = OpenApi::parse(document.to_string()).expect_err("refused");
        assert!(matches!(error, OpenApiError::Version(_)));
    }
    assert!(matches!(
        OpenApi::parse("openapi: 3.1.0"),
        Err(OpenApiError::NotJson(_))
    ));
}
