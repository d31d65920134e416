//! Who asks, as it was meant.

use std::path::PathBuf;

use pintle::auth::{GrantFlow, Secret};

use super::{Format, UsageError, Wanted};
use crate::args::{AccessArgs, ServerArgs};

/// A server that somebody signs in to or out of.
#[derive(Debug)]
pub(crate) struct Ask {
    /// What is wanted.
    pub(crate) what: AskFor,
    /// How the server is found, and who asks.
    pub(crate) settings: super::Settings,
    /// For whom results are printed.
    pub(crate) format: Format,
}

/// What is wanted of whoever keeps credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskFor {
    /// To sign in.
    Login(Wanted),
    /// To sign out.
    Logout(Wanted),
    /// Whether somebody is signed in; everywhere, if no server is named.
    Status(Option<Wanted>),
}

impl Ask {
    /// `pintle login`.
    pub(super) fn login(args: ServerArgs) -> Result<Self, UsageError> {
        let ask = Self::about(args, |wanted| wanted.map(AskFor::Login))?;
        if ask.settings.access.bearer.is_some() || ask.settings.access.is_itself {
            let said = "nobody signs in with --bearer-env or --client-credentials: give them to the \
                        commands that talk to the server";
            return Err(UsageError(said.to_owned()));
        }
        Ok(ask)
    }

    /// `pintle logout`.
    pub(super) fn logout(args: ServerArgs) -> Result<Self, UsageError> {
        Self::about(args, |wanted| wanted.map(AskFor::Logout))
    }

    /// `pintle auth status`.
    pub(super) fn status(args: ServerArgs) -> Result<Self, UsageError> {
        Self::about(args, |wanted| Some(AskFor::Status(wanted)))
    }

    fn about(
        args: ServerArgs,
        what: impl FnOnce(Option<Wanted>) -> Option<AskFor>,
    ) -> Result<Self, UsageError> {
        let (mut words, command, format, settings) = super::Settings::take(args)?;
        if !command.is_empty() {
            let said = "nobody signs in to a program: it is given what it needs with --env";
            return Err(UsageError(said.to_owned()));
        }
        let wanted = match words.is_empty() {
            true => None,
            false => Some(Wanted::first_of(&mut words)?),
        };
        if let Some(word) = words.first() {
            return Err(UsageError(format!("`{word}` is one word too many")));
        }
        let missing = || UsageError("which server? A URL, or @NAME".to_owned());
        Ok(Self {
            what: what(wanted).ok_or_else(missing)?,
            settings,
            format,
        })
    }
}

/// Who asks, where a server at a URL wants to know.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// A token that is there already.
    pub(crate) bearer: Option<Secret>,
    /// The id of the client, if there is one from before.
    pub(crate) client: Option<String>,
    /// How it shows that it is this one.
    pub(crate) proof: Proof,
    /// Whether it asks for itself, and nobody signs in.
    pub(crate) is_itself: bool,
    /// What to ask for, if not for what the server names.
    pub(crate) scopes: Vec<String>,
    /// Where a browser comes back to, if not to whichever port is free.
    pub(crate) redirect_port: Option<u16>,
    /// Whether credentials are kept in the keyring of the system.
    pub(crate) in_keyring: bool,
    /// Whether addresses are shown and not opened.
    pub(crate) is_shown: bool,
}

/// How a client shows that it is the one it says. Closed: these are the options that there are.
#[derive(Debug, Clone, Default)]
pub(crate) enum Proof {
    /// Not at all.
    #[default]
    None,
    /// By a secret.
    Secret(Secret),
    /// By the key of a file.
    Key(PathBuf),
}

impl Settings {
    /// Reads what options only name.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for a variable that is not set. What was typed is not repeated: it may be
    /// the secret itself.
    pub(super) fn read(
        args: AccessArgs,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, UsageError> {
        let secret = |flag, name: Option<String>| match name {
            Some(name) => held(flag, &name, env).map(Some),
            None => Ok(None),
        };
        let proof = match secret("--client-secret-env", args.client_secret_env)? {
            Some(secret) => Proof::Secret(secret),
            None => args.client_key.map_or(Proof::None, Proof::Key),
        };
        if args.client_credentials && matches!(proof, Proof::None) {
            let wanted = "--client-credentials takes --client-secret-env or --client-key";
            return Err(UsageError(wanted.to_owned()));
        }
        Ok(Self {
            bearer: secret("--bearer-env", args.bearer_env)?,
            client: args.client_id,
            proof,
            is_itself: args.client_credentials,
            scopes: args.scopes,
            redirect_port: args.redirect_port,
            in_keyring: args.keyring,
            is_shown: args.no_browser,
        })
    }

    /// The extension of the protocol by which this client gets its tokens, if it is one.
    pub(crate) fn extension(&self) -> Option<&'static str> {
        let way = self.is_itself.then_some(GrantFlow::ClientCredentials);
        way.unwrap_or_default().extension()
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        let is_anybody = self.bearer.is_none() && self.client.is_none() && self.scopes.is_empty();
        is_anybody && self.redirect_port.is_none() && !self.is_shown && !self.in_keyring
    }
}

/// What a variable holds, on one line.
fn held(
    flag: &str,
    name: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Secret, UsageError> {
    let found: Option<Secret> = env(name).map(Into::into);
    let text = found.as_ref().map(|text| text.reveal().trim());
    match text {
        Some(text) if !text.is_empty() && !text.contains(char::is_control) => Ok(text.into()),
        Some(_) => Err(UsageError(format!(
            "{flag} names a variable that does not hold one line of text"
        ))),
        None => Err(UsageError(format!(
            "{flag} takes the name of a variable, and none of that name is set"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_come_from_variables_and_are_not_repeated() {
        let env = |name: &str| match name {
            "TOKEN" => Some(" s3cret\n".to_owned()),
            "EMPTY" => Some(" ".to_owned()),
            "LINES" => Some("s3cret\nX-Evil: 1".to_owned()),
            _ => None,
        };
        let read = |name: &str| {
            let args = AccessArgs {
                bearer_env: Some(name.to_owned()),
                ..AccessArgs::default()
            };
            Settings::read(args, &env)
        };
        let settings = read("TOKEN").expect("set");
        assert!(settings.bearer.as_ref().expect("a token").is("s3cret"));
        assert!(!format!("{settings:?}").contains("s3cret"));
        for name in ["EMPTY", "LINES", "s3cret"] {
            let said = read(name).expect_err(name).to_string();
            assert!(
                said.starts_with("--bearer-env") && !said.contains("s3cret"),
                "{said}"
            );
        }
    }
}
