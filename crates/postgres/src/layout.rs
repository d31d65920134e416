//! The tables of a schema, and their version.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use crate::connect_error::ConnectError;
use crate::statements::in_schema;
use crate::target::Target;

/// Each migration has the number of its place, beginning with 1.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/1.sql")];

/// The version of the tables that this version of the program uses.
const LAYOUT: i32 = MIGRATIONS.len() as i32;

/// Creates or migrates the tables if the schema has an older layout. Several processes may start at once.
///
/// # Errors
///
/// [`ConnectError::NewerLayout`], [`ConnectError::Permission`] and [`ConnectError::OtherProgram`].
pub(crate) async fn migrate(client: &mut Client, target: &Target) -> Result<(), ConnectError> {
    let found = applied(client, target).await?;
    if found < LAYOUT {
        return migrate_locked(client, target).await;
    }
    check(found, target)
}

/// Refuses a layout that a newer version created.
fn check(found: i32, target: &Target) -> Result<(), ConnectError> {
    if found <= LAYOUT {
        return Ok(());
    }
    Err(ConnectError::NewerLayout {
        schema: target.schema.clone(),
        found,
        supported: LAYOUT,
    })
}

/// Returns the number of the last migration; 0 if the schema or its tables do not exist.
async fn applied(client: &Client, target: &Target) -> Result<i32, ConnectError> {
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = 'layout')";
    let row = client.query_one(sql, &[&target.schema]).await;
    if !target.explain(row)?.get::<_, bool>(0) {
        return Ok(0);
    }
    let sql = in_schema("SELECT coalesce(max(number), 0) FROM @layout", target);
    let row = client.query_one(&sql, &[]).await;
    Ok(target
        .explain_right(row, "USAGE on the schema and SELECT on its tables")?
        .get(0))
}

/// Applies the migrations in one transaction. Another process that starts waits for its end.
async fn migrate_locked(client: &mut Client, target: &Target) -> Result<(), ConnectError> {
    // A stricter level would read the state before the wait for the lock.
    let level = IsolationLevel::ReadCommitted;
    let change = client
        .build_transaction()
        .isolation_level(level)
        .start()
        .await;
    let change = target.explain(change)?;
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('pintle ' || $1, 0))";
    target.explain(change.query_one(lock, &[&target.schema]).await)?;
    let found = applied(change.client(), target).await?;
    if found == 0 {
        create_schema(&change, target).await?;
    }
    for (number, sql) in (1..)
        .zip(MIGRATIONS)
        .skip(usize::try_from(found).unwrap_or(0))
    {
        apply(&change, target, number, sql).await?;
    }
    target.explain(change.commit().await)?;
    check(found, target)
}

async fn create_schema(change: &Transaction<'_>, target: &Target) -> Result<(), ConnectError> {
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1)";
    let row = target.explain(change.query_one(sql, &[&target.schema]).await)?;
    if row.get(0) {
        return Ok(());
    }
    let created = change
        .batch_execute(&in_schema("CREATE SCHEMA @", target))
        .await;
    target.explain_right(
        created,
        "CREATE on the database, because the schema does not exist",
    )
}

async fn apply(
    change: &Transaction<'_>,
    target: &Target,
    number: i32,
    sql: &str,
) -> Result<(), ConnectError> {
    let sql = in_schema(sql, target);
    match change.batch_execute(&sql).await {
        Err(error) if is_taken(error.code()) => {
            let schema = target.schema.clone();
            return Err(ConnectError::OtherProgram { schema });
        }
        applied => target.explain_right(
            applied,
            "CREATE on the schema, because its tables are older than this version",
        )?,
    }
    let sql = in_schema("INSERT INTO @layout (number) VALUES ($1)", target);
    let inserted = change.execute(&sql, &[&number]).await;
    target.explain(inserted).map(drop)
}

fn is_taken(code: Option<&SqlState>) -> bool {
    matches!(
        code,
        Some(&SqlState::DUPLICATE_TABLE | &SqlState::DUPLICATE_FUNCTION)
    )
}
