//! `pintle list`: lists the offers of a server.

use pintle::client::{CallError, Item, List};
use pintle::model::ErrorCode;

use crate::args::Format;
use crate::args::Kind;
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;
use crate::show::{self, Offers};

/// Lists the requested kinds; every kind if none was requested.
pub(crate) async fn run(conversation: &Conversation, kinds: &[Kind]) -> Result<(), CliError> {
    let offers = offers(conversation, kinds).await?;
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, &offers),
        Format::Text => output::result(show::offers(&offers, screen.output).as_bytes()),
    }
}

/// Returns the offers of a server. A kind that the server does not offer is requested only if it
/// was named.
///
/// # Errors
///
/// The errors of the calls.
pub(crate) async fn offers(
    conversation: &Conversation,
    kinds: &[Kind],
) -> Result<Offers, CliError> {
    let client = &conversation.client;
    let capabilities = client.server().map(|server| server.capabilities);
    let offered = |kind| match (kind, &capabilities) {
        (Kind::Tools, Some(can)) => can.tools.is_some(),
        (Kind::Resources | Kind::Templates, Some(can)) => can.resources.is_some(),
        (Kind::Prompts, Some(can)) => can.prompts.is_some(),
        (_, None) => true,
    };
    let is_requested = |kind| match kinds.is_empty() {
        true => offered(kind),
        false => kinds.contains(&kind),
    };
    let tools = is_requested(Kind::Tools).then(|| client.list_tools());
    let resources = is_requested(Kind::Resources).then(|| client.list_resources());
    let templates = is_requested(Kind::Templates).then(|| client.list_resource_templates());
    let prompts = is_requested(Kind::Prompts).then(|| client.list_prompts());
    let lists = Lists {
        conversation,
        is_strict: !kinds.is_empty(),
    };
    Ok(Offers {
        tools: lists.all(tools).await?,
        resources: lists.all(resources).await?,
        resource_templates: lists.all(templates).await?,
        prompts: lists.all(prompts).await?,
    })
}

/// The lists of one server.
struct Lists<'c> {
    conversation: &'c Conversation,
    /// Whether a method that the server does not have is a failure: the user named the list.
    is_strict: bool,
}

impl Lists<'_> {
    async fn all<T: Item>(&self, list: Option<List<T>>) -> Result<Option<Vec<T>>, CliError> {
        let Some(list) = list else {
            return Ok(None);
        };
        let live = &self.conversation.live;
        let listed = match self.conversation.complete_list(list).await {
            Ok(listed) => listed,
            Err(failure) => match missing_method(&failure) {
                // A server may announce a capability and lack one of its lists.
                Some(method) if !self.is_strict => {
                    live.warn(&format!("the server does not have {method}"));
                    return Ok(None);
                }
                _ => return Err(failure),
            },
        };
        for spoiled in listed.spoiled {
            let name = spoiled
                .name
                .as_deref()
                .unwrap_or("something without a name");
            let reason = &spoiled.reason;
            live.warn(&format!("{name} is listed, and cannot be used: {reason}"));
        }
        Ok(Some(listed.items))
    }
}

/// The method that the server answered it does not have.
fn missing_method(failure: &CliError) -> Option<&str> {
    match failure.as_error()? {
        CallError::Answered { method, error } if error.code == ErrorCode::METHOD_NOT_FOUND => {
            Some(method.as_str())
        }
        _ => None,
    }
}
