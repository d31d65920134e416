//! Sign-out: deletes the stored tokens and revokes them at the issuer.

use std::sync::Arc;

use pintle_runtime::Fetch as _;

use crate::authorizer::{Inner, flow_context, kept};
use crate::error::AuthError;
use crate::flow::{IssuedTokens, Revoke};
use crate::metadata::{DiscoveryStep, MetadataDocument, ServerMetadata, ServerProbe, check};

/// Result of a sign-out.
#[derive(Debug)]
#[non_exhaustive]
pub enum SignedOut {
    /// The store had no tokens for the server.
    Nothing,
    /// The stored tokens are deleted; holds the result of the revocation.
    Forgotten(Revocation),
}

/// Result of the revocation of the deleted tokens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Revocation {
    /// The issuer revoked the tokens.
    Done,
    /// The issuer does not support revocation. The tokens stay valid until they expire.
    NotOffered,
    /// The revocation failed. The tokens stay valid until they expire.
    Failed(AuthError),
}

impl Inner {
    pub(super) async fn sign_out(self: &Arc<Self>) -> Result<SignedOut, AuthError> {
        let Some(issued) = self.forget().await? else {
            return Ok(SignedOut::Nothing);
        };
        let revoked = self.revoke(&issued).await;
        Ok(SignedOut::Forgotten(
            revoked.unwrap_or_else(Revocation::Failed),
        ))
    }

    /// Deletes the stored tokens and returns them.
    async fn forget(self: &Arc<Self>) -> Result<Option<IssuedTokens>, AuthError> {
        // A concurrent renewal would store new tokens.
        let alone = Arc::clone(&self.renewal).lock_owned().await;
        let among_processes = self.lock(&self.key()).await?;
        self.blocking(move |inner| {
            let _alone = (alone, among_processes);
            inner.forget_now()
        })
        .await
    }

    fn forget_now(&self) -> Result<Option<IssuedTokens>, AuthError> {
        let stored = self.store.load(&self.key()).map_err(kept)?;
        // The stored one is not the latest where a save has failed: the latest is revoked.
        let is_stored = !self.is_behind(stored.as_ref());
        let issued = self.read_tokens(stored.as_ref()).filter(|_| is_stored);
        self.store.save(&self.key(), None).map_err(kept)?;
        let mut held = self.held();
        let own = held.issued.take();
        held.unsaved = None;
        held.is_loaded = true;
        held.generation += 1;
        held.step_ups.clear();
        Ok(issued.or_else(|| own.map(|own| (*own).clone())))
    }

    /// Spec: RFC 7009.
    async fn revoke(&self, issued: &IssuedTokens) -> Result<Revocation, AuthError> {
        let Some(server) = self.issuer_of(issued).await? else {
            return Ok(Revocation::NotOffered);
        };
        let Some(endpoint) = &server.revocation_endpoint else {
            return Ok(Revocation::NotOffered);
        };
        let url = check("revocation_endpoint", endpoint, &self.fetch_policy);
        let url = url.map_err(|fault| AuthError::Document {
            document: MetadataDocument::Server,
            place: issued.issuer.as_str().into(),
            fault,
        })?;
        let Some(mut revoke) = Revoke::of(issued, &server, self.fetch_policy.network(&url)) else {
            return Ok(Revocation::NotOffered);
        };
        while let Some(request) = revoke.next(&flow_context()?)? {
            revoke.take(self.fetch.fetch(request).await)?;
        }
        Ok(Revocation::Done)
    }

    /// Returns the metadata of the issuer of tokens, or `None` if the issuer has no document.
    async fn issuer_of(&self, issued: &IssuedTokens) -> Result<Option<ServerMetadata>, AuthError> {
        let document = |place: String, fault| AuthError::Document {
            document: MetadataDocument::Server,
            place: place.into(),
            fault,
        };
        let probe = ServerProbe::of_server(&issued.issuer, &self.fetch_policy);
        let mut probe = probe.map_err(|fault| document(issued.issuer.clone(), fault))?;
        let mut step = probe.begin();
        loop {
            step = match step {
                DiscoveryStep::Fetch(request) => probe.take(self.fetch.fetch(request).await),
                DiscoveryStep::Found(found) => return Ok(Some(found.document)),
                DiscoveryStep::Nowhere {
                    is_certain: true, ..
                } => return Ok(None),
                DiscoveryStep::Nowhere { tried, .. } => {
                    return Err(AuthError::DocumentNotFound {
                        document: MetadataDocument::Server,
                        of: issued.issuer.as_str().into(),
                        tried,
                    });
                }
                DiscoveryStep::Refused(place, fault) => return Err(document(place, fault)),
                DiscoveryStep::Unavailable(place, reason) => {
                    return Err(AuthError::unavailable(
                        MetadataDocument::Server,
                        place,
                        reason,
                    ));
                }
            };
        }
    }
}
