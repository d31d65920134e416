//! Compresses the files of the page into one block, which is a part of the program.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// The folder of the page, beside this file.
const PAGE: &str = "page";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={PAGE}");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut block = DeflateEncoder::new(Vec::new(), Compression::best());
    let mut index = String::from("&[");
    let mut start = 0;
    for file in files(Path::new(PAGE))? {
        let text = fs::read_to_string(&file)?;
        let end = start + text.len();
        block.write_all(text.as_bytes())?;
        let name = file
            .strip_prefix(PAGE)?
            .to_string_lossy()
            .replace('\\', "/");
        let path = name.strip_suffix("index.html").unwrap_or(&name);
        write!(
            index,
            "Entry {{ path: {:?}, bytes: {start}..{end} }},",
            format!("/{path}")
        )?;
        start = end;
    }
    index.push(']');
    fs::write(out.join("page.deflate"), block.finish()?)?;
    fs::write(out.join("index.rs"), index)?;
    Ok(())
}

/// Returns the files of a folder and its folders. The order does not depend on the file system.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
