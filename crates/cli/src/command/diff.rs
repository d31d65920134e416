//! `pintle verify` and `pintle diff`: the differences of two surfaces.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use pintle_surface::{Comparison, Surface};

use super::lock::{counts, of_file};
use super::{Action, Invocation, converse_at};
use crate::args::{Format, SurfaceSource};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::screen::Screen;
use crate::text;

/// Two surfaces to compare.
#[derive(Debug)]
pub(crate) struct Diff {
    pub(crate) old: SurfaceSource,
    pub(crate) new: SurfaceSource,
    /// Whether a text states that nothing differs.
    pub(crate) confirms: bool,
}

/// The surface that an action in a conversation reads.
pub(crate) type SurfaceSlot = Arc<OnceLock<Surface>>;

/// Prints the differences of two surfaces.
///
/// # Errors
///
/// Exit code 7 if there is one.
pub(super) async fn run(invocation: &Invocation, diff: &Diff) -> Result<(), CliError> {
    let old = read(invocation, &diff.old).await?;
    let new = read(invocation, &diff.new).await?;
    let comparison = old.compare(&new);
    match invocation.format {
        Format::Json => output::json(&Screen::look(), &comparison)?,
        Format::Text => output::result(comparison.to_text().as_bytes())?,
    }
    if !comparison.is_empty() {
        return Err(CliError::new(Exit::Differs, difference(diff, &comparison)));
    }
    match (&diff.old, invocation.format) {
        (SurfaceSource::File(file), Format::Text) if diff.confirms => {
            let line = format!("the server is that of {}: {}\n", shown(file), counts(&new));
            output::result(line.as_bytes())
        }
        _ => Ok(()),
    }
}

/// Reads a lock file, or the surface of a server.
///
/// # Errors
///
/// The file is invalid, or the calls fail.
pub(super) async fn read(
    invocation: &Invocation,
    source: &SurfaceSource,
) -> Result<Surface, CliError> {
    let server = match source {
        SurfaceSource::File(file) => {
            return Surface::open(file).map_err(|error| of_file(file, error));
        }
        SurfaceSource::Server(server) => server,
    };
    let slot = SurfaceSlot::default();
    let action = Action::ReadSurface(Arc::clone(&slot));
    converse_at(server, invocation, &action).await?;
    let missing = || CliError::not_found("the server has gone");
    slot.get().cloned().ok_or_else(missing)
}

fn difference(diff: &Diff, comparison: &Comparison) -> String {
    let count = text::counted(comparison.changes().len(), "difference");
    match &diff.old {
        SurfaceSource::File(file) if diff.confirms => {
            format!("the server differs from {}: {count}", shown(file))
        }
        _ => count,
    }
}

fn shown(file: &Path) -> String {
    text::line(&file.display().to_string()).into_owned()
}
