//! `pintle prompt`: prints the messages of a prompt.

use std::collections::BTreeMap;

use pintle::model::{JsonObject, Prompt};
use serde_json::{Value, json};

use crate::args::{Call, Format};
use crate::arguments;
use crate::conversation::{Conversation, read_argument};
use crate::exit::CliError;
use crate::output::{self, Saving};
use crate::show;
use pintle_hosts::suggestion;

/// Gets a prompt and prints its messages.
pub(crate) async fn run(conversation: &Conversation, call: &Call) -> Result<(), CliError> {
    let prompt = find(conversation, &call.tool).await?;
    let words = arguments::words(&call.words)?;
    let built = arguments::build(&words, &schema(&prompt), &mut read_argument)?;
    let made = conversation
        .client
        .get_prompt(&call.tool, texts(built.arguments));
    let result = conversation.make(made).await?;
    let screen = &conversation.screen;
    if conversation.format == Format::Json {
        return output::json(screen, &result);
    }
    let saving = Saving::new(&call.tool, call.save.as_deref());
    output::parts(
        screen,
        show::messages(&result.messages, screen.output),
        saving,
    )
}

async fn find(conversation: &Conversation, name: &str) -> Result<Prompt, CliError> {
    let prompts = conversation
        .complete_list(conversation.client.list_prompts())
        .await?
        .items;
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.clone()).collect();
    let found = prompts.into_iter().find(|prompt| prompt.name == name);
    found.ok_or_else(|| {
        let near = suggestion(name, names.iter().map(String::as_str));
        CliError::not_found(format!("the server has no prompt `{name}`{near}"))
    })
}

/// Returns the arguments of a prompt as a schema. All of them are strings.
fn schema(prompt: &Prompt) -> JsonObject {
    let arguments = prompt.arguments.as_deref().unwrap_or_default();
    let members = arguments.iter().map(|argument| {
        let mut member = json!({ "type": "string" });
        if let Some(description) = &argument.description {
            member["description"] = json!(description);
        }
        (argument.name.clone(), member)
    });
    let members: JsonObject = members.collect();
    let required = arguments.iter().filter(|argument| argument.is_required());
    let required: Vec<_> = required.map(|argument| argument.name.as_str()).collect();
    JsonObject::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(members)),
        ("required".to_owned(), json!(required)),
        ("additionalProperties".to_owned(), json!(false)),
    ])
}

fn texts(arguments: JsonObject) -> BTreeMap<String, String> {
    let texts = arguments.into_iter().map(|(name, value)| match value {
        Value::String(text) => (name, text),
        other => (name, other.to_string()),
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use pintle::model::PromptArgument;

    use super::*;

    #[test]
    fn arguments_of_prompts_are_text() {
        let arguments = vec![
            PromptArgument::required("who"),
            PromptArgument::optional("how"),
        ];
        let prompt = Prompt::new("greet").with_arguments(arguments);
        let built = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            let words = arguments::words(&words).expect("words");
            arguments::build(&words, &schema(&prompt), &mut read_argument)
        };
        let greeting = built(&["who=5"]).expect("built").arguments;
        assert_eq!(
            texts(greeting),
            BTreeMap::from([("who".to_owned(), "5".to_owned())])
        );
        for wrong in [&["how=x"][..], &["who=a", "whom=b"], &["who:=5"]] {
            assert!(built(wrong).is_err(), "{wrong:?}");
        }
    }
}
