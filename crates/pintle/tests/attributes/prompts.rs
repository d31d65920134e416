//! The items that `#[prompt]` generates.

use std::collections::BTreeMap;

use pintle::model::{Error, ErrorCode, Outcome};
use pintle::prelude::*;
use pintle::runtime::Extensions;
use pintle::server::{ExtractContext, IntoPrompt};
use serde::Deserialize;
use serde_json::json;

use crate::attributes::context::context;

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Style {
    #[default]
    Terse,
    Long,
}

async fn styles() -> Vec<&'static str> {
    vec!["terse", "long"]
}

/// Reviews the given code.
#[prompt(title = "Code review", scopes("review"), complete(style = styles))]
async fn review(
    /// The source code.
    code: String,
    style: Option<Style>,
    #[arg(default = 80, rename = "line-width")] width: u16,
    #[arg(default)] tone: Style,
    names: State<Vec<String>>,
) -> Vec<PromptMessage> {
    let style = style.map(|style| matches!(style, Style::Long));
    let tone = matches!(tone, Style::Terse);
    let text = format!("{code} {style:?} {width} {tone} {}", names.join("+"));
    vec![PromptMessage::user(pintle::model::ContentBlock::text(text))]
}

#[prompt(name = "plain-prompt")]
fn plain(code: String) -> String {
    code
}

fn definition<T: IntoPrompt>() -> serde_json::Value {
    serde_json::to_value(T::into_prompt().definition()).expect("JSON")
}

async fn text<T: IntoPrompt>(arguments: &[(&str, &str)]) -> Result<String, Error> {
    let mut state = Extensions::new();
    state.insert(vec!["ada".to_owned(), "bob".to_owned()]);
    let prompt = T::into_prompt();
    prompt.check().expect("the prompt can be offered");
    let arguments: BTreeMap<String, String> = arguments
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let context = context();
    match prompt
        .get(arguments, ExtractContext::new(&context, &state))
        .await?
    {
        Outcome::Complete(result) => Ok(result
            .messages
            .first()
            .and_then(|message| message.content.as_text())
            .unwrap_or_default()
            .to_owned()),
        other => panic!("a result was expected, not {other:?}"),
    }
}

#[test]
fn parameters_are_arguments_and_abilities_are_not() {
    assert_eq!(
        definition::<review>(),
        json!({
            "name": "review",
            "title": "Code review",
            "description": "Reviews the given code.",
            "arguments": [
                { "name": "code", "description": "The source code.", "required": true },
                { "name": "style" },
                { "name": "line-width" },
                { "name": "tone" },
            ],
        })
    );
    let prompt = review::into_prompt();
    assert_eq!(prompt.required_scopes(), ["review"].map(Box::<str>::from));
    assert_eq!(prompt.required_state().len(), 1);
    assert!(prompt.has_completers());
}

#[tokio::test]
async fn each_argument_is_read_from_its_text() {
    assert_eq!(
        text::<review>(&[("code", "x")]).await.expect("a prompt"),
        "x None 80 true ada+bob"
    );
    let all = [
        ("code", "x"),
        ("style", "long"),
        ("line-width", "100"),
        ("tone", "long"),
    ];
    assert_eq!(
        text::<review>(&all).await.expect("a prompt"),
        "x Some(true) 100 false ada+bob"
    );
    assert_eq!(
        text::<plain>(&[("code", "x")]).await.expect("a prompt"),
        "x"
    );
}

#[tokio::test]
async fn a_missing_or_unreadable_argument_is_a_protocol_error() {
    for arguments in [
        &[][..],
        &[("code", "x"), ("line-width", "wide")],
        &[("code", "x"), ("style", "loud")],
    ] {
        let error = text::<review>(arguments).await.expect_err("no prompt");
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    }
}

#[test]
fn an_argument_that_text_cannot_fill_is_refused_at_the_start() {
    #[prompt]
    async fn tagged(title: String, tags: Option<Vec<String>>) -> String {
        format!("{title} {tags:?}")
    }

    let error = Server::new("s", "1").prompt::<tagged>().build();
    assert_eq!(
        format!("{:?}", error.expect_err("does not start")),
        "the prompt `tagged` cannot be offered: the argument `tags` is a list, a map or a struct, \
         which text cannot fill; take a `String` and parse it"
    );
}
