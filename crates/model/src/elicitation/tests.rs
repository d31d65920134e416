use serde_json::json;

use super::*;
use crate::{Feature, Fit, FitError, Revision};

fn read(value: serde_json::Value) -> PrimitiveSchema {
    serde_json::from_value(value).unwrap()
}

// spec: 2025-11-25 ELIC-13, ELIC-14
// spec: 2026-07-28 N-ELIC-04
#[test]
fn a_question_without_a_mode_is_a_form() {
    let wire = json!({
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}
    });
    let params: ElicitParams = serde_json::from_value(wire.clone()).unwrap();

    assert_eq!(params.mode(), ElicitMode::Form);
    assert_eq!(serde_json::to_value(&params).unwrap(), wire);
}

// spec: 2025-11-25 AMB-78
#[test]
fn a_question_of_an_unknown_mode_is_kept_for_its_refusal() {
    let wire = json!({"mode": "voice", "message": "Who?", "tone": [440]});
    let params: ElicitParams = serde_json::from_value(wire.clone()).unwrap();

    assert_eq!(params.mode(), ElicitMode::from("voice"));
    assert_eq!(params.message(), Some("Who?"));
    assert_eq!(serde_json::to_value(&params).unwrap(), wire);
}

#[test]
fn a_question_without_the_members_of_its_mode_is_rejected() {
    assert!(serde_json::from_value::<ElicitParams>(json!({"message": "Who?"})).is_err());
    assert!(
        serde_json::from_value::<ElicitParams>(json!({"mode": "url", "message": "Go"})).is_err()
    );
    assert!(serde_json::from_value::<ElicitParams>(json!({"mode": 1, "message": "Go"})).is_err());
}

// spec: 2025-11-25 AMB-76, ELIC-19, ELIC-20
// spec: 2026-07-28 N-ELIC-05
#[test]
fn members_decide_the_kind_of_a_field() {
    use PrimitiveSchema as P;
    let choice = json!({"const": "r", "title": "Red"});

    assert!(matches!(
        read(json!({"type": "string", "pattern": "^a"})),
        P::String(_)
    ));
    assert!(matches!(
        read(json!({"type": "string", "enum": ["r"]})),
        P::SingleSelect(_)
    ));
    assert!(matches!(
        read(json!({"type": "string", "enum": ["r"], "enumNames": ["Red"]})),
        P::LegacyTitled(_)
    ));
    assert!(matches!(
        read(json!({"oneOf": [choice], "type": "string"})),
        P::TitledSingleSelect(_)
    ));
    assert!(matches!(
        read(json!({"type": "array", "items": {"type": "string", "enum": ["r"]}})),
        P::MultiSelect(_)
    ));
    assert!(matches!(
        read(json!({"type": "array", "items": {"anyOf": [choice]}})),
        P::TitledMultiSelect(_)
    ));
    assert!(matches!(
        read(json!({"type": "array", "items": {"oneOf": [choice]}})),
        P::TitledMultiSelect(_)
    ));
}

#[test]
fn a_field_of_an_unknown_shape_is_kept() {
    for wire in [
        json!({"type": "object", "properties": {}}),
        json!({"type": ["string", "null"]}),
        json!({"type": "array", "items": {"type": "number"}}),
        json!({"title": "?"}),
    ] {
        let field = read(wire.clone());
        assert!(matches!(field, PrimitiveSchema::Unknown(_)), "{wire}");
        assert_eq!(serde_json::to_value(&field).unwrap(), wire);
    }
}

// spec: 2025-11-25 ELIC-18, AMB-01
#[test]
fn integers_and_numbers_keep_their_form() {
    let wire = json!({"type": "integer", "minimum": 0, "maximum": 10.5, "default": 3});
    let PrimitiveSchema::Number(schema) = read(wire.clone()) else {
        panic!("a number");
    };

    assert_eq!(schema.r#type, NumberKind::Integer);
    assert_eq!(serde_json::to_value(&schema).unwrap(), wire);
}

#[test]
fn a_form_keeps_the_order_of_its_fields_and_refuses_a_repeated_one() {
    let form = ElicitSchema::new()
        .required("z", StringSchema::new())
        .optional("a", BooleanSchema::new());
    let names: Vec<_> = form.properties.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["z", "a"]);
    assert!(form.is_required("z") && !form.is_required("a"));

    let twice = r#"{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"boolean"}}}"#;
    assert!(serde_json::from_str::<ElicitSchema>(twice).is_err());
}

// spec: 2025-11-25 D0618-02, D0618-04, D0618-05
#[test]
fn an_older_client_is_asked_in_its_own_words() {
    let titled = TitledSingleSelectEnumSchema::new([Choice::new("r", "Red")]);
    let mut params = ElicitParams::form("Which?", ElicitSchema::new().required("color", titled));

    params
        .fit("2025-06-18".parse::<Revision>().unwrap())
        .unwrap();

    assert_eq!(
        serde_json::to_value(&params).unwrap(),
        json!({"message": "Which?", "requestedSchema": {
            "type": "object",
            "properties": {"color": {"type": "string", "enum": ["r"], "enumNames": ["Red"]}},
            "required": ["color"]
        }})
    );
}

// spec: 2025-11-25 D0618-01, D0326-05
#[test]
fn a_question_that_an_older_client_lacks_is_rejected() {
    let refused = |mut params: ElicitParams, revision: &str| {
        params
            .fit(revision.parse::<Revision>().unwrap())
            .unwrap_err()
    };
    let several = ElicitSchema::new().optional("x", UntitledMultiSelectEnumSchema::new(["a"]));

    assert_eq!(
        refused(ElicitParams::url("Go", "https://example.com"), "2025-06-18"),
        FitError::new(Feature::UrlElicitation)
    );
    assert_eq!(
        refused(ElicitParams::form("Which?", several), "2025-06-18"),
        FitError::new(Feature::ElicitationChoices)
    );
    assert_eq!(
        refused(
            ElicitParams::form("Who?", ElicitSchema::new()),
            "2025-03-26"
        ),
        FitError::new(Feature::Elicitation)
    );
}
