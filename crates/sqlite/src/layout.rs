//! The tables of a database, and their version.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::open_error::OpenError;

/// The version of the tables.
const LAYOUT: i64 = 1;

/// Marks a database as a store of Pintle: the letters `Pntl`.
const APPLICATION: i64 = 0x506e_746c;

/// Longest wait of an operation for its turn and for the lock of another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// `sequence` has the last version or position. Numbers are never used again.
const TABLES: &str = "
    CREATE TABLE sequence (last INTEGER NOT NULL) STRICT;
    INSERT INTO sequence VALUES (0);
    CREATE TABLE epoch (bits BLOB NOT NULL) STRICT;
    CREATE TABLE records (
        key TEXT PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL, expiry INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE logs (
        key TEXT PRIMARY KEY, birth INTEGER NOT NULL, horizon INTEGER NOT NULL, tail INTEGER NOT NULL,
        events INTEGER NOT NULL, bytes INTEGER NOT NULL, expiry INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE events (
        birth INTEGER NOT NULL, position INTEGER NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (birth, position)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE counters (
        key TEXT PRIMARY KEY, sum INTEGER NOT NULL, expiry INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX record_expiry ON records (expiry) WHERE expiry IS NOT NULL;
    CREATE INDEX log_expiry ON logs (expiry) WHERE expiry IS NOT NULL;
    CREATE INDEX counter_expiry ON counters (expiry) WHERE expiry IS NOT NULL;
";

/// Opens a connection, and creates the tables in an empty database.
pub(crate) fn connect(path: &Path) -> Result<Connection, OpenError> {
    let open_error = |source| OpenError::Open {
        path: path.to_owned(),
        source,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(open_error)?;
    configure(&connection).map_err(open_error)?;
    match create_or_read_layout(&mut connection).map_err(open_error)? {
        (APPLICATION, found) if found <= LAYOUT => Ok(connection),
        (APPLICATION, found) => Err(OpenError::NewerLayout {
            path: path.to_owned(),
            found,
            supported: LAYOUT,
        }),
        _ => Err(OpenError::OtherProgram {
            path: path.to_owned(),
        }),
    }
}

/// Each commit reaches the disk before it is acknowledged.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Returns the mark of the program and the layout of the tables.
fn create_or_read_layout(connection: &mut Connection) -> rusqlite::Result<(i64, i64)> {
    let create = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is_empty: bool = create.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
        row.get(0)
    })?;
    if is_empty {
        create.execute_batch(TABLES)?;
        create.pragma_update(None, "application_id", APPLICATION)?;
        create.pragma_update(None, "user_version", LAYOUT)?;
    }
    let number = |name| create.pragma_query_value(None, name, |row| row.get(0));
    let found = (number("application_id")?, number("user_version")?);
    create.commit()?;
    Ok(found)
}
