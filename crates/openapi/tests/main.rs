//! Documents, and the requests of their operations. No request leaves the process.

mod documents;
mod requests;

use pintle_openapi::{OpenApi, OpenApiError, Operation};
use serde_json::{Value, json};

/// Returns the document with these paths and a base URL.
fn document(paths: Value) -> OpenApi {
    of(json!({ "openapi": "3.1.0", "paths": paths }))
}

fn of(document: Value) -> OpenApi {
    let api = OpenApi::parse(document.to_string()).expect("a document");
    api.base_url("https://api.example.com/v1/")
}

/// Returns the names of the operations.
fn names(api: &OpenApi) -> Result<String, OpenApiError> {
    let operations = api.operations()?;
    let names: Vec<&str> = operations.iter().map(Operation::name).collect();
    Ok(names.join(" "))
}
