//! Who asks, where a server at a URL wants to know.

use std::path::PathBuf;

use pintle::auth::{GrantFlow, Secret};

use super::words::UsageError;

/// Who asks: in every command that talks to a server. No option holds a secret; it names what does.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Authorization of a URL")]
pub(crate) struct AccessArgs {
    /// Send the token that this variable holds; nobody is asked to sign in
    #[arg(long, value_name = "VARIABLE", conflicts_with_all = ["client_id", "scopes", "redirect_port", "no_browser"])]
    pub(crate) bearer_env: Option<String>,

    /// Be this client, which the authorization server knows; it may be the address of a document
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,

    /// Show the client's secret that this variable holds
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,

    /// Sign what says who the client is with the key of this file (PEM, PKCS #8)
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_id",
        conflicts_with = "client_secret_env"
    )]
    pub(crate) client_key: Option<PathBuf>,

    /// Ask for a token for the client itself, and not for a person; it is not kept
    #[arg(long, requires = "client_id", conflicts_with_all = ["redirect_port", "no_browser"])]
    pub(crate) client_credentials: bool,

    /// Ask for this scope, and for none that the server names; may be said several times
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,

    /// Wait at this port of this machine for the browser to come back
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) redirect_port: Option<u16>,

    /// Keep what comes of a sign-in in the keyring of the system, and in no file
    #[arg(long, conflicts_with_all = ["bearer_env", "client_credentials"])]
    pub(crate) keyring: bool,

    /// Open no browser: show the address to sign in at
    #[arg(long)]
    pub(crate) no_browser: bool,
}

/// Who asks, where a server at a URL wants to know.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessSettings {
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

impl AccessSettings {
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
            AccessSettings::read(args, &env)
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
