//! Who asks, as it was meant.

use pintle::auth::Secret;

use super::Misunderstood;
use crate::args::AccessArgs;

/// Who asks, where a server at a URL wants to know.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// A token that is there already.
    pub(crate) bearer: Option<Secret>,
}

impl Settings {
    /// Reads what options only name.
    ///
    /// # Errors
    ///
    /// [`Misunderstood`] for a variable that is not set. What was typed is not repeated: it may be
    /// the secret itself.
    pub(super) fn read(
        args: AccessArgs,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Misunderstood> {
        let secret = |flag, name: Option<String>| match name {
            Some(name) => held(flag, &name, env).map(Some),
            None => Ok(None),
        };
        Ok(Self {
            bearer: secret("--bearer-env", args.bearer_env)?,
        })
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.bearer.is_none()
    }
}

/// What a variable holds, on one line.
fn held(
    flag: &str,
    name: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Secret, Misunderstood> {
    let found: Option<Secret> = env(name).map(Into::into);
    let text = found.as_ref().map(|text| text.reveal().trim());
    match text {
        Some(text) if !text.is_empty() && !text.contains(char::is_control) => Ok(text.into()),
        Some(_) => Err(Misunderstood(format!(
            "{flag} names a variable that does not hold one line of text"
        ))),
        None => Err(Misunderstood(format!(
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
