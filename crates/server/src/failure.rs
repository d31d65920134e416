//! Errors of handlers that no model reads: the peer learns that there was one, the log learns which.

use std::error::Error as StdError;
use std::fmt;

use pintle_model::{Error, ErrorCode};
use pintle_runtime::AskError;

/// An error and its causes in one line: `cannot read: permission denied`.
pub(crate) struct Chain<'e>(pub(crate) &'e (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(reason) = cause {
            write!(f, ": {reason}")?;
            cause = reason.source();
        }
        Ok(())
    }
}

/// Returns the error for a name that no item of a kind has: -32602.
pub(crate) fn unknown(kind: &str, name: &str) -> Error {
    let name: String = name.chars().take(80).collect();
    Error::invalid_params(format!("unknown {kind}: {name}"))
}

/// Any error a handler of a resource, a prompt or a completion may return.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a handler of a prompt has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum HandlerError {
    /// A protocol error. It is sent as it is.
    Protocol(Error),
    /// Any other error. The server logs it with its causes, and answers -32603.
    Internal(BoxError),
}

impl HandlerError {
    /// The error that the peer sees.
    pub(crate) fn into_error(self, handler: &'static str, name: &str) -> Error {
        match self {
            Self::Protocol(error) => error,
            Self::Internal(error) => mask(handler, name, &error),
        }
    }
}

/// Logs an error with its causes and returns the one that the peer sees: -32603, and nothing of the
/// cause, unless it is that the peer cannot be asked.
pub(crate) fn mask(handler: &'static str, name: &str, error: &BoxError) -> Error {
    let chain = Chain(&**error);
    tracing::error!(handler, name, error = %chain, "a handler failed");
    match find_cause::<AskError>(error) {
        Some(unasked) => Error::new(ErrorCode::INTERNAL_ERROR, unasked.to_string()),
        None => Error::internal(),
    }
}

/// The error that the peer sees of a method: a protocol error as it is, anything else masked.
pub(crate) fn fail(method: &'static str, error: &BoxError) -> Error {
    match error.downcast_ref::<Error>() {
        Some(error) => error.clone(),
        None => mask("extension", method, error),
    }
}

fn find_cause<E: StdError + 'static>(error: &BoxError) -> Option<&E> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(&**error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Whether an error, or one of its causes, is what `is_it` looks for.
pub(crate) fn has_cause(
    error: &BoxError,
    is_it: impl Fn(&(dyn StdError + 'static)) -> bool,
) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = Some(&**error);
    while let Some(error) = next {
        if is_it(error) {
            return true;
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::LazyLock;

    use pintle_runtime::Extensions;

    use super::*;
    use crate::ability::ExtractContext;
    use crate::testing::{Log, context};
    use crate::{Prompt, Resource};

    /// An error with a cause.
    #[derive(Debug)]
    struct Outer;

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("no briefing")
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            static CAUSE: LazyLock<io::Error> = LazyLock::new(|| io::Error::other("disk on fire"));
            Some(&*CAUSE)
        }
    }

    fn assert_logged(log: &Log, name: &str) {
        let log = log.text();
        assert!(log.starts_with("ERROR\n"), "{log}");
        assert!(log.contains(&format!("name: {name:?}")), "{log}");
        assert!(log.contains("error: no briefing: disk on fire"), "{log}");
    }

    #[tokio::test]
    async fn an_error_of_a_prompt_is_logged_with_its_name_and_causes() {
        let prompt = Prompt::new("brief").handler(async || Err::<String, _>(Outer));
        let (cx, state) = (context(), Extensions::new());
        let (log, _guard) = Log::scoped();
        let got = prompt.get(Default::default(), ExtractContext::new(&cx, &state));
        assert_eq!(got.await.expect_err("fails"), Error::internal());
        assert_logged(&log, "brief");
    }

    #[tokio::test]
    async fn an_error_of_a_resource_is_logged_with_its_uri_and_causes() {
        let resource =
            Resource::new("docs://{page}", "doc").reader(async |_: String| Err::<String, _>(Outer));
        let (cx, state) = (context(), Extensions::new());
        let (log, _guard) = Log::scoped();
        let read = resource.read("docs://a", ExtractContext::new(&cx, &state));
        assert_eq!(read.await.expect_err("fails"), Error::internal());
        assert_logged(&log, "docs://a");
    }
}
