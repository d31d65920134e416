use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn call(filter: &ToolFilter, params: &str) -> Result<String, i64> {
    let passed = filter.call(params);
    passed.map(Cow::into_owned).map_err(|error| error.code.0)
}

#[test]
fn parameters_pass_unchanged_without_a_rule_for_their_tool() {
    let params = r#"{ "name" : "a", "arguments": {"n":1.50} }"#;
    let filter = ToolFilter::default().without("b").rename("c", "d");
    assert_eq!(call(&filter, params), Ok(params.to_owned()));
    assert_eq!(
        call(&ToolFilter::default(), "not JSON"),
        Ok("not JSON".to_owned())
    );
}

#[test]
fn other_members_of_a_call_stay_as_they_are() {
    let filter = ToolFilter::default()
        .rename("a", "b")
        .fixed_argument("a", "x", 2);
    let params = r#"{"arguments":{"x":1,"n":1.50,"x":3},"name":"b","_meta":{"y":1.0}}"#;
    let expected = r#"{"arguments":{"n":1.50,"x":2},"name":"a","_meta":{"y":1.0}}"#;
    assert_eq!(call(&filter, params), Ok(expected.to_owned()));
    let without = call(&filter, r#"{"name":"b"}"#);
    assert_eq!(
        without.as_deref(),
        Ok(r#"{"name":"a","arguments":{"x":2}}"#)
    );
}

#[test]
fn two_tools_can_exchange_their_names() {
    let filter = ToolFilter::default().rename("a", "b").rename("b", "a");
    assert!(filter.names.check().is_ok());
    assert_eq!(
        call(&filter, r#"{"name":"a"}"#).as_deref(),
        Ok(r#"{"name":"b"}"#)
    );
    assert_eq!(
        call(&filter, r#"{"name":"b"}"#).as_deref(),
        Ok(r#"{"name":"a"}"#)
    );
}

#[test]
fn parameters_that_are_not_those_of_a_call_are_refused() {
    let filter = ToolFilter::default().only("a").fixed_argument("a", "x", 1);
    for params in [
        "",
        "[]",
        r#"["a"]"#,
        r#"{"name":"b"}"#,
        r#"{"name":"a","arguments":[]}"#,
        r#"{"name":"a","arguments":{},"arguments":{}}"#,
    ] {
        assert_eq!(call(&filter, params), Err(-32602), "{params}");
    }
}

#[test]
fn a_page_that_is_not_a_list_of_tools_is_an_error() {
    let filter = ToolFilter::default().only("a");
    for page in [json!({}), json!({ "tools": 1 }), json!([])] {
        let page = to_raw_value(&page).expect("JSON");
        assert_eq!(filter.list(page).expect_err("invalid").code.0, -32603);
    }
}
