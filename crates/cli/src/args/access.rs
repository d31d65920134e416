//! Options for the authorization at a server with a URL.

use std::path::PathBuf;

use pintle::auth::{GrantFlow, Secret};

use super::words::UsageError;

/// Authorization options of every command that connects to a server. An option never holds a secret; it names the
/// variable or the file that does.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Authorization of a URL")]
pub(crate) struct AccessArgs {
    /// Send the token in this variable, without a sign-in
    #[arg(long, value_name = "VARIABLE", conflicts_with_all = ["client_id", "scopes", "redirect_port", "no_browser", "device"])]
    pub(crate) bearer_env: Option<String>,

    /// OAuth client id, or the URL of a metadata document
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,

    /// Authenticate the client with the secret in this variable
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,

    /// Authenticate the client with this private key (PEM, PKCS #8)
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_id",
        conflicts_with = "client_secret_env"
    )]
    pub(crate) client_key: Option<PathBuf>,

    /// Request a token for the client itself, without a user; the token is not stored
    #[arg(long, requires = "client_id", conflicts_with_all = ["redirect_port", "no_browser", "device"])]
    pub(crate) client_credentials: bool,

    /// Request this scope in place of the scopes that the server names; the option can be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,

    /// Local port for the redirect of the browser; any free port otherwise
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) redirect_port: Option<u16>,

    /// Store credentials in the system keyring, and not in a file
    #[arg(long, conflicts_with_all = ["bearer_env", "client_credentials"])]
    pub(crate) keyring: bool,

    /// Show the URL of the sign-in page, and do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,

    /// Sign in with a code on any device: show the code and a URL, and wait
    #[arg(long, conflicts_with = "redirect_port")]
    pub(crate) device: bool,
}

/// The authorization options, with the secrets that they name.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessSettings {
    /// The access token of `--bearer-env`.
    pub(crate) bearer: Option<Secret>,
    /// The id of a registered client.
    pub(crate) client: Option<String>,
    /// The authentication of that client.
    pub(crate) proof: Proof,
    /// Whether the client requests a token for itself, without a user.
    pub(crate) is_itself: bool,
    /// The scopes to request; without one, those that the server names.
    pub(crate) scopes: Vec<String>,
    /// The local port for the redirect; any free port if it is missing.
    pub(crate) redirect_port: Option<u16>,
    /// Whether credentials are stored in the keyring of the system.
    pub(crate) in_keyring: bool,
    /// Whether URLs are shown and not opened.
    pub(crate) is_shown: bool,
    /// Whether the user signs in with a code on any device.
    pub(crate) is_device: bool,
}

/// The authentication of a client. Closed: each variant has an option.
#[derive(Debug, Clone, Default)]
pub(crate) enum Proof {
    /// The client is public.
    #[default]
    None,
    /// A shared secret.
    Secret(Secret),
    /// The file of a private key.
    Key(PathBuf),
}

impl AccessSettings {
    /// Reads the variables that options name.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for a variable that is not set. The error omits the argument, because a user may
    /// type the secret itself.
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
            let missing = "--client-credentials requires --client-secret-env or --client-key";
            return Err(UsageError(missing.to_owned()));
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
            is_device: args.device,
        })
    }

    /// The protocol extension for the grant of this client, if the grant is an extension.
    pub(crate) fn extension(&self) -> Option<&'static str> {
        let way = self.is_itself.then_some(GrantFlow::ClientCredentials);
        way.unwrap_or_default().extension()
    }

    /// Returns true if the command line has no authorization option.
    pub(crate) fn is_empty(&self) -> bool {
        let is_anybody = self.bearer.is_none() && self.client.is_none() && self.scopes.is_empty();
        let has_page = self.redirect_port.is_some() || self.is_shown || self.is_device;
        is_anybody && !has_page && !self.in_keyring
    }
}

/// The value of a variable, which must be one line.
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
            "{flag} names a variable whose value is not one line of text"
        ))),
        None => Err(UsageError(format!(
            "{flag} requires the name of a variable that is set"
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
            let text = read(name).expect_err(name).to_string();
            assert!(
                text.starts_with("--bearer-env") && !text.contains("s3cret"),
                "{text}"
            );
        }
    }
}
