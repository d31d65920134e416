//! The start of a store: the first connection, the server behind it, the tables and the rights.

use std::sync::Arc;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::connect_error::ConnectError;
use crate::layout;
use crate::pool::Live;
use crate::session::{drive, open};
use crate::target::Target;
use crate::tls::Tls;

/// The oldest supported server, as `server_version_num`.
const OLDEST: i32 = 130_000;

/// Opens the first connection, and checks all that a store needs.
///
/// # Errors
///
/// [`ConnectError`] with the first check that fails.
pub(crate) async fn start(target: &Arc<Target>) -> Result<(Live, Tls), ConnectError> {
    let (host, limit) = (target.host(), target.connect_timeout);
    let started = timeout_at(Instant::now() + limit, first(target)).await;
    started.map_err(|_| ConnectError::TimedOut { host, limit })?
}

async fn first(target: &Arc<Target>) -> Result<(Live, Tls), ConnectError> {
    let (mode, files) = (target.tls, target.files.clone());
    let tls = spawn_blocking(move || Tls::read(mode, &files)).await;
    let tls = tls.expect("certificates are read without a panic")?;
    prepare_tables(target, &tls).await?;
    let (client, connection) = open(&target.config, target, &tls).await?;
    let driver = drive(connection);
    check_rights(&client, target).await?;
    let live = Live::prepare(client, driver, target).await;
    Ok((
        target.explain_right(live, "EXECUTE on the functions of the schema")?,
        tls,
    ))
}

/// Uses a connection of its own to the server itself, because a pooler may not support transactions of
/// several statements.
async fn prepare_tables(target: &Target, tls: &Tls) -> Result<(), ConnectError> {
    let (mut client, connection) = open(&target.listen, target, tls).await?;
    drop(drive(connection));
    check_server(&client, target).await?;
    layout::migrate(&mut client, target).await
}

async fn check_server(client: &Client, target: &Target) -> Result<(), ConnectError> {
    let sql =
        "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')";
    let row = target.explain(client.query_one(sql, &[]).await)?;
    check_version(row.get(0))?;
    let found: String = row.get(1);
    if found != "UTF8" {
        return Err(ConnectError::Encoding { found });
    }
    Ok(())
}

fn check_version(number: i32) -> Result<(), ConnectError> {
    if number < OLDEST {
        let found = number / 10_000;
        return Err(ConnectError::Version { found });
    }
    Ok(())
}

/// The rights that the operations need, one row for each that is missing.
const MISSING: &str = "
    SELECT 'USAGE on the schema' WHERE NOT has_schema_privilege($1, 'USAGE')
    UNION ALL
    SELECT r || ' on ' || t
        FROM unnest('{record,log,event,counter,epoch}'::text[]) t,
            unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) r
        WHERE NOT has_table_privilege(format('%I.%I', $1, t), r)
    UNION ALL
    SELECT 'USAGE on ' || s FROM unnest('{version,block}'::text[]) s
        WHERE NOT has_sequence_privilege(format('%I.%I', $1, s), 'USAGE')";

async fn check_rights(client: &Client, target: &Target) -> Result<(), ConnectError> {
    // One round trip without a prepared statement, which a pooler may not support.
    let rows = client
        .query_typed(MISSING, &[(&target.schema, Type::TEXT)])
        .await;
    let rows = target.explain_right(rows, "USAGE on the schema")?;
    if rows.is_empty() {
        return Ok(());
    }
    let missing: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Err(ConnectError::Permission {
        user: target.user(),
        missing: format!("{} in schema {}", missing.join(", "), target.schema),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_before_version_13_is_refused() {
        assert!(check_version(130_000).is_ok());
        let error = check_version(120_022).expect_err("an old server");
        let text = "the server has PostgreSQL 12; use PostgreSQL 13 or newer";
        assert_eq!(error.to_string(), text);
    }
}
