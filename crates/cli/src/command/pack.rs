//! `pintle pack`: the packages of a user's server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pintle::client::CallError;
use pintle::model::{ContentBlock, Prompt};
use serde_json::{Value, json};

use super::list::offers;
use crate::args::{Format, PackArgs};
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;
use crate::pack::{
    Facts, Kind, Offered, OfferedPrompt, PackError, PackOptions, Package, Project, sha256,
};
use crate::text;

/// Maximum number of prompts whose texts are requested.
const PROMPTS: usize = 256;

/// The package to create.
#[derive(Debug)]
pub(crate) struct Pack {
    options: PackOptions,
    out: PathBuf,
    /// Whether the package is only checked.
    is_check: bool,
}

impl From<&PackArgs> for Pack {
    fn from(args: &PackArgs) -> Self {
        let binaries = args.binaries.iter();
        let binaries = binaries.map(|(target, file)| (target.clone(), PathBuf::from(file)));
        Self {
            options: PackOptions {
                project: args.project.clone(),
                name: args.name.clone(),
                description: args.description.clone(),
                author: args.author.clone(),
                binaries: binaries.collect(),
                download: args.download.clone(),
                remotes: args.remotes.clone(),
                settings: args.settings.clone(),
                arguments: args.arguments.clone(),
            },
            out: args.out.clone(),
            is_check: args.check,
        }
    }
}

/// Creates the package of a running server.
pub(super) async fn run(conversation: &Conversation, pack: &Pack) -> Result<(), CliError> {
    let project = Project::read(&pack.options.project)?;
    let has_name = project.kind != Kind::Npm || project.mcp_name.is_some();
    let facts = Facts::new(project, offered(conversation).await?, &pack.options)?;
    if !has_name {
        let name = &facts.name;
        let warning =
            format!("package.json has no \"mcpName\": \"{name}\", which the registry requires");
        conversation.live.warn(&warning);
    }
    let package = Package::new(&facts, &pack.options)?;
    if !pack.is_check {
        write(&pack.out, &package)?;
    }
    report(conversation, pack, &package)
}

async fn offered(conversation: &Conversation) -> Result<Offered, CliError> {
    let listed = offers(conversation, &[]).await?;
    let server = conversation.client.server();
    let identity = server.and_then(|server| server.identity);
    let tools = listed.tools.unwrap_or_default().into_iter();
    let mut prompts = Vec::new();
    for prompt in listed.prompts.unwrap_or_default() {
        let is_within = prompts.len() < PROMPTS;
        prompts.push(offered_prompt(conversation, prompt, is_within).await?);
    }
    Ok(Offered {
        version: identity.as_ref().map(|identity| identity.version.clone()),
        title: identity.and_then(|identity| identity.title.clone()),
        tools: tools.map(|tool| (tool.name, tool.description)).collect(),
        prompts,
    })
}

async fn offered_prompt(
    conversation: &Conversation,
    prompt: Prompt,
    has_text: bool,
) -> Result<OfferedPrompt, CliError> {
    let arguments = prompt.arguments.unwrap_or_default().into_iter();
    let arguments: Vec<String> = arguments.map(|argument| argument.name).collect();
    let text = match has_text {
        true => prompt_text(conversation, &prompt.name, &arguments).await?,
        false => None,
    };
    Ok(OfferedPrompt {
        name: prompt.name,
        description: prompt.description,
        arguments,
        text,
    })
}

/// Returns the text of a prompt with placeholders in place of arguments; `None` if the server rejects them.
async fn prompt_text(
    conversation: &Conversation,
    name: &str,
    arguments: &[String],
) -> Result<Option<String>, CliError> {
    let placeholders = arguments.iter();
    let placeholders: BTreeMap<_, _> = placeholders
        .map(|name| (name.clone(), format!("${{arguments.{name}}}")))
        .collect();
    let call = conversation.client.get_prompt(name, placeholders);
    let result = match conversation.make(call).await {
        Ok(result) => result,
        Err(error) => {
            let is_answered = matches!(error.as_error(), Some(CallError::Answered { .. }));
            return if is_answered { Ok(None) } else { Err(error) };
        }
    };
    let texts = result
        .messages
        .into_iter()
        .map(|message| match message.content {
            ContentBlock::Text(text) => Some(text.text),
            _ => None,
        });
    let texts: Option<Vec<String>> = texts.collect();
    Ok(texts.map(|texts| texts.join("\n\n")))
}

fn write(directory: &Path, package: &Package) -> Result<(), PackError> {
    let unwritable = |file: &Path| {
        let file = file.to_owned();
        move |source| PackError::Unwritable { file, source }
    };
    fs::create_dir_all(directory).map_err(unwritable(directory))?;
    for (name, bytes) in &package.files {
        let file = directory.join(name);
        let draft = directory.join(format!(".{name}.{}.pintle-draft", std::process::id()));
        let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, &file));
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&draft);
        }
        written.map_err(unwritable(&file))?;
    }
    Ok(())
}

fn report(conversation: &Conversation, pack: &Pack, package: &Package) -> Result<(), CliError> {
    let files = package.files.iter();
    if conversation.format == Format::Json {
        let files: Vec<Value> = files
            .map(|(name, bytes)| {
                let file = pack.out.join(name).display().to_string();
                json!({ "file": file, "bytes": bytes.len(), "sha256": sha256(bytes) })
            })
            .collect();
        return output::json(&conversation.screen, &json!({ "files": files }));
    }
    let lines = files.map(|(name, bytes)| {
        let file = pack.out.join(name).display().to_string();
        let digest = sha256(bytes);
        format!(
            "{}  {} bytes  sha256 {digest}\n",
            text::line(&file),
            bytes.len()
        )
    });
    output::result(lines.collect::<String>().as_bytes())
}
