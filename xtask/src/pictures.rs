//! The pictures of the documentation: a recording of the terminal, and the floors of the crates.
//!
//! Both are made of facts: the output of the commands that the recording shows, and the table of floors.

mod floors_picture;
mod recording;

use std::fs;
use std::path::Path;

use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

/// The folder of the pictures.
const FOLDER: &str = "docs/pictures";

/// Checks that the committed pictures are current.
pub(crate) fn check() -> Result<()> {
    let root = Workspace::read()?.root;
    let mut faults = Vec::new();
    for (name, picture) in pictures(&root)? {
        let path = root.join(FOLDER).join(name);
        let committed =
            fs::read_to_string(&path).attempting(|| format!("read {}", path.display()))?;
        if committed != picture {
            faults.push(format!("{FOLDER}/{name} is not current"));
        }
    }
    println!("pictures: 2 compared");
    Failure::unless_empty(
        "the pictures are current; `cargo xtask pictures --write` writes them",
        faults,
    )
}

/// Writes the pictures.
pub(crate) fn write() -> Result<()> {
    let root = Workspace::read()?.root;
    for (name, picture) in pictures(&root)? {
        let path = root.join(FOLDER).join(name);
        fs::write(&path, picture).attempting(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn pictures(root: &Path) -> Result<[(&'static str, String); 2]> {
    Ok([
        ("terminal.svg", recording::picture(root)?),
        ("architecture.svg", floors_picture::picture()),
    ])
}

/// Returns a text for the content of an element of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
