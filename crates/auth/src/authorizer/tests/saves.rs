//! Tokens that cannot be saved: they are used all the same, and their predecessors are not.

use std::io;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::credentials::KeyGuard;

/// A store on a disk that is full for a while, or cannot be written at all.
#[derive(Clone, Default)]
struct Disk(Arc<State>);

#[derive(Default)]
struct State {
    files: MemoryCredentialStore,
    is_full: AtomicBool,
    is_read_only: AtomicBool,
}

impl CredentialStore for Disk {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        self.0.files.load(key)
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        let is_full = text.is_some() && self.0.is_full.load(Ordering::SeqCst);
        if is_full || self.0.is_read_only.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.files.save(key, text)
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        self.0.files.try_lock(key)
    }
}

impl Disk {
    fn fill(&self, is_full: bool) {
        self.0.is_full.store(is_full, Ordering::SeqCst);
    }

    /// The tokens that the next process finds.
    fn stored(&self) -> String {
        let text = self.load(&format!("grant {SERVER}")).expect("read");
        text.map_or_else(String::new, |text| text.reveal().clone())
    }
}

async fn renew(oauth: &OAuth, generation: u64) {
    let after = oauth
        .handle_challenge(summary(), unauthorized(generation))
        .await;
    assert_eq!(after.expect("a way on"), RetryDecision::Retry);
}

/// The refresh tokens that the issuer was sent.
fn sent(site: &Site) -> Vec<String> {
    let forms = site.sent("/token").into_iter().flatten();
    let tokens = forms.filter(|(name, _)| name == "refresh_token");
    tokens.map(|(_, token)| token).collect()
}

// hardening: H-42
#[tokio::test]
async fn a_rotated_token_is_used_although_the_disk_is_full() {
    let (site, disk) = (Site::default(), Disk::default());
    let oauth = oauth_with(&site, disk.clone());
    oauth.sign_in().await.expect("a token");
    disk.fill(true);
    renew(&oauth, 1).await;
    assert_eq!(bearer(&oauth).await.0, "Bearer access-secret-2");
    assert_eq!(disk.stored(), "", "no process finds the used-up token");
    renew(&oauth, 2).await;
    assert_eq!(sent(&site), ["refresh-secret-1", "refresh-secret-2"]);
    assert_eq!(bearer(&oauth).await.0, "Bearer access-secret-3");
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
}

// hardening: H-42
#[tokio::test]
async fn a_used_up_token_that_cannot_be_removed_is_not_sent_again() {
    let (site, disk) = (Site::default(), Disk::default());
    let oauth = oauth_with(&site, disk.clone());
    oauth.sign_in().await.expect("a token");
    disk.0.is_read_only.store(true, Ordering::SeqCst);
    renew(&oauth, 1).await;
    assert!(disk.stored().contains("refresh-secret-1"));
    renew(&oauth, 2).await;
    assert_eq!(sent(&site), ["refresh-secret-1", "refresh-secret-2"]);
}

// hardening: H-42
#[tokio::test(start_paused = true)]
async fn a_disk_with_room_again_gets_the_token_that_it_lacks() {
    let (site, disk) = (Site::default(), Disk::default());
    let oauth = oauth_with(&site, disk.clone());
    oauth.sign_in().await.expect("a token");
    disk.fill(true);
    renew(&oauth, 1).await;
    disk.fill(false);
    bearer(&oauth).await;
    assert_eq!(disk.stored(), "", "it was tried a moment ago");
    tokio::time::advance(Duration::from_secs(30)).await;
    bearer(&oauth).await;
    assert!(disk.stored().contains("refresh-secret-2"));
}

#[tokio::test(start_paused = true)]
async fn a_token_of_another_process_is_not_written_over() {
    let (site, disk) = (Site::default(), Disk::default());
    let [one, other] = [(); 2].map(|()| oauth_with(&site, disk.clone()));
    one.sign_in().await.expect("a token");
    disk.fill(true);
    renew(&one, 1).await;
    disk.fill(false);
    other.sign_in().await.expect("a token");
    tokio::time::advance(Duration::from_secs(30)).await;
    bearer(&one).await;
    assert!(disk.stored().contains("refresh-secret-3"));
    renew(&one, 2).await;
    assert_eq!(bearer(&one).await.0, "Bearer access-secret-3");
}

#[tokio::test]
async fn a_sign_in_reports_that_its_token_is_not_saved() {
    let (site, disk) = (Site::default(), Disk::default());
    let oauth = oauth_with(&site, disk.clone());
    disk.fill(true);
    let error = oauth.sign_in().await.expect_err("it is not saved");
    assert!(matches!(error, AuthError::NotSaved(_)), "{error}");
    assert_eq!(bearer(&oauth).await.0, "Bearer access-secret-1");
    renew(&oauth, 1).await;
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1, "it is refreshed");
}

#[tokio::test]
async fn a_sign_out_revokes_the_token_that_was_not_saved() {
    let (site, disk) = (Site::default(), Disk::default());
    let oauth = oauth_with(&site, disk.clone());
    oauth.sign_in().await.expect("a token");
    disk.0.is_read_only.store(true, Ordering::SeqCst);
    renew(&oauth, 1).await;
    disk.0.is_read_only.store(false, Ordering::SeqCst);
    oauth.sign_out().await.expect("forgotten");
    let revoked = site.sent("/revoke").into_iter().flatten();
    let tokens = revoked.filter(|(name, _)| name == "token");
    let tokens: Vec<_> = tokens.map(|(_, token)| token).collect();
    assert_eq!(tokens, ["refresh-secret-2", "access-secret-2"]);
    assert_eq!(disk.stored(), "");
}

/// Renews one refused token by three authorizers at once, each over the shared store.
async fn refresh_together(stores: [impl CredentialStore; 4]) {
    let site = Site::default();
    let [first, others @ ..] = stores.map(|store| oauth_with(&site, store));
    first.sign_in().await.expect("a token");
    let mut all = Vec::new();
    for one in others {
        assert_eq!(bearer(&one).await, ("Bearer access-secret-1".to_owned(), 1));
        all.push(tokio::spawn(async move {
            renew(&one, 1).await;
            bearer(&one).await.0
        }));
    }
    for one in all {
        assert_eq!(one.await.expect("it ran"), "Bearer access-secret-2");
    }
    assert_eq!(site.0.refreshes.load(Ordering::SeqCst), 1);
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
}

// hardening: H-42, H-45
#[cfg(unix)]
#[tokio::test]
async fn processes_with_a_shared_directory_refresh_once() {
    let name = format!("pintle-auth-shared-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&path);
    refresh_together([(); 4].map(|()| FileCredentialStore::at(&path).expect("a directory"))).await;
    std::fs::remove_dir_all(&path).expect("removed");
}

// hardening: H-42
#[tokio::test]
async fn authorizers_with_a_shared_memory_refresh_once() {
    let store = MemoryCredentialStore::default();
    refresh_together([(); 4].map(|()| store.clone())).await;
}
