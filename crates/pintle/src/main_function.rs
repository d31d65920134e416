//! The function `main` under `#[pintle::main]`: its runtime, and its result.

use std::fmt::Write as _;
use std::future::Future;
use std::io::Write as _;
use std::pin::Pin;
use std::process::ExitCode;

use pintle_runtime::BoxFuture;
use pintle_server::Server;

use crate::{Error, Result, Run as _};

/// The function `main` of a program that is a server and nothing else.
///
/// ```no_run
/// use pintle::prelude::*;
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// async fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// pintle::serve!(Server::new("calculator", "1.0.0").tool::<add>());
/// ```
///
/// It is the same as [`main`](macro@crate::main) on a function with this expression, which may also be a `Result` of a server.
#[macro_export]
macro_rules! serve {
    ($server:expr $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::__private::run_main(async { $server })
        }
    };
}

/// A result of a function under `#[pintle::main]`: a [`Server`], which is served, `()`, or a `Result` of one of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of `main` under `#[pintle::main]`",
    label = "neither a `Server` nor `()`",
    note = "return a `Server`, `()`, or a `Result` of one of them whose error is an error type"
)]
pub trait Main: Sized {
    /// Serves, until the peer is gone.
    ///
    /// # Errors
    ///
    /// The error of the function, and those of [`Run::run`](crate::Run::run).
    fn finish(self) -> impl Future<Output = Result<()>>;
}

impl Main for Server {
    // Boxed, so that this crate compiles the future: programs need not compile it with each change.
    fn finish(self) -> impl Future<Output = Result<()>> {
        let served: BoxFuture<'static, Result<()>> = Box::pin(async { Ok(self.run().await?) });
        served
    }
}

#[cfg(feature = "inspector")]
impl<T: pintle_runtime::IntoService + Send> Main for pintle_web::Inspector<T> {
    async fn finish(self) -> Result<()> {
        Ok(self.run().await?)
    }
}

impl Main for () {
    async fn finish(self) -> Result<()> {
        Ok(())
    }
}

impl<T: Main, E: Into<Error>> Main for std::result::Result<T, E> {
    async fn finish(self) -> Result<()> {
        self.map_err(Into::into)?.finish().await
    }
}

/// Runs the body of `main` on a runtime, serves its result, and returns the exit code.
pub fn run_main<M: Main>(body: impl Future<Output = M>) -> ExitCode {
    run_boxed(Box::pin(async { body.await.finish().await }))
}

fn run_boxed(main: Pin<Box<dyn Future<Output = Result<()>> + '_>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let finished = match runtime {
        Ok(runtime) => runtime.block_on(main),
        Err(error) => Err(error.into()),
    };
    match finished {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Only people read it; the exit code is for programs.
            let _ = writeln!(std::io::stderr(), "error: {}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

/// Returns the text of an error and of its causes, in one line.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    // The depth is bounded, because an error type of the user may be its own source.
    for _ in 0..16 {
        let Some(error) = cause else { break };
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_printed_with_its_causes() {
        let cause = std::io::Error::other("the disk is full");
        let error = std::io::Error::other(Wrapped(cause));
        assert_eq!(with_causes(&error), "the state is lost: the disk is full");
    }

    #[derive(Debug)]
    struct Wrapped(std::io::Error);

    impl std::fmt::Display for Wrapped {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the state is lost")
        }
    }

    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn the_result_of_main_is_the_exit_code() {
        assert_eq!(run_main(async {}), ExitCode::SUCCESS);
        assert_eq!(run_main(async { Ok::<_, Error>(()) }), ExitCode::SUCCESS);
        let failed = async { Err::<(), Error>("no configuration".into()) };
        assert_eq!(run_main(failed), ExitCode::FAILURE);
    }
}
