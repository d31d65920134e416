//! The metadata of a protected resource (RFC 9728), which names its authorization servers.

use pintle::auth::WebUrl;
use pintle::auth::metadata::{DiscoveryError, DiscoveryStep, MetadataError, ResourceProbe};
use pintle::runtime::Fetch;

use super::{AuthDiagnosis, Link, places, unusable};
use pintle_hosts::without_query;

const METADATA: &str = "protected resource metadata";
const RESOURCE: &str = "resource";
const SERVERS: &str = "authorization servers";

impl<F: Fetch> AuthDiagnosis<'_, F> {
    /// Checks the metadata of the server, and returns the issuers that it names.
    pub(super) async fn check_resource(&mut self, named: Option<&str>) -> Vec<String> {
        let mut probe = ResourceProbe::of_resource(&self.server, named, &self.fetch_policy);
        let first = probe.begin();
        let (attempts, end) = self.search(first, |answer| probe.take(answer)).await;
        match end {
            DiscoveryStep::Found(found) => {
                let place = found.place.as_str();
                self.links.push(match named.map(without_query) {
                    Some(named) if named != without_query(place) => Link::broken(
                        METADATA,
                        format!(
                            "the challenge names {}, and it is at {place}",
                            attempts.first().map_or(named, String::as_str)
                        ),
                        format!("the challenge must name {place} in \"resource_metadata\""),
                    ),
                    _ => Link::whole(METADATA, format!("at {place}")),
                });
                let document = found.document;
                self.links.push(Link::whole(RESOURCE, document.resource));
                let issuers = document.authorization_servers;
                self.links.push(Link::whole(SERVERS, issuers.join(", ")));
                issuers
            }
            DiscoveryStep::Refused(document, fault) => {
                self.invalid_resource(&document, &fault);
                Vec::new()
            }
            DiscoveryStep::Nowhere { tried, .. } => {
                self.nowhere(&tried);
                Vec::new()
            }
            DiscoveryStep::Unavailable(place, reason) => {
                self.links.push(Link::broken(
                    METADATA,
                    format!("not available: {place} ({reason})"),
                    "try again later: the server or the network has failed",
                ));
                Vec::new()
            }
            DiscoveryStep::Fetch(_) => Vec::new(),
        }
    }

    fn nowhere(&mut self, tried: &[(String, DiscoveryError)]) {
        if let Some((document, fault)) = unusable(tried) {
            return self.invalid_resource(document, fault);
        }
        let place = place(&self.server);
        self.links.push(Link::broken(
            METADATA,
            format!("not published: {}", places(tried)),
            format!("the server must publish it at {place} (RFC 9728)"),
        ));
    }

    /// Reports a document that exists but is not valid.
    fn invalid_resource(&mut self, document: &str, fault: &MetadataError) {
        let finding = format!("the document at {document} must not be used: {fault}");
        let link = match fault {
            MetadataError::Missing("authorization_servers") => Link::broken(
                SERVERS,
                finding,
                "it must name the issuers of its tokens in \"authorization_servers\"",
            ),
            MetadataError::Missing(_) | MetadataError::Mismatch { .. } => Link::broken(
                RESOURCE,
                finding,
                format!(
                    "it must contain \"resource\": \"{}\", the URL that clients connect to",
                    self.server.canonical()
                ),
            ),
            _ => Link::broken(
                METADATA,
                finding,
                "it must be a JSON object as RFC 9728 describes",
            ),
        };
        if link.name != METADATA {
            self.links
                .push(Link::whole(METADATA, format!("at {document}")));
        }
        self.links.push(link);
    }
}

/// Returns the first URL at which clients request the metadata of a server.
pub(super) fn place(server: &WebUrl) -> String {
    let path = match server.path() {
        "/" => "",
        path => path,
    };
    format!(
        "{}/.well-known/oauth-protected-resource{path}",
        server.front()
    )
}
