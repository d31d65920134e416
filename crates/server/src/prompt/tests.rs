use pintle_model::{
    ContentBlock, Error, ErrorCode, GetPromptParams, GetPromptResult, Outcome, PromptMessage,
};
use pintle_runtime::{Context, Extensions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::ability::State;
use crate::testing::context;
use crate::tool::{Args, ProtocolError};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Style {
    Kind,
    VeryStrict,
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// The code to review.
    code: String,
    /// How to review it.
    style: Option<Style>,
    /// How often.
    #[serde(default)]
    times: u32,
}

async fn review(Args(review): Args<Review>) -> String {
    format!("{} {:?} {}", review.code, review.style, review.times)
}

fn given(arguments: &[(&str, &str)]) -> BTreeMap<String, String> {
    arguments
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

async fn get_in(
    prompt: &Prompt,
    arguments: &[(&str, &str)],
    state: &Extensions,
) -> Result<GetPromptResult, Error> {
    prompt.check().unwrap();
    match prompt
        .get(given(arguments), ExtractContext::new(&context(), state))
        .await?
    {
        Outcome::Complete(result) => Ok(result),
        other => panic!("a result was expected, not {other:?}"),
    }
}

async fn get(prompt: &Prompt, arguments: &[(&str, &str)]) -> Result<Value, Error> {
    let result = get_in(prompt, arguments, &Extensions::new()).await?;
    Ok(serde_json::to_value(result).unwrap())
}

fn user(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]})
}

#[tokio::test]
async fn text_is_one_message_of_the_user() {
    let hello = Prompt::new("hello").handler(async || "Say hello.");
    assert_eq!(get(&hello, &[]).await.unwrap(), user("Say hello."));
}

// spec: 2025-11-25 PROM-04
#[tokio::test]
async fn arguments_are_the_fields_of_a_type_read_from_text() {
    let review = Prompt::new("review").handler(review);
    assert_eq!(
        serde_json::to_value(review.definition()).unwrap(),
        json!({"name": "review", "arguments": [
            {"name": "code", "description": "The code to review.", "required": true},
            {"name": "style", "description": "How to review it.", "required": false},
            {"name": "times", "description": "How often.", "required": false},
        ]})
    );
    let arguments = [("code", "x"), ("style", "very-strict"), ("times", "3")];
    assert_eq!(
        get(&review, &arguments).await.unwrap(),
        user("x Some(VeryStrict) 3")
    );
    assert_eq!(
        get(&review, &[("code", "x")]).await.unwrap(),
        user("x None 0")
    );
}

// spec: 2025-11-25 PROM-08, PROM-09
// spec: 2026-07-28 N-PROMPT-03, N-PROMPT-07 (arguments)
#[tokio::test]
async fn a_missing_argument_is_named_before_anything_runs() {
    let ask = Prompt::new("ask")
        .argument(PromptArgument::required("who"))
        .argument(PromptArgument::optional("when"))
        .argument(PromptArgument::required("what"))
        .handler(async || -> &str { unreachable!("the handler ran") });

    let error = get(&ask, &[("when", "now"), ("who", "me")])
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert_eq!(error.message, "missing required argument `what`");
    let error = get(&ask, &[]).await.unwrap_err();
    assert_eq!(error.message, "missing required arguments `who`, `what`");
}

// spec: 2025-11-25 PROM-02, AMB-64
// spec: 2026-07-28 N-PROMPT-04
#[tokio::test]
async fn surplus_arguments_are_ignored_and_values_must_be_text() {
    let review = Prompt::new("review").handler(review);
    let surplus = [("code", "x"), ("shoe size", "44")];
    assert_eq!(get(&review, &surplus).await.unwrap(), user("x None 0"));

    for value in [json!(1), json!(null), json!(["x"]), json!({})] {
        let params = json!({"name": "review", "arguments": {"code": value}});
        assert!(serde_json::from_value::<GetPromptParams>(params).is_err());
    }
}

// spec: 2025-11-25 PROM-09
// spec: 2026-07-28 N-PROMPT-03, N-PROMPT-07 (arguments)
#[tokio::test]
async fn an_argument_that_cannot_be_read_is_refused() {
    let review = Prompt::new("review").handler(review);
    for (name, text) in [("style", "loud"), ("times", "-1"), ("times", "often")] {
        let error = get(&review, &[("code", "x"), (name, text)])
            .await
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{name}: {text}");
    }
}

// spec: 2025-11-25 PROM-08
// spec: 2026-07-28 N-PROMPT-03
#[tokio::test]
async fn the_peer_learns_nothing_of_why_a_handler_failed() {
    let failing =
        Prompt::new("failing").handler(async || Err::<String, _>("the password is wrong"));
    assert_eq!(get(&failing, &[]).await.unwrap_err(), Error::internal());

    let strange = Prompt::new("strange")
        .handler(async || Err::<String, _>(ProtocolError(Error::new(ErrorCode(7), "strange"))));
    assert_eq!(
        get(&strange, &[]).await.unwrap_err(),
        Error::new(ErrorCode(7), "strange")
    );
}

// spec: 2025-11-25 PROM-08
// spec: 2026-07-28 N-PROMPT-03
#[tokio::test]
async fn a_prompt_without_its_resource_is_an_invalid_argument() {
    let absent = Prompt::new("absent").handler(async || Err::<String, _>(crate::NotFound));
    let error = get(&absent, &[]).await.unwrap_err();
    assert_eq!(error, Error::invalid_params("resource not found"));
}

// spec: 2025-11-25 PROM-05
// spec: 2026-07-28 N-PROMPT-06, N-PROMPT-09
#[tokio::test]
async fn messages_keep_their_order_and_carry_content_of_any_kind() {
    let scene = Prompt::new("scene").handler(async || {
        vec![
            PromptMessage::user(ContentBlock::image([0xfb, 0xff], "image/png")),
            PromptMessage::assistant(ContentBlock::text("A picture.")),
        ]
    });
    assert_eq!(
        get(&scene, &[]).await.unwrap(),
        json!({"messages": [
            {"role": "user", "content": {"type": "image", "data": "+/8=", "mimeType": "image/png"}},
            {"role": "assistant", "content": {"type": "text", "text": "A picture."}},
        ]})
    );
}

#[tokio::test]
async fn handlers_take_abilities_beside_arguments() {
    struct Tone(&'static str);
    async fn greet(
        tone: State<Tone>,
        _context: Context,
        who: Args<BTreeMap<String, String>>,
    ) -> String {
        format!("Greet {} {}.", who["who"], tone.0.0)
    }
    let greet = Prompt::new("greet")
        .argument(PromptArgument::required("who"))
        .handler(greet);
    let mut state = Extensions::new();
    assert!(!greet.required_state()[0].is_met_by(&state));
    state.insert(Tone("warmly"));

    let result = get_in(&greet, &[("who", "Ada")], &state).await.unwrap();
    assert_eq!(
        serde_json::to_value(result).unwrap(),
        user("Greet Ada warmly.")
    );
}

#[tokio::test]
async fn a_prompt_of_the_macro_is_returned() {
    async fn review(code: String, style: Option<Style>, _cx: Context) -> Vec<PromptMessage> {
        vec![PromptMessage::user(ContentBlock::text(format!(
            "{code} {style:?}"
        )))]
    }
    let review = Prompt::new("review")
        .argument(PromptArgument::required("code"))
        .argument(PromptArgument::optional("style"))
        .complete("style", ["kind", "very-strict"])
        .needs::<Context>()
        .on_get(|__call: &PromptCall<'_>| {
            Ok(review(
                __call.argument::<String>("code")?,
                __call.optional::<Style>("style")?,
                __call.ability::<Context>()?,
            ))
        });

    assert_eq!(
        get(&review, &[("code", "x")]).await.unwrap(),
        user("x None")
    );
    let error = get(&review, &[("code", "x"), ("style", "loud")])
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(
        error.message.starts_with("invalid argument `style`: "),
        "{}",
        error.message
    );
}

// spec: 2026-07-28 N-PROMPT-07 (arguments)
#[test]
fn an_invalid_prompt_is_an_error_at_start() {
    let ask = || {
        Prompt::new("ask")
            .argument(PromptArgument::required("who"))
            .handler(async || "")
    };
    let fault = |prompt: Prompt| prompt.check().unwrap_err();

    assert_eq!(ask().complete("who", ["a"]).check(), Ok(()));
    assert_eq!(fault(ask().renamed("")), PromptDefinitionError::EmptyName);
    assert_eq!(fault(Prompt::new("ask")), PromptDefinitionError::NoHandler);
    let name: Box<str> = "who".into();
    assert_eq!(
        fault(ask().argument(PromptArgument::optional("who"))),
        PromptDefinitionError::Duplicate { name: name.clone() }
    );
    assert_eq!(
        fault(ask().complete("who", ["a"]).complete("who", ["b"])),
        PromptDefinitionError::CompletedTwice { name }
    );
    assert_eq!(
        fault(ask().complete("what", ["a"])),
        PromptDefinitionError::NoArgument {
            name: "what".into()
        }
    );
    let twice = async |_: Args<Review>, _: Args<Review>| "";
    assert_eq!(
        fault(Prompt::new("ask").handler(twice)),
        PromptDefinitionError::Ambiguous
    );
    let list = async |_: Args<Vec<u8>>| "";
    assert!(matches!(
        fault(Prompt::new("ask").handler(list)),
        PromptDefinitionError::Arguments(_)
    ));
}

#[test]
fn an_argument_that_was_declared_by_hand_stays() {
    let code = PromptArgument::required("code").with_description("Any language.");
    let review = Prompt::new("review").argument(code).arguments::<Review>();
    let arguments = review.definition().arguments.as_deref().unwrap();

    assert_eq!(arguments[0].description.as_deref(), Some("Any language."));
    assert_eq!(arguments.len(), 3);
}

#[test]
fn a_field_that_text_cannot_fill_is_refused_by_name() {
    #[derive(Deserialize, JsonSchema)]
    struct Report {
        title: String,
        #[serde(default)]
        tags: Vec<String>,
    }
    let report = Prompt::new("report")
        .handler(async |report: Report| format!("{} {:?}", report.title, report.tags));
    let name = "tags".into();
    assert_eq!(report.check(), Err(PromptDefinitionError::NotText { name }));
}
