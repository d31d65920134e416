//! The prompts that the suite gets.

use pintle::model::{ElicitSchema, ResourceContents, StringSchema};
use pintle::prelude::*;

use crate::sample::PIXEL;

/// Offers all prompts.
pub(crate) fn offer(server: Server) -> Server {
    server.prompts::<(
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_input_required_result_prompt,
    )>()
}

/// Returns a fixed message.
#[prompt]
async fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// Returns its arguments.
#[prompt(complete(arg1 = words))]
async fn test_prompt_with_arguments(
    /// The first word.
    arg1: String,
    /// The second word.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// The words that begin with the typed text.
fn words(typed: String) -> Vec<String> {
    let words = ["test", "testing", "paris", "park", "party"];
    let fits = words.into_iter().filter(|word| word.starts_with(&typed));
    fits.map(str::to_owned).collect()
}

/// Shows a resource to the model.
#[prompt]
async fn test_prompt_with_embedded_resource(
    /// The URI of the resource.
    #[arg(rename = "resourceUri")]
    resource_uri: String,
) -> [PromptMessage; 2] {
    let text = "Embedded resource content for testing.";
    let contents = ResourceContents::text(resource_uri, text).with_mime_type("text/plain");
    [
        PromptMessage::user(ContentBlock::resource(contents)),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

/// Shows a picture to the model.
#[prompt]
async fn test_prompt_with_image() -> [PromptMessage; 2] {
    [
        PromptMessage::user(ContentBlock::image(PIXEL, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}

/// Asks for a context first.
#[prompt]
async fn test_input_required_result_prompt(cx: Context) -> Result<String> {
    let form = ElicitSchema::new().required("context", StringSchema::new());
    let question = "What context should the prompt use?";
    let answer = cx.elicit_form(question, form).named("user_context").await?;
    let content = answer.accepted().unwrap_or_default();
    let context = content.get("context").and_then(|context| context.as_str());
    Ok(format!(
        "Work in this context: {}",
        context.unwrap_or("none")
    ))
}
