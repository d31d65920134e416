//! Pictures, sounds and other bytes of a result: they are drawn, saved, or written as bytes.

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::screen::Screen;
use crate::show::{Media, drawn, file_name};

/// Maximum number of file names to try in one directory.
const NAMES: usize = 10_000;

/// Decides where the media of one result go.
#[derive(Debug)]
pub(crate) struct Saving<'s> {
    stem: &'s str,
    directory: Option<&'s Path>,
    passes_on: bool,
    number: usize,
}

/// The output for one picture, sound or other bytes.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// The bytes themselves, unchanged.
    Bytes,
    /// The picture in the protocol of the terminal, or a caption with the path of the saved file.
    Text(String),
}

impl<'s> Saving<'s> {
    /// Saves in a directory; without one, draws what can be drawn, and saves the rest among the
    /// temporary files.
    pub(crate) fn new(stem: &'s str, directory: Option<&'s Path>) -> Self {
        Self {
            stem,
            directory,
            passes_on: false,
            number: 0,
        }
    }

    /// Writes bytes unchanged if standard output is not a terminal and no directory is given.
    pub(crate) fn or_as_it_is(mut self) -> Self {
        self.passes_on = true;
        self
    }

    /// Draws, saves or passes on one item.
    ///
    /// # Errors
    ///
    /// Those of the system; [`ErrorKind::AlreadyExists`] after 10,000 names.
    pub(super) fn outcome(&mut self, screen: &Screen, media: &Media) -> io::Result<Outcome> {
        if self.directory.is_none() {
            if self.passes_on && !screen.output.is_terminal {
                return Ok(Outcome::Bytes);
            }
            if let Some(picture) = screen.graphics.and_then(|graphics| drawn(media, graphics)) {
                return Ok(Outcome::Text(picture));
            }
        }
        let file = self.save(media)?;
        Ok(Outcome::Text(
            media.caption(&file.display().to_string()) + "\n",
        ))
    }

    /// Saves the bytes in a new file.
    fn save(&mut self, media: &Media) -> io::Result<PathBuf> {
        let directory = match self.directory {
            Some(directory) => {
                fs::create_dir_all(directory)?;
                directory.to_owned()
            }
            None => env::temp_dir(),
        };
        for _ in 0..NAMES {
            self.number += 1;
            let path = directory.join(file_name(self.stem, self.number, media));
            match for_its_owner(&path) {
                Ok(mut file) => {
                    file.write_all(&media.bytes)?;
                    return Ok(path);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}

/// Creates a file that did not exist. Only its owner may read it.
fn for_its_owner(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Graphics, Look};

    fn screen(is_terminal: bool, graphics: Option<Graphics>) -> Screen {
        let look = Look {
            is_terminal,
            ..Look::PLAIN
        };
        Screen {
            output: look,
            notes: look,
            is_typed_on: is_terminal,
            graphics,
        }
    }

    fn png() -> Media {
        Media {
            kind: "image",
            mime: "image/png".to_owned(),
            bytes: b"\x89PNG\r\n\x1a\n".to_vec(),
        }
    }

    /// A directory of one test, removed at its end.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("pintle-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("made");
            Self(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("removed");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let place = Directory::new("saving");
        let mut saving = Saving::new("a", Some(&place.0));
        fs::write(place.0.join("a-1.png"), "mine").expect("written");
        let outcome = saving.outcome(&screen(true, Some(Graphics::Kitty)), &png());
        let Ok(Outcome::Text(caption)) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(caption.contains("a-2.png"), "{caption}");
        assert_eq!(fs::read(place.0.join("a-1.png")).expect("there"), b"mine");
        assert_eq!(
            fs::read(place.0.join("a-2.png")).expect("there"),
            png().bytes
        );
    }

    #[test]
    fn a_terminal_draws_pictures_and_a_pipe_gets_bytes() {
        let look = screen(true, Some(Graphics::Kitty));
        let drawn = Saving::new("a", None)
            .outcome(&look, &png())
            .expect("drawn");
        assert!(
            matches!(&drawn, Outcome::Text(text) if text.starts_with("\u{1b}_G")),
            "{drawn:?}"
        );
        let pipe = screen(false, None);
        let outcome = Saving::new("a", None).or_as_it_is().outcome(&pipe, &png());
        assert_eq!(outcome.expect("passed on"), Outcome::Bytes);
    }
}
