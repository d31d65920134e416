//! The source files of a package that its users compile: not its test modules.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Attempt, Result};
use crate::source::Code;
use crate::workspace::{Package, rust_files};

/// One file.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) code: Code,
}

/// Reads what users of `package` compile.
pub(crate) fn read(package: &Package) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let sources = package.folder().join("src");
    let folder = if sources.exists() {
        &sources
    } else {
        package.folder()
    };
    for path in rust_files(folder)? {
        let text = fs::read_to_string(&path).attempting(|| format!("read {}", path.display()))?;
        let code = Code::of(&text);
        files.push(SourceFile { path, text, code });
    }
    let tests: Vec<PathBuf> = files.iter().flat_map(test_modules).collect();
    files.retain(|file| !tests.iter().any(|test| file.path.starts_with(test)));
    Ok(files)
}

/// Where the test modules that a file declares live: `name.rs` and the folder `name`.
fn test_modules(file: &SourceFile) -> Vec<PathBuf> {
    let children = children(&file.path);
    let names = file.code.test_modules.iter();
    names
        .flat_map(|name| [children.join(format!("{name}.rs")), children.join(name)])
        .collect()
}

/// The folder of a file's modules.
fn children(file: &Path) -> PathBuf {
    let is_root = ["lib.rs", "main.rs", "mod.rs"]
        .iter()
        .any(|name| file.ends_with(name));
    if is_root {
        file.with_file_name("")
    } else {
        file.with_extension("")
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Code, SourceFile, test_modules};

    fn modules_of(path: &str) -> Vec<PathBuf> {
        let text = "#[cfg(test)]\nmod tests;".to_owned();
        let code = Code::of(&text);
        let path = path.into();
        test_modules(&SourceFile { path, text, code })
    }

    #[test]
    fn a_test_module_lies_in_the_folder_of_its_parent() {
        assert_eq!(modules_of("src/tool.rs")[0], Path::new("src/tool/tests.rs"));
        assert_eq!(modules_of("src/lib.rs")[0], Path::new("src/tests.rs"));
    }
}
