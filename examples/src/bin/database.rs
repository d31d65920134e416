//! Tools over a SQLite database: statements are fixed, values are bound, and the number of rows is limited.

use std::sync::{Mutex, MutexGuard};

use pintle::prelude::*;
use rusqlite::{Connection, ErrorCode};
use schemars::JsonSchema;
use serde::Serialize;

const TABLES: &str = "CREATE TABLE IF NOT EXISTS ships (
    name TEXT PRIMARY KEY,
    length REAL NOT NULL,
    berth INTEGER UNIQUE
) STRICT";

/// The connection. One thread uses it at a time; a server with more load has a pool.
struct Database(Mutex<Connection>);

impl Database {
    fn open(file: &str) -> Result<Self> {
        let connection = Connection::open(file)?;
        connection.execute_batch(TABLES)?;
        Ok(Self(Mutex::new(connection)))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().expect("no holder panics")
    }
}

/// A ship in the harbour.
#[derive(Serialize, JsonSchema)]
struct Ship {
    name: String,
    /// The length in metres.
    length: f64,
    /// The number of the berth, if the ship has one.
    berth: Option<u32>,
}

/// The ships that were found.
#[derive(Serialize, JsonSchema)]
struct Found {
    ships: Vec<Ship>,
    /// Whether more ships match than the limit permits.
    has_more: bool,
}

/// Finds ships by a part of their name, in the order of their names.
#[tool(read_only, blocking)]
fn find_ships(
    #[arg(max_len = 100, default = "")] part: String,
    #[arg(min = 1, max = 100, default = 20)] limit: u32,
    database: State<Database>,
) -> Result<Json<Found>> {
    let database = database.lock();
    let mut statement = database.prepare_cached(
        "SELECT name, length, berth FROM ships WHERE instr(lower(name), lower(?1)) > 0 ORDER BY name LIMIT ?2",
    )?;
    // One row more shows whether there are more.
    let rows = statement.query_map((part, limit + 1), |row| {
        Ok(Ship {
            name: row.get(0)?,
            length: row.get(1)?,
            berth: row.get(2)?,
        })
    })?;
    let mut ships: Vec<Ship> = rows.collect::<Result<_, _>>()?;
    let has_more = ships.len() > limit as usize;
    ships.truncate(limit as usize);
    Ok(Json(Found { ships, has_more }))
}

/// Adds a ship.
#[tool(destructive = false, blocking)]
fn add_ship(
    #[arg(min_len = 1, max_len = 100)] name: String,
    #[arg(min = 1, max = 500)] length: f64,
    berth: Option<u32>,
    database: State<Database>,
) -> Result<String> {
    let insert = "INSERT INTO ships (name, length, berth) VALUES (?1, ?2, ?3)";
    match database.lock().execute(insert, (&name, length, berth)) {
        Ok(_) => Ok(format!("{name} is added")),
        // The model can repair this. Other errors are faults of the database.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err("the name or the berth is taken".into())
        }
        Err(error) => Err(error.into()),
    }
}

fn server(database: Database) -> Server {
    Server::new("harbour", env!("CARGO_PKG_VERSION"))
        .state(database)
        .tools::<(find_ships, add_ship)>()
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    server(Database::open("harbour.sqlite")?).run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use pintle::prelude::*;
    use serde_json::{Value, json};

    use super::{Database, server};

    async fn client() -> pintle::Result<Client> {
        let client = Client::connect(server(Database::open(":memory:")?)).await?;
        for (name, length, berth) in [
            ("Rudder", 30.5, json!(1)),
            ("Keel", 12.0, json!(2)),
            ("Rudder's Boy", 8.0, Value::Null),
        ] {
            let ship = json!({ "name": name, "length": length, "berth": berth });
            let added = client.call_tool("add_ship", ship).await?;
            assert!(!added.has_failed(), "{added:?}");
        }
        Ok(client)
    }

    #[tokio::test]
    async fn ships_are_found_by_a_part_of_their_name() -> pintle::Result<()> {
        let client = client().await?;
        let query = json!({ "part": "rudder" });
        let found = client.call_tool("find_ships", query).await?;
        let ships = json!([
            { "name": "Rudder", "length": 30.5, "berth": 1 },
            { "name": "Rudder's Boy", "length": 8.0, "berth": null },
        ]);
        let expected = json!({ "ships": ships, "has_more": false });
        assert_eq!(found.structured_content, Some(expected));
        Ok(())
    }

    #[tokio::test]
    async fn the_number_of_rows_is_limited() -> pintle::Result<()> {
        let found = client()
            .await?
            .call_tool("find_ships", json!({ "limit": 2 }))
            .await?;
        let found = found.structured_content.expect("data");
        assert_eq!(found["ships"].as_array().map(Vec::len), Some(2));
        assert_eq!(found["has_more"], true);
        Ok(())
    }

    #[tokio::test]
    async fn an_argument_is_a_value_and_never_a_statement() -> pintle::Result<()> {
        let client = client().await?;
        let injection = json!({ "part": "'; DROP TABLE ships; --" });
        let found = client.call_tool("find_ships", injection).await?;
        assert_eq!(found.structured_content.expect("data")["ships"], json!([]));
        let all = client.call_tool("find_ships", ()).await?;
        let all = all.structured_content.expect("data");
        assert_eq!(all["ships"].as_array().map(Vec::len), Some(3));
        Ok(())
    }

    #[tokio::test]
    async fn a_taken_berth_is_an_error_for_the_model() -> pintle::Result<()> {
        let client = client().await?;
        let ship = json!({ "name": "Anchor", "length": 9, "berth": 2 });
        let added = client.call_tool("add_ship", ship).await?;
        assert!(added.has_failed());
        assert_eq!(added.first_text(), Some("the name or the berth is taken"));
        Ok(())
    }
}
