//! The revisions of the protocol, and the one table of their differences.
//!
//! Nothing outside this file compares revisions: code asks `revision.has(Feature::…)`.

use std::fmt;
use std::str::FromStr;

/// A dated version of the protocol. Closed: an unknown date is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(non_camel_case_types)]
pub enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
    /// 2026-07-28.
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        V2024_11_05,
        V2025_03_26,
        V2025_06_18,
        V2025_11_25,
        V2026_07_28,
    ];
    /// The newest revision.
    pub const LATEST: Self = V2026_07_28;
    /// The newest revision that opens with a handshake.
    pub const LATEST_LEGACY: Self = V2025_11_25;
    /// Revision of a legacy HTTP request without a version header.
    pub const UNNAMED: Self = V2025_03_26;

    /// The date on the wire.
    #[inline]
    pub const fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether this revision has `feature`.
    #[inline]
    pub const fn has(self, feature: Feature) -> bool {
        let (first, last) = feature.span();
        first as u8 <= self as u8 && self as u8 <= last as u8
    }

    /// The revisions without a handshake, oldest first.
    pub fn modern() -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(|revision| revision.has(Feature::Envelope))
    }

    /// The revisions that open with a handshake, oldest first.
    pub fn legacy() -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(|revision| revision.has(Feature::Handshake))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

errors! {
    /// A date that names no revision known here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ParseRevisionError => "unknown protocol revision";
}

impl FromStr for Revision {
    type Err = ParseRevisionError;

    fn from_str(date: &str) -> Result<Self, ParseRevisionError> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == date)
            .ok_or(ParseRevisionError)
    }
}

/// Returns the first and the last revision of a row; an open row ends with the latest revision.
macro_rules! span {
    ($first:ident ..) => {
        ($first, Revision::LATEST)
    };
    ($first:ident ..= $last:ident) => {
        ($first, $last)
    };
}

/// Declares the features and the table of which revisions have them.
///
/// `A ..= B` closes a row. `A ..` leaves it open, so that it also holds for later revisions.
macro_rules! features {
    ($( $(#[$meta:meta])* $name:ident: $first:ident $range:tt $($last:ident)? ),+ $(,)?) => {
        /// Something that some revisions have and others lack.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Feature { $( $(#[$meta])* $name, )+ }

        impl Feature {
            #[cfg(test)]
            const ALL: &'static [Self] = &[ $( Self::$name, )+ ];

            #[inline]
            const fn span(self) -> (Revision, Revision) {
                match self { $( Self::$name => span!($first $range $($last)?), )+ }
            }
        }
    };
}

features! {
    /// `initialize` opens the conversation.
    Handshake: V2024_11_05 ..= V2025_11_25,
    /// Every request states its terms in `_meta` (SEP-2575).
    Envelope: V2026_07_28 ..,
    /// Results state their kind in `resultType` (SEP-2322).
    ResultType: V2026_07_28 ..,
    /// A result may ask for input and be retried (SEP-2322).
    InputRequired: V2026_07_28 ..,
    /// Servers send requests to clients.
    ServerRequests: V2024_11_05 ..= V2025_11_25,
    /// `server/discover` (SEP-2575).
    Discover: V2026_07_28 ..,
    /// `ping`.
    Ping: V2024_11_05 ..= V2025_11_25,
    /// The server names itself in the `_meta` of results (SEP-2575).
    ServerInfoInMeta: V2026_07_28 ..,
    /// Lists and reads carry `ttlMs` and `cacheScope` (SEP-2549).
    Freshness: V2026_07_28 ..,
    /// `subscriptions/listen` (SEP-2575).
    Listen: V2026_07_28 ..,
    /// `resources/subscribe` and unsolicited list changes.
    SessionSubscriptions: V2024_11_05 ..= V2025_11_25,
    /// `logging/setLevel`.
    SetLevel: V2024_11_05 ..= V2025_11_25,
    /// The log level is named by each request (SEP-2575).
    RequestLogLevel: V2026_07_28 ..,
    /// A closed connection cancels its requests (SEP-2575).
    DisconnectCancels: V2026_07_28 ..,
    /// An unknown resource is -32602 (SEP-2164); -32002 before.
    ResourceNotFoundIsInvalidParams: V2026_07_28 ..,
    /// Arrays of messages. 2024-11-05 does not mention them; they are read there as well.
    Batches: V2024_11_05 ..= V2025_03_26,
    /// The HTTP transport with two endpoints.
    TwoEndpointHttp: V2024_11_05 ..= V2024_11_05,
    /// The HTTP transport with one endpoint.
    StreamableHttp: V2025_03_26 ..,
    /// `Mcp-Session-Id`.
    HttpSessions: V2025_03_26 ..= V2025_11_25,
    /// `MCP-Protocol-Version` on HTTP requests.
    RevisionHeader: V2025_06_18 ..,
    /// `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*` (SEP-2243).
    RoutingHeaders: V2026_07_28 ..,
    /// `Last-Event-ID`.
    Resumption: V2025_03_26 ..= V2025_11_25,
    /// An empty first event, and streams closed before the answer (SEP-1699).
    PrimingEvent: V2025_11_25 ..= V2025_11_25,
    /// Audio content.
    Audio: V2025_03_26 ..,
    /// Links to resources as content.
    ResourceLinks: V2025_06_18 ..,
    /// `structuredContent` and `outputSchema`.
    StructuredContent: V2025_06_18 ..,
    /// `structuredContent` and `outputSchema` of any JSON type (SEP-2106).
    AnyStructuredContent: V2026_07_28 ..,
    /// `annotations` of tools.
    ToolAnnotations: V2025_03_26 ..,
    /// `title` beside `name`.
    Titles: V2025_06_18 ..,
    /// `_meta` on objects inside parameters and results.
    ObjectMeta: V2025_06_18 ..,
    /// `lastModified` among annotations.
    LastModified: V2025_06_18 ..,
    /// `icons`, and the description and website of an implementation (SEP-973).
    Icons: V2025_11_25 ..,
    /// `message` of progress.
    ProgressMessage: V2025_03_26 ..,
    /// The `completions` capability.
    CompletionsCapability: V2025_03_26 ..,
    /// Other arguments as context of a completion.
    CompletionContext: V2025_06_18 ..,
    /// Asking the user with a form.
    Elicitation: V2025_06_18 ..,
    /// Asking the user to visit a URL (SEP-1036).
    UrlElicitation: V2025_11_25 ..,
    /// `elicitationId`, its completion notice, and -32042.
    ElicitationIds: V2025_11_25 ..= V2025_11_25,
    /// Defaults of strings, numbers and enumerations in forms (SEP-1034).
    ElicitationDefaults: V2025_11_25 ..,
    /// Titled and multiple choices in forms (SEP-1330).
    ElicitationChoices: V2025_11_25 ..,
    /// Tools, and more than one content block, in sampling (SEP-1577).
    SamplingTools: V2025_11_25 ..,
    /// Members inside `sampling` and `elicitation` capabilities.
    SubCapabilities: V2025_11_25 ..,
    /// `capabilities.extensions`; read and written from 2025-11-25 on by convention.
    Extensions: V2025_11_25 ..,
    /// Tasks in the core (SEP-1686).
    CoreTasks: V2025_11_25 ..= V2025_11_25,
    /// Tasks as an extension (SEP-2663).
    TasksExtension: V2026_07_28 ..,
    /// `notifications/roots/list_changed`.
    RootsListChanged: V2024_11_05 ..= V2025_11_25,
    /// `$schema` inside schemas of tools and forms (SEP-1613).
    SchemaDialect: V2025_11_25 ..,
    /// Progress sent by clients.
    ClientProgress: V2024_11_05 ..= V2025_11_25,
}

#[cfg(test)]
mod tests;
