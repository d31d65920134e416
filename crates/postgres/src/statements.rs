//! The statement of each operation. One statement is one round trip and one transaction.

use tokio_postgres::types::Type;

use crate::target::Target;

/// An operation with a statement of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Get,
    Put,
    Remove,
    List,
    Append,
    Read,
    Forget,
    Add,
    Time,
    Epoch,
    Notify,
}

impl Operation {
    /// All operations, in the order of their numbers.
    pub(crate) const ALL: [Self; 11] = [
        Self::Get,
        Self::Put,
        Self::Remove,
        Self::List,
        Self::Append,
        Self::Read,
        Self::Forget,
        Self::Add,
        Self::Time,
        Self::Epoch,
        Self::Notify,
    ];

    /// Returns true if a repetition changes nothing, so a lost connection permits one.
    pub(crate) fn is_repeatable(self) -> bool {
        matches!(
            self,
            Self::Get | Self::List | Self::Read | Self::Time | Self::Epoch | Self::Notify
        )
    }

    /// The types of the parameters.
    pub(crate) fn types(self) -> Vec<Type> {
        const NUMBER: Type = Type::INT8;
        match self {
            Self::Get | Self::Forget => vec![NUMBER, Type::TEXT],
            Self::Put => vec![NUMBER, Type::TEXT, Type::BYTEA, NUMBER, NUMBER],
            Self::Remove => vec![NUMBER, Type::TEXT, NUMBER],
            Self::List => vec![NUMBER, Type::TEXT, Type::TEXT, Type::TEXT, NUMBER, NUMBER],
            Self::Append => vec![
                NUMBER,
                Type::TEXT,
                Type::BYTEA_ARRAY,
                NUMBER,
                NUMBER,
                NUMBER,
                NUMBER,
            ],
            Self::Read => vec![NUMBER, Type::TEXT, NUMBER, NUMBER, NUMBER],
            Self::Add => vec![NUMBER, Type::TEXT, NUMBER, NUMBER],
            Self::Time => Vec::new(),
            Self::Epoch => vec![Type::BYTEA],
            Self::Notify => vec![Type::TEXT, Type::TEXT_ARRAY],
        }
    }

    /// The text, with `@` for the schema.
    fn text(self) -> &'static str {
        match self {
            Self::Get => {
                "SELECT value, version, expires FROM @record
                WHERE key = $2 AND (expires IS NULL OR expires > $1)"
            }
            Self::Put => "SELECT is_done, version FROM @put($1, $2, $3, $4, $5)",
            Self::Remove => "SELECT is_done, version FROM @remove($1, $2, $3)",
            Self::List => LIST,
            Self::Append => "SELECT is_done, tail FROM @append($1, $2, $3, $4, $5, $6, $7)",
            Self::Read => READ,
            Self::Forget => "SELECT @forget($1, $2)",
            Self::Add => "SELECT @add($1, $2, $3, $4)",
            Self::Time => "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            Self::Epoch => "SELECT @first_epoch($1)",
            Self::Notify => "SELECT pg_notify($1, payload) FROM unnest($2) payload",
        }
    }

    /// The text in the schema of `target`.
    pub(crate) fn sql(self, target: &Target) -> String {
        in_schema(self.text(), target)
    }
}

/// A page of records: those with a value, then one without a value if there are more. The first record
/// always fits. Parameters: now, prefix, end of the prefix, last key of the page before, entries, bytes.
const LIST: &str =
    "SELECT key, CASE WHEN number = 1 OR (number <= $5 AND total <= $6) THEN value END,
        version, expires
    FROM (
        SELECT key, value, version, expires, row_number() OVER page AS number,
            sum(octet_length(value)) OVER page AS total
        FROM (
            SELECT key, value, version, expires FROM @record
            WHERE key >= $2 AND key < $3 AND key > $4 AND (expires IS NULL OR expires > $1)
            ORDER BY key LIMIT $5 + 1
        ) found
        WINDOW page AS (ORDER BY key ROWS UNBOUNDED PRECEDING)
    ) numbered
    WHERE number <= 2 OR (number - 1 <= $5 AND total - octet_length(value) <= $6)
    ORDER BY key";

/// Events as the records of a page, beside the row of their log. Parameters: now, key, position, events,
/// bytes.
const READ: &str = "SELECT l.birth, l.horizon,
        EXISTS (SELECT FROM @event e WHERE e.birth = l.birth AND e.position = $3),
        n.position, n.value
    FROM @log l LEFT JOIN LATERAL (
        SELECT position, CASE WHEN number = 1 OR (number <= $4 AND total <= $5) THEN value END AS value
        FROM (
            SELECT position, value, row_number() OVER page AS number,
                sum(octet_length(value)) OVER page AS total
            FROM (
                SELECT position, value FROM @event e
                WHERE e.birth = l.birth AND e.position > $3 ORDER BY position LIMIT $4 + 1
            ) found
            WINDOW page AS (ORDER BY position ROWS UNBOUNDED PRECEDING)
        ) numbered
        WHERE number <= 2 OR (number - 1 <= $4 AND total - octet_length(value) <= $5)
    ) n ON true
    WHERE l.key = $2 AND (l.expires IS NULL OR l.expires > $1)
    ORDER BY n.position";

/// Replaces `@` by the quoted schema. The name of a schema has no quotes: see [`Target`].
pub(crate) fn in_schema(sql: &str, target: &Target) -> String {
    match sql.strip_suffix("SCHEMA @") {
        Some(start) => format!("{start}SCHEMA \"{}\"", target.schema),
        None => sql.replace('@', &format!("\"{}\".", target.schema)),
    }
}
