//! The arguments of `pintle lint` and `pintle tokens`.

use clap::ValueEnum;
use pintle_lint::Host;

use super::lock::SurfaceSource;
use super::server::{ServerArgs, Settings};
use super::words::UsageError;

/// The arguments of `pintle lint`.
#[derive(Debug, clap::Args)]
pub(crate) struct LintArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Apply the rules of this host; the option can be repeated. Every host without it
    #[arg(long = "host", value_name = "HOST", value_enum)]
    pub(crate) hosts: Vec<LintHost>,
}

/// The arguments of `pintle tokens`.
#[derive(Debug, clap::Args)]
pub(crate) struct TokensArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// A host with rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LintHost(pub(crate) Host);

impl ValueEnum for LintHost {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [LintHost; 5] = [
            LintHost(Host::Claude),
            LintHost(Host::OpenAi),
            LintHost(Host::Gemini),
            LintHost(Host::Copilot),
            LintHost(Host::Cursor),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.id()))
    }
}

/// Splits the arguments into the source and the settings.
///
/// # Errors
///
/// [`UsageError`] unless there is one source.
pub(crate) fn take_source(
    args: ServerArgs,
) -> Result<(SurfaceSource, super::Format, Settings), UsageError> {
    let (words, command, format, settings) = Settings::take(args)?;
    Ok((SurfaceSource::one_of(words, command)?, format, settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_with_rules_can_be_named() {
        let named: Vec<_> = LintHost::value_variants()
            .iter()
            .map(|host| host.0)
            .collect();
        assert_eq!(named, Host::ALL);
    }
}
