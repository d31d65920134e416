//! A server with a store of files that is killed, again and again: tasks outlive it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle::client::{Client, EraMode, InProcess, TaskStart};
use pintle::model::Revision;
use pintle::store::{FileStore, StoreLimits};
use pintle_store::conformance::Blocking;
use pintle_testkit::Rng;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::history::{History, Violation};
use super::night::runtime;
use crate::town::{Seen, town_for};

/// Longer than all lives together.
const KEPT: Duration = Duration::from_secs(24 * 3_600);
/// By then a task has been taken over and is done.
const DONE: Duration = Duration::from_secs(900);

/// Plays some lives over one store.
///
/// # Errors
///
/// [`Violation`].
pub fn lives(seed: u64) -> Result<(), Violation> {
    let history = History::new(seed, "lives_over_one_store");
    let mut rng = Rng::new(seed);
    let folder = Folder::new(seed);
    let begun = Arc::new(Mutex::new(Vec::new()));
    let count = 2 + rng.below(3);
    for life in 1..=count {
        let life = Life {
            rng: Rng::new(rng.number()),
            history: history.clone(),
            folder: folder.0.clone(),
            begun: Arc::clone(&begun),
            is_last: life == count,
        };
        let killed = rng.up_to(Duration::from_secs(8));
        // What runs when the runtime is dropped is gone, in the middle of whatever it did.
        runtime().block_on(life.until(killed));
    }
    history.end()
}

/// A task whose beginning was acknowledged.
#[derive(Debug, Clone)]
struct Acknowledged {
    id: String,
    text: String,
    mode: EraMode,
}

struct Life {
    rng: Rng,
    history: History,
    folder: PathBuf,
    begun: Arc<Mutex<Vec<Acknowledged>>>,
    is_last: bool,
}

impl Life {
    async fn until(mut self, killed: Duration) {
        let store = match FileStore::open(&self.folder, StoreLimits::default()) {
            Ok(store) => store,
            Err(error) => return self.history.broken(format!("the store is lost: {error:?}")),
        };
        self.history.note("a process begins");
        if !store.recovery().damage.is_empty() {
            self.history
                .broken(format!("damage: {:?}", store.recovery()));
        }
        let server = town_for(KEPT, &Seen::default()).store(Arc::new(Blocking(store)));
        let app = Arc::new(server.build().expect("a server"));
        if self.is_last {
            return self.reckon(&app).await;
        }
        // Whatever it is doing then, it does no more.
        let _ = timeout(killed, self.begin_tasks(&app)).await;
        self.history.note("it is killed");
    }

    async fn begin_tasks(&mut self, app: &Arc<pintle::server::App>) {
        for nth in 0_u32.. {
            let modes = [EraMode::Auto, EraMode::Pinned(Revision::V2025_11_25)];
            let mode = self.rng.pick(&modes).copied().unwrap_or_default();
            let Some(client) = self.client(app, mode).await else {
                return;
            };
            let text = format!("{:x}-{nth}", self.rng.number());
            let arguments = json!({ "text": text, "millis": 200 + self.rng.below(5_000) });
            match client.call_tool("errand", arguments).as_task().await {
                Ok(TaskStart::Task(task)) => {
                    self.history
                        .note(format!("{text} is the task {}", task.id()));
                    let id = task.id().to_owned();
                    self.begun().push(Acknowledged { id, text, mode });
                }
                other => self.history.broken(format!("no task: {other:?}")),
            }
            sleep(self.rng.up_to(Duration::from_secs(1))).await;
        }
    }

    /// Every acknowledged task exists and has the expected end.
    async fn reckon(&mut self, app: &Arc<pintle::server::App>) {
        let begun = self.begun().clone();
        for Acknowledged { id, text, mode } in begun {
            let Some(client) = self.client(app, mode).await else {
                return;
            };
            match timeout(DONE, client.task(id.clone()).wait()).await {
                Ok(Ok(result)) if result.first_text() == Some(&text) => {}
                ended => self
                    .history
                    .broken(format!("the task {id} of {text}: {ended:?}")),
            }
        }
    }

    async fn client(&self, app: &Arc<pintle::server::App>, mode: EraMode) -> Option<Client> {
        let target = InProcess::new(Arc::clone(app));
        match Client::builder().mode(mode).connect(target).await {
            Ok(client) => Some(client),
            Err(error) => {
                self.history.broken(format!("no connection: {error:?}"));
                None
            }
        }
    }

    fn begun(&self) -> std::sync::MutexGuard<'_, Vec<Acknowledged>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A directory that goes with the game.
struct Folder(PathBuf);

impl Folder {
    fn new(seed: u64) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-lives-{}-{seed}-{count}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clear.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
