//! The filter arguments of `pintle serve SERVER`.

use std::path::PathBuf;

use pintle_proxy::{PromptFilter, ResourceFilter, ToolFilter};
use serde_json::Value;

use super::value;

/// Which tools, prompts and resources of the server clients see, and how.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Tools")]
pub(crate) struct FilterArgs {
    /// Serve only tools of this pattern, such as read_*; the option can be repeated
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,

    /// Hide tools of this pattern; the option can be repeated
    #[arg(long, value_name = "PATTERN")]
    without: Vec<String>,

    /// Give a tool of the server another name; the option can be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = value::pair)]
    rename: Vec<(String, String)>,

    /// Hide an argument of a tool, and set it in every call: to a JSON value, or else to the text
    #[arg(long, value_name = "TOOL:ARGUMENT=VALUE", value_parser = fixed)]
    set_argument: Vec<FixedArgument>,

    /// Hide an argument of a tool
    #[arg(long, value_name = "TOOL:ARGUMENT", value_parser = argument)]
    hide_argument: Vec<(String, String)>,

    /// Serve only prompts of this pattern; the option can be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Prompts and resources")]
    only_prompt: Vec<String>,

    /// Hide prompts of this pattern; the option can be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Prompts and resources")]
    without_prompt: Vec<String>,

    /// Give a prompt of the server another name; the option can be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = value::pair, help_heading = "Prompts and resources")]
    rename_prompt: Vec<(String, String)>,

    /// Serve only resources whose URI has this pattern, such as file:///docs/*; the option can be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Prompts and resources")]
    only_resource: Vec<String>,

    /// Hide resources whose URI has this pattern, in upper or lower case; the option can be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Prompts and resources")]
    without_resource: Vec<String>,

    /// Cut the result of a tool at this size, such as 50kB; a link in it names a resource with the remainder
    #[arg(long, value_name = "BYTES", value_parser = value::size)]
    pub(crate) max_result: Option<u64>,

    /// Serve only tools whose definition is that of this lock file: see `pintle lock`
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
}

/// An argument that clients do not set, and its value.
#[derive(Debug, Clone, PartialEq)]
struct FixedArgument {
    tool: String,
    name: String,
    value: Value,
}

impl FilterArgs {
    /// Returns the first option that requires a server.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let options = [
            ("--only", self.only.is_empty()),
            ("--without", self.without.is_empty()),
            ("--rename", self.rename.is_empty()),
            ("--set-argument", self.set_argument.is_empty()),
            ("--hide-argument", self.hide_argument.is_empty()),
            ("--only-prompt", self.only_prompt.is_empty()),
            ("--without-prompt", self.without_prompt.is_empty()),
            ("--rename-prompt", self.rename_prompt.is_empty()),
            ("--only-resource", self.only_resource.is_empty()),
            ("--without-resource", self.without_resource.is_empty()),
            ("--max-result", self.max_result.is_none()),
            ("--lock", self.lock.is_none()),
        ];
        let mut given = options.into_iter().filter(|(_, is_absent)| !is_absent);
        given.next().map(|(option, _)| option)
    }

    /// Returns the filter of prompts.
    pub(crate) fn prompts(&self) -> PromptFilter {
        let mut filter = PromptFilter::default();
        for pattern in &self.only_prompt {
            filter = filter.only(pattern);
        }
        for pattern in &self.without_prompt {
            filter = filter.without(pattern);
        }
        for (old, new) in &self.rename_prompt {
            filter = filter.rename(old, new);
        }
        filter
    }

    /// Returns the filter of resources.
    pub(crate) fn resources(&self) -> ResourceFilter {
        let mut filter = ResourceFilter::default();
        for pattern in &self.only_resource {
            filter = filter.only(pattern);
        }
        for pattern in &self.without_resource {
            filter = filter.without(pattern);
        }
        filter
    }

    /// Returns the filter of tools, without the lock file.
    pub(crate) fn filter(&self) -> ToolFilter {
        let mut filter = ToolFilter::default();
        for pattern in &self.only {
            filter = filter.only(pattern);
        }
        for pattern in &self.without {
            filter = filter.without(pattern);
        }
        for (old, new) in &self.rename {
            filter = filter.rename(old, new);
        }
        for (tool, name) in &self.hide_argument {
            filter = filter.hidden_argument(tool, name);
        }
        for FixedArgument { tool, name, value } in &self.set_argument {
            filter = filter.fixed_argument(tool, name, value.clone());
        }
        filter
    }
}

fn argument(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((tool, name)) if !tool.is_empty() && !name.is_empty() => {
            Ok((tool.to_owned(), name.to_owned()))
        }
        _ => Err("expected TOOL:ARGUMENT".to_owned()),
    }
}

fn fixed(text: &str) -> Result<FixedArgument, String> {
    let (argument_of, value) = text.split_once('=').ok_or("expected TOOL:ARGUMENT=VALUE")?;
    let (tool, name) = argument(argument_of)?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok(FixedArgument { tool, name, value })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_filter_requires_a_server() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            filter: FilterArgs,
        }
        for option in [
            "--only",
            "--without",
            "--rename",
            "--only-prompt",
            "--without-prompt",
            "--rename-prompt",
            "--only-resource",
            "--without-resource",
        ] {
            let line = Line::try_parse_from(["pintle", option, "a=b"]).expect("valid");
            assert_eq!(line.filter.first(), Some(option));
        }
    }

    #[test]
    fn a_fixed_argument_is_json_or_text() {
        for (text, value) in [
            ("t:a=1", json!(1)),
            ("t:a=\"1\"", json!("1")),
            ("t:a=x=y", json!("x=y")),
            ("t:a=", json!("")),
            ("t:a=[1", json!("[1")),
        ] {
            let FixedArgument {
                tool,
                name,
                value: read,
            } = fixed(text).expect("valid");
            assert_eq!((&*tool, &*name, read), ("t", "a", value), "{text}");
        }
        for invalid in ["t.a=1", "t:a", ":a=1", "t:=1"] {
            assert!(fixed(invalid).is_err(), "{invalid}");
        }
    }
}
