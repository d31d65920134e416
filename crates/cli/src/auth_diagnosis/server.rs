//! What an authorization server says of itself.

use pintle::auth::WebUrl;
use pintle::auth::metadata::{
    DiscoveryError, DiscoveryStep, MetadataError, ServerMetadata, ServerProbe,
};
use pintle::runtime::Fetch;

use super::{Link, Walk, places, unusable};

const SERVERS: &str = "authorization servers";
const METADATA: &str = "authorization server metadata";
const ISSUER: &str = "issuer";
const PKCE: &str = "PKCE";
const REGISTRATION: &str = "registration";
const ENDPOINTS: &str = "endpoints";

impl<F: Fetch> Walk<'_, F> {
    /// The document of an issuer, and what it has to have.
    pub(super) async fn server(&mut self, issuer: &str) {
        let mut probe = match ServerProbe::of_server(issuer, &self.bounds) {
            Ok(probe) => probe,
            Err(fault) => {
                let next = "\"authorization_servers\" has to name issuers by https addresses that \
                            clients may reach";
                self.links
                    .push(Link::broken(SERVERS, fault.to_string(), next));
                return;
            }
        };
        let first = probe.begin();
        let (_, end) = self.search(first, |answer| probe.take(answer)).await;
        match end {
            DiscoveryStep::Found(found) => {
                self.links
                    .push(Link::whole(METADATA, format!("at {}", found.place)));
                self.links.push(Link::whole(ISSUER, issuer));
                self.judge(&found.document);
            }
            DiscoveryStep::Refused(document, fault) => self.unfit(issuer, &document, &fault),
            DiscoveryStep::Nowhere { tried, .. } => self.absent(issuer, &tried),
            DiscoveryStep::Unavailable(place, reason) => self.links.push(Link::broken(
                METADATA,
                format!("that of {issuer} is not available: {place} ({reason})"),
                "try again later: its server failed, or the network",
            )),
            DiscoveryStep::Fetch(_) => {}
        }
    }

    fn absent(&mut self, issuer: &str, tried: &[(String, DiscoveryError)]) {
        if let Some((document, fault)) = unusable(tried) {
            return self.unfit(issuer, document, fault);
        }
        self.links.push(Link::broken(
            METADATA,
            format!("that of {issuer} is nowhere: {}", places(tried)),
            format!(
                "{issuer} has to publish it (RFC 8414, or OpenID Connect Discovery), or \
                 \"authorization_servers\" has to name another issuer"
            ),
        ));
    }

    /// A document that is there, and must not be used.
    fn unfit(&mut self, issuer: &str, document: &str, fault: &MetadataError) {
        let said = format!("the document at {document} must not be used: {fault}");
        let (name, next) = match fault {
            MetadataError::Missing("issuer") | MetadataError::Mismatch { .. } => (
                ISSUER,
                format!(
                    "it has to say \"issuer\": \"{issuer}\", letter by letter, or \
                     \"authorization_servers\" has to name the issuer as it says it"
                ),
            ),
            MetadataError::Address { member, .. } => (
                ENDPOINTS,
                format!("{member:?} has to be an https address that clients may reach"),
            ),
            _ => (
                METADATA,
                "it has to be a JSON object as RFC 8414 describes".to_owned(),
            ),
        };
        if name != METADATA {
            self.links
                .push(Link::whole(METADATA, format!("at {document}")));
        }
        self.links.push(Link::broken(name, said, next));
    }

    /// What a document has to have so that somebody can sign in.
    fn judge(&mut self, server: &ServerMetadata) {
        let methods = server.code_challenge_methods_supported.as_deref();
        self.links.push(match methods {
            Some(all) if all.iter().any(|method| method == "S256") => Link::whole(PKCE, "S256"),
            _ => Link::broken(
                PKCE,
                format!(
                    "{} does not list \"S256\" in \"code_challenge_methods_supported\"",
                    server.issuer
                ),
                "its metadata has to list it: without it clients refuse to sign in",
            ),
        });
        let link = self.registration(server);
        self.links.push(link);
        let missing: Vec<&str> = [
            ("authorization_endpoint", &server.authorization_endpoint),
            ("token_endpoint", &server.token_endpoint),
        ]
        .into_iter()
        .filter_map(|(member, endpoint)| endpoint.is_none().then_some(member))
        .collect();
        self.links.push(match missing.is_empty() {
            true => Link::whole(ENDPOINTS, front(server)),
            false => Link::broken(
                ENDPOINTS,
                format!(
                    "the metadata of {} has no {}",
                    server.issuer,
                    missing.join(", no ")
                ),
                "its metadata has to name them",
            ),
        });
    }

    fn registration(&self, server: &ServerMetadata) -> Link {
        let takes_documents = server.client_id_metadata_document_supported == Some(true);
        match (&server.registration_endpoint, takes_documents) {
            _ if self.has_client => Link::whole(REGISTRATION, "the client that --client-id names"),
            (Some(_), true) => {
                Link::whole(REGISTRATION, "by itself, or by the address of a document")
            }
            (Some(_), false) => Link::whole(REGISTRATION, "by itself"),
            (None, true) => Link::weak(
                REGISTRATION,
                "by the address of a document only",
                "give --client-id the address of a document about the client",
            ),
            (None, false) => Link::broken(
                REGISTRATION,
                format!(
                    "{} registers no client: no \"registration_endpoint\", no \
                     \"client_id_metadata_document_supported\"",
                    server.issuer
                ),
                "have its operator register a client, and give it with --client-id",
            ),
        }
    }
}

/// Where somebody is sent to.
fn front(server: &ServerMetadata) -> String {
    let url = server.authorization_endpoint.as_deref().unwrap_or_default();
    WebUrl::parse(url).map_or_else(|_| String::new(), |url| url.front().to_owned())
}
