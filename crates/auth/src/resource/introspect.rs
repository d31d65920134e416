//! Introspection of opaque tokens at their issuer.
//!
//! Spec: RFC 7662.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pintle_runtime::FetchRequest;
use pintle_runtime::sync::Mutex;
use ring::digest::{SHA256, digest};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::claims::{Claims, Expiry};
use super::issuer::{Issuer, IssuerError};
use super::jwt::of_another;
use super::verified_token::{TokenError, TokenVerifier, VerifiedToken};
use crate::Secret;
use crate::form::encode;

/// Client credentials of this server at the introspection endpoint.
#[derive(Debug, Clone)]
pub struct IntrospectionClient {
    id: Box<str>,
    secret: Secret,
}

impl IntrospectionClient {
    /// A client that the issuer knows, by its id and its secret.
    pub fn new(id: &str, secret: impl Into<Secret>) -> Self {
        Self {
            id: id.into(),
            secret: secret.into(),
        }
    }

    /// RFC 6749, section 2.3.1: both are form-encoded before they are put together.
    fn header(&self) -> Secret {
        let both = format!("{}:{}", encode(&self.id), encode(self.secret.reveal()));
        Secret::new(format!("Basic {}", STANDARD.encode(both)))
    }
}

/// Introspects tokens at the issuer, and caches active ones for a short time.
pub(crate) struct Introspector {
    issuer: Arc<Issuer>,
    client: IntrospectionClient,
    /// Configured introspection endpoint.
    endpoint: Option<Box<str>>,
    /// Introspection endpoint of the issuer's metadata.
    found: Mutex<Option<IntrospectionEndpoint>>,
    places: Places,
    cache: Mutex<IntrospectionCache>,
}

/// How many questions may be open. Half of them are for tokens that were active before, because
/// any client can invent the others.
struct Places {
    all: Semaphore,
    active_before: Semaphore,
}

impl Places {
    fn new(max: usize) -> Self {
        let max = max.max(1);
        Self {
            all: Semaphore::new(max - max / 2),
            active_before: Semaphore::new(max / 2),
        }
    }

    /// Waits for a place; none once there are no more.
    async fn take(&self, was_active: bool) -> Option<SemaphorePermit<'_>> {
        if !was_active {
            return self.all.acquire().await.ok();
        }
        let place = tokio::select! {
            biased;
            place = self.active_before.acquire() => place,
            place = self.all.acquire() => place,
        };
        place.ok()
    }
}

/// An introspection endpoint from the metadata of the issuer.
struct IntrospectionEndpoint {
    endpoint: Box<str>,
    since: Instant,
    /// Whether the endpoint sent no valid response: the issuer may have moved it.
    is_doubted: bool,
}

impl Introspector {
    pub(crate) fn new(
        issuer: Arc<Issuer>,
        client: IntrospectionClient,
        endpoint: Option<Box<str>>,
    ) -> Self {
        let limits = issuer.limits();
        Self {
            places: Places::new(limits.max_running_introspections),
            cache: Mutex::new(IntrospectionCache::new(limits.max_cached_introspections)),
            endpoint,
            found: Mutex::default(),
            issuer,
            client,
        }
    }

    async fn ask(&self, token: &Secret, was_active: bool) -> Result<VerifiedToken, TokenError> {
        let Some(_place) = self.places.take(was_active).await else {
            return Err(TokenError::unavailable("the introspection has ended"));
        };
        let endpoint = self.endpoint().await.map_err(TokenError::unavailable)?;
        let token = encode(token.reveal());
        let body = format!("token={token}&token_type_hint=access_token");
        let request = FetchRequest::post(endpoint, "application/x-www-form-urlencoded", body)
            .header("authorization", self.client.header().reveal());
        let mut asking = Asking {
            introspector: self,
            is_answered: false,
        };
        let response = self.issuer.ask(request).await;
        let read = self.read(&response.map_err(TokenError::unavailable)?);
        asking.is_answered = !matches!(read, Err(TokenError::Unavailable(_)));
        read
    }

    async fn endpoint(&self) -> Result<String, IssuerError> {
        if let Some(endpoint) = self.endpoint.clone().or_else(|| self.known_endpoint()) {
            return Ok(endpoint.into());
        }
        let lacks = || IssuerError::Lacks(self.issuer.name().into(), "`introspection_endpoint`");
        let document = self.issuer.document().await?;
        let found = document.introspection_endpoint.ok_or_else(lacks)?;
        *self.found.lock() = Some(IntrospectionEndpoint {
            endpoint: found.as_str().into(),
            since: Instant::now(),
            is_doubted: false,
        });
        Ok(found)
    }

    /// Returns the cached endpoint, unless the metadata must be read again.
    fn known_endpoint(&self) -> Option<Box<str>> {
        let limits = self.issuer.limits();
        let found = self.found.lock();
        let found = found.as_ref()?;
        let life = match found.is_doubted {
            true => limits.keys_fetch_interval,
            false => limits.endpoint_ttl,
        };
        (found.since.elapsed() < life).then(|| found.endpoint.clone())
    }

    fn doubt(&self, is_doubted: bool) {
        if let Some(found) = &mut *self.found.lock() {
            found.is_doubted = is_doubted;
        }
    }

    fn read(&self, response: &[u8]) -> Result<VerifiedToken, TokenError> {
        let unreadable = |_| TokenError::unavailable("the issuer's answer cannot be read");
        let (claims, mut rest) = Claims::read(response).map_err(unreadable)?;
        if claims.active != Some(true) {
            return Err(TokenError::invalid(
                "the token is not active: it is expired or revoked",
            ));
        }
        if claims
            .iss
            .as_deref()
            .is_some_and(|issuer| issuer != self.issuer.name())
        {
            return Err(of_another(self.issuer.name()));
        }
        claims.check_time(
            SystemTime::now(),
            self.issuer.limits().max_clock_skew,
            Expiry::Optional,
        )?;
        rest.remove("active");
        claims.into_verified_token(self.issuer.name(), rest)
    }
}

/// A question under way. One that is dropped had no answer in time.
struct Asking<'i> {
    introspector: &'i Introspector,
    is_answered: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.introspector.doubt(!self.is_answered);
    }
}

impl TokenVerifier for Introspector {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        let name = name(token);
        if let Some(verified) = self.cache.lock().find(&name) {
            return Ok(verified);
        }
        let was_active = self.cache.lock().tokens.contains_key(&name);
        let verified = match self.ask(token, was_active).await {
            Err(TokenError::Invalid(reason)) => {
                self.cache.lock().remove(&name);
                return Err(TokenError::Invalid(reason));
            }
            asked => asked?,
        };
        let life = self.issuer.limits().introspection_ttl;
        self.cache
            .lock()
            .insert(name, verified.clone(), Instant::now() + life);
        Ok(verified)
    }
}

type Name = [u8; 32];

/// A token by its digest: the token itself is not kept.
fn name(token: &Secret) -> Name {
    let digest = digest(&SHA256, token.reveal().as_bytes());
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Cache of active tokens. Inactive tokens are not cached, because invented tokens must
/// not push out real ones.
struct IntrospectionCache {
    max: usize,
    tokens: HashMap<Name, (VerifiedToken, Instant)>,
    /// The names in the order in which they came.
    order: VecDeque<Name>,
}

impl IntrospectionCache {
    fn new(max: usize) -> Self {
        Self {
            max,
            tokens: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    fn find(&self, name: &Name) -> Option<VerifiedToken> {
        let (verified, until) = self.tokens.get(name)?;
        (Instant::now() < *until).then(|| verified.clone())
    }

    fn remove(&mut self, name: &Name) {
        if self.tokens.remove(name).is_some() {
            self.order.retain(|own| own != name);
        }
    }

    fn insert(&mut self, name: Name, verified: VerifiedToken, until: Instant) {
        if self.max == 0 {
            return;
        }
        if self.tokens.insert(name, (verified, until)).is_some() {
            self.order.retain(|own| *own != name);
        } else if self.tokens.len() > self.max
            && let Some(oldest) = self.order.pop_front()
        {
            self.tokens.remove(&oldest);
        }
        self.order.push_back(name);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pintle_runtime::{BoxFetch, Fetch, FetchError, FetchResponse};
    use tokio::time::timeout;

    use super::*;
    use crate::resource::ResourceLimits;

    /// An issuer that knows one token, and is slow with all others.
    struct Slow;

    impl Fetch for Slow {
        async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
            match request.body.starts_with(b"token=good&") {
                true => Ok(FetchResponse::new(200, r#"{"active":true,"sub":"ada"}"#)),
                false => std::future::pending().await,
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn made_up_tokens_leave_room_for_one_that_was_active_before() {
        let limits = ResourceLimits {
            max_running_introspections: 4,
            ..ResourceLimits::default()
        };
        let life = limits.introspection_ttl;
        let issuer = Issuer::new("https://i.example", BoxFetch::new(Slow), limits);
        let endpoint = Some("https://i.example/ask".into());
        let issuer = Arc::new(issuer.expect("an issuer"));
        let asked = Introspector::new(issuer, IntrospectionClient::new("us", "secret"), endpoint);
        let asked = Arc::new(asked);
        let good = Secret::from("good");
        asked.verify(&good).await.expect("active");
        for number in 0..10 {
            let asked = Arc::clone(&asked);
            let made_up = Secret::from(format!("made-up-{number}"));
            tokio::spawn(async move { asked.verify(&made_up).await.is_ok() });
        }
        tokio::time::sleep(life).await;
        let again = timeout(Duration::from_secs(1), asked.verify(&good)).await;
        assert!(again.expect("in time").is_ok());
    }

    #[test]
    fn a_single_place_is_for_every_token() {
        for (max, all, active_before) in [(0, 1, 0), (1, 1, 0), (2, 1, 1), (32, 16, 16)] {
            let places = Places::new(max);
            let left = (
                places.all.available_permits(),
                places.active_before.available_permits(),
            );
            assert_eq!(left, (all, active_before), "{max}");
        }
    }

    #[test]
    fn an_introspection_request_is_form_encoded() {
        let client = IntrospectionClient::new("my:app", "p@ss word");
        let header = client.header();
        let encoded = header.reveal().strip_prefix("Basic ").expect("basic");
        let both = STANDARD.decode(encoded).expect("base64");
        assert_eq!(both, b"my%3Aapp:p%40ss%20word");
        assert!(!format!("{client:?}").contains("p@ss"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_is_forgotten_at_the_limit() {
        let mut cache = IntrospectionCache::new(2);
        let until = Instant::now() + Duration::from_secs(30);
        let verified = VerifiedToken::new("https://i.example", "ada");
        for number in 1..=3 {
            cache.insert([number; 32], verified.clone(), until);
        }
        assert!(cache.find(&[1; 32]).is_none());
        assert!(cache.find(&[2; 32]).is_some() && cache.find(&[3; 32]).is_some());
        assert_eq!((cache.tokens.len(), cache.order.len()), (2, 2));
        cache.insert([2; 32], verified.clone(), until);
        cache.insert([4; 32], verified, until);
        assert!(cache.find(&[3; 32]).is_none() && cache.find(&[2; 32]).is_some());
        tokio::time::advance(Duration::from_secs(30)).await;
        assert!(cache.find(&[2; 32]).is_none());
    }
}
