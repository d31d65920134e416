//! Creating and reading the tables of a schema.

use pintle_postgres::{ConnectError, PostgresStore};
use pintle_store::{Epoch, Expiry, Store, StoreLimits};
use tokio::task::JoinSet;

use crate::support::{Engine, NOW, fresh, key, open};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_processes_may_start_at_once() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine.url(&fresh("migrations"));
    let mut starts = JoinSet::new();
    for number in 1..=8 {
        let url = url.clone();
        starts.spawn(async move {
            let store = open(&url).await;
            store.epoch(Epoch::new(number)).await.expect("an epoch")
        });
    }
    let epochs = starts.join_all().await;
    assert!(epochs.iter().all(|epoch| *epoch == epochs[0]), "{epochs:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stricter_isolation_level_does_not_matter() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (schema, role) = (fresh("migrations"), fresh("strict"));
    let create = format!(
        "CREATE ROLE {role} LOGIN SUPERUSER;
        ALTER ROLE {role} SET default_transaction_isolation = 'serializable'"
    );
    engine.run(&create).await;
    let url = engine
        .url(&schema)
        .replace("//postgres@", &format!("//{role}@"));
    let opened = (0..8).map(|_| open(&url));
    let stores = &futures_util::future::join_all(opened).await;
    let adds = (0..64).map(|number| async move {
        let (store, key) = (&stores[number % stores.len()], key("sum"));
        store.add(NOW, &key, 1, Expiry::Never).await
    });
    let sums = futures_util::future::try_join_all(adds)
        .await
        .expect("adds");
    assert_eq!(sums.into_iter().max(), Some(64));
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let schema = fresh("migrations");
    drop(open(&engine.url(&schema)).await);
    engine
        .run(&format!("INSERT INTO {schema}.layout (number) VALUES (2)"))
        .await;
    let error = PostgresStore::connect(&engine.url(&schema), StoreLimits::default()).await;
    let error = error.expect_err("a newer layout");
    assert!(
        matches!(
            error,
            ConnectError::NewerLayout {
                found: 2,
                supported: 1,
                ..
            }
        ),
        "{error:?}"
    );
    let text = format!(
        "the schema {schema} has layout 2, and this version reads layouts up to 1; use a newer version"
    );
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn tables_of_another_program_are_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let schema = fresh("migrations");
    engine
        .run(&format!(
            "CREATE SCHEMA {schema}; CREATE TABLE {schema}.record (text text)"
        ))
        .await;
    let error = PostgresStore::connect(&engine.url(&schema), StoreLimits::default()).await;
    let error = error.expect_err("other tables");
    assert!(
        matches!(error, ConnectError::OtherProgram { .. }),
        "{error:?}"
    );
    // The transaction of the migration left nothing.
    engine.run(&format!("DROP TABLE {schema}.record")).await;
    drop(open(&engine.url(&schema)).await);
}

#[tokio::test]
async fn only_a_migration_needs_the_right_to_create() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (schema, role) = (fresh("migrations"), fresh("reader"));
    engine.run(&format!("CREATE ROLE {role} LOGIN")).await;
    let url = engine
        .url(&schema)
        .replace("//postgres@", &format!("//{role}@"));
    let denied = PostgresStore::connect(&url, StoreLimits::default()).await;
    let text = denied.expect_err("a role without rights").to_string();
    assert_eq!(
        text,
        format!(
            "user {role} has no permission: CREATE on the database, because the schema does not exist; \
            grant it, or connect once as a user who has it"
        )
    );

    drop(open(&engine.url(&schema)).await);
    let denied = PostgresStore::connect(&url, StoreLimits::default()).await;
    let text = denied.expect_err("a role without rights").to_string();
    assert!(text.contains("USAGE on the schema"), "{text}");

    let grant = format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {schema}.layout TO {role};
        GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.record, {schema}.log, {schema}.event,
            {schema}.counter TO {role};
        GRANT USAGE ON SEQUENCE {schema}.version, {schema}.block TO {role}"
    );
    engine.run(&grant).await;
    let denied = PostgresStore::connect(&url, StoreLimits::default()).await;
    let text = denied.expect_err("a role without rights").to_string();
    assert!(text.contains("SELECT on epoch, INSERT on epoch"), "{text}");

    engine
        .run(&format!(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.epoch TO {role}"
        ))
        .await;
    let store = open(&url).await;
    store.epoch(Epoch::new(1)).await.expect("an epoch");
}
