//! A server against its lock file: `assert_surface!`.
//!
//! The file has the whole definitions of the tools, prompts and resources of the server, as `pintle lock` writes it.
//! A project commits it, so that each change of a definition is a part of a review.
//!
//! ```no_run
//! # fn server() -> pintle_server::Server { pintle_server::Server::new("s", "1") }
//! // In a test. The file is relative to the directory of Cargo.toml.
//! pintle_testkit::assert_surface!(server(), "tests/surface.json");
//! ```
//!
//! Set the environment variable `PINTLE_UPDATE_SURFACE` to `1` to write the file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, thread};

use pintle_client::{Client, InProcess};
use pintle_runtime::{IntoService, Service};
use tokio::runtime::Builder;

pub use pintle_surface::{Surface, SurfaceError};

/// The environment variable that lets a test write the lock file.
pub const UPDATE_VARIABLE: &str = "PINTLE_UPDATE_SURFACE";

/// Asserts that the surface of a server is that of its lock file, relative to the directory of `Cargo.toml`.
///
/// The server may be a value or a builder. The macro works in tests with and without a runtime.
///
/// # Panics
///
/// With every difference, word by word, and the way to renew the file; if the file is missing or invalid; and if the
/// server does not start. If the environment variable `PINTLE_UPDATE_SURFACE` is `1`, the file is written instead.
#[macro_export]
macro_rules! assert_surface {
    ($server:expr, $file:literal $(,)?) => {
        $crate::surface::assert_surface_of($server, concat!(env!("CARGO_MANIFEST_DIR"), "/", $file))
    };
}

/// As [`assert_surface!`](crate::assert_surface), with the whole path of the file.
///
/// # Panics
///
/// As the macro.
#[track_caller]
pub fn assert_surface_of(
    server: impl IntoService<Service: Service> + Send,
    file: impl AsRef<Path>,
) {
    let is_update = env::var_os(UPDATE_VARIABLE).is_some_and(|value| value == "1");
    let checked = surface_of(server).and_then(|surface| match is_update {
        true => write(&surface, file.as_ref()),
        false => verify(&surface, file.as_ref()),
    });
    if let Err(fault) = checked {
        panic!("{fault}");
    }
}

/// Reads the surface of a server in this process. It needs no runtime, and works inside of one.
///
/// # Errors
///
/// A text, if the server does not start or a list cannot be read.
pub fn surface_of(server: impl IntoService<Service: Service> + Send) -> Result<Surface, String> {
    // A thread of its own, because a runtime does not block inside of another one.
    let read = thread::scope(|scope| scope.spawn(|| read(server)).join());
    read.unwrap_or_else(|_| Err("the server panicked".to_owned()))
}

fn read(server: impl IntoService<Service: Service>) -> Result<Surface, String> {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let service = server.into_service();
        let service = service.map_err(|error| format!("the server does not start: {error}"))?;
        let client = Client::builder().connect(InProcess::new(service)).await;
        let client = client.map_err(|error| format!("the server does not answer: {error}"))?;
        let surface = Surface::of(&client).await;
        client.close().await;
        surface.map_err(|error| format!("the surface of the server cannot be read: {error}"))
    })
}

fn verify(surface: &Surface, file: &Path) -> Result<(), String> {
    let renew = format!(
        "run the test with {UPDATE_VARIABLE}=1 to write {}",
        file.display()
    );
    let locked = Surface::open(file).map_err(|error| format!("{error}; {renew}"))?;
    let comparison = locked.compare(surface);
    if comparison.is_empty() {
        return Ok(());
    }
    let mut fault = format!("the server differs from {}\n", file.display());
    // Writing to a text does not fail.
    let _ = write!(
        fault,
        "{}\nIf the changes are intended, {renew}",
        comparison.to_text()
    );
    Err(fault)
}

fn write(surface: &Surface, file: &Path) -> Result<(), String> {
    let unwritable = |error| format!("{} cannot be written: {error}", file.display());
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory).map_err(unwritable)?;
    }
    fs::write(file, surface.to_json()).map_err(unwritable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_matches_and_a_changed_server_does_not() {
        let directory = env::temp_dir().join(format!("pintle-surface-{}", std::process::id()));
        let file = directory.join("surface.json");
        let old = Surface::new("s", "1");
        let fault = verify(&old, &file).expect_err("the file is missing");
        assert!(fault.contains("PINTLE_UPDATE_SURFACE=1"), "{fault}");
        write(&old, &file).expect("a file");
        assert_eq!(verify(&old, &file), Ok(()));
        let fault = verify(&Surface::new("s", "2"), &file).expect_err("another version");
        assert!(fault.contains("/version: [-1-]{+2+}"), "{fault}");
        assert!(fault.contains("PINTLE_UPDATE_SURFACE=1"), "{fault}");
        fs::remove_dir_all(directory).expect("the directory of the test");
    }
}
