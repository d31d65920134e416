//! Errors when a database is opened.

use std::path::PathBuf;

/// The reason why a database cannot be used as a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// SQLite cannot open the file.
    #[error("cannot open the database {}; check the path and its permissions", path.display())]
    Open {
        /// The path of the database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file has tables of another program.
    #[error("the database {} belongs to another program; use another path", path.display())]
    OtherProgram {
        /// The path of the database.
        path: PathBuf,
    },
    /// A newer version of this program created the tables.
    #[error(
        "the database {} has layout {found}, and this version reads layouts up to {supported}; use a newer version",
        path.display()
    )]
    NewerLayout {
        /// The path of the database.
        path: PathBuf,
        /// The layout of the database.
        found: i64,
        /// The newest layout that this version reads.
        supported: i64,
    },
    /// The system cannot start a thread for the store.
    #[error("cannot start a thread for the database")]
    Thread(#[source] std::io::Error),
}
