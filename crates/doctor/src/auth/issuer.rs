//! The metadata of an authorization server (RFC 8414).

use pintle::auth::WebUrl;
use pintle::auth::metadata::{
    DiscoveryError, DiscoveryStep, MetadataError, ServerMetadata, ServerProbe,
};
use pintle::runtime::Fetch;

use super::{AuthDiagnosis, Link, places, unusable};

const SERVERS: &str = "authorization servers";
const METADATA: &str = "authorization server metadata";
const ISSUER: &str = "issuer";
const PKCE: &str = "PKCE";
const REGISTRATION: &str = "registration";
const ENDPOINTS: &str = "endpoints";

impl<F: Fetch> AuthDiagnosis<'_, F> {
    /// Checks the metadata of an issuer.
    pub(super) async fn check_issuer(&mut self, issuer: &str) {
        let mut probe = match ServerProbe::of_server(issuer, &self.fetch_policy) {
            Ok(probe) => probe,
            Err(fault) => {
                let next = "\"authorization_servers\" must name issuers by https URLs that \
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
                self.check_members(&found.document);
            }
            DiscoveryStep::Refused(document, fault) => {
                self.invalid_server(issuer, &document, &fault)
            }
            DiscoveryStep::Nowhere { tried, .. } => self.absent(issuer, &tried),
            DiscoveryStep::Unavailable(place, reason) => self.links.push(Link::broken(
                METADATA,
                format!("that of {issuer} is not available: {place} ({reason})"),
                "try again later: the server or the network has failed",
            )),
            DiscoveryStep::Fetch(_) => {}
        }
    }

    fn absent(&mut self, issuer: &str, tried: &[(String, DiscoveryError)]) {
        if let Some((document, fault)) = unusable(tried) {
            return self.invalid_server(issuer, document, fault);
        }
        self.links.push(Link::broken(
            METADATA,
            format!("that of {issuer} is not published: {}", places(tried)),
            format!(
                "{issuer} must publish it (RFC 8414, or OpenID Connect Discovery), or \
                 \"authorization_servers\" must name another issuer"
            ),
        ));
    }

    /// Reports a document that exists but is not valid.
    fn invalid_server(&mut self, issuer: &str, document: &str, fault: &MetadataError) {
        let finding = format!("the document at {document} must not be used: {fault}");
        let (name, next) = match fault {
            MetadataError::Missing("issuer") | MetadataError::Mismatch { .. } => (
                ISSUER,
                format!(
                    "it must contain \"issuer\": \"{issuer}\", letter by letter, or \
                     \"authorization_servers\" must name the issuer of this document"
                ),
            ),
            MetadataError::Address { member, .. } => (
                ENDPOINTS,
                format!("{member:?} must be an https URL that clients may reach"),
            ),
            _ => (
                METADATA,
                "it must be a JSON object as RFC 8414 describes".to_owned(),
            ),
        };
        if name != METADATA {
            self.links
                .push(Link::whole(METADATA, format!("at {document}")));
        }
        self.links.push(Link::broken(name, finding, next));
    }

    /// Checks the members that a sign-in needs.
    fn check_members(&mut self, server: &ServerMetadata) {
        let methods = server.code_challenge_methods_supported.as_deref();
        self.links.push(match methods {
            Some(all) if all.iter().any(|method| method == "S256") => Link::whole(PKCE, "S256"),
            _ => Link::broken(
                PKCE,
                format!(
                    "{} does not list \"S256\" in \"code_challenge_methods_supported\"",
                    server.issuer
                ),
                "its metadata must list it: without it clients refuse to sign in",
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
                "its metadata must name them",
            ),
        });
    }

    fn registration(&self, server: &ServerMetadata) -> Link {
        let accepts_documents = server.client_id_metadata_document_supported == Some(true);
        match (&server.registration_endpoint, accepts_documents) {
            _ if self.has_client => Link::whole(REGISTRATION, "the client that --client-id names"),
            (Some(_), true) => Link::whole(
                REGISTRATION,
                "automatic, or with the URL of a client metadata document",
            ),
            (Some(_), false) => Link::whole(REGISTRATION, "automatic"),
            (None, true) => Link::weak(
                REGISTRATION,
                "only with the URL of a client metadata document",
                "give --client-id the URL of a client metadata document",
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

/// Returns the origin of the authorization endpoint, which serves the sign-in page.
fn front(server: &ServerMetadata) -> String {
    let url = server.authorization_endpoint.as_deref().unwrap_or_default();
    WebUrl::parse(url).map_or_else(|_| String::new(), |url| url.front().to_owned())
}
