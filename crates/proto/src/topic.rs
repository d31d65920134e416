//! The subjects of notices to listeners, and the capabilities that offer them.

use serde_json::Value;

use pintle_model::{ServerCapabilities, SubscriptionFilter};

/// Something that changed. Closed: the protocol has these.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// The set of tools.
    Tools,
    /// The set of prompts.
    Prompts,
    /// The set of resources or of templates.
    Resources,
    /// The content of one resource.
    Resource(String),
}

/// Member that an extension adds to the filter of listeners, to subscribe to a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    member: Box<str>,
    notice: Box<str>,
    extension: Box<str>,
}

impl Topic {
    /// Lets listeners subscribe to `notice` by `member` of their filter: `true` for all, or a list
    /// of keys.
    pub fn new(
        member: impl Into<Box<str>>,
        notice: impl Into<Box<str>>,
        extension: impl Into<Box<str>>,
    ) -> Self {
        Self {
            member: member.into(),
            notice: notice.into(),
            extension: extension.into(),
        }
    }

    /// The member of the filter.
    pub fn member(&self) -> &str {
        &self.member
    }

    /// The notice's method.
    pub fn notice(&self) -> &str {
        &self.notice
    }

    /// The id of the extension.
    pub fn extension(&self) -> &str {
        &self.extension
    }

    pub(crate) fn is_wanted(&self, filter: &SubscriptionFilter, key: Option<&str>) -> bool {
        match (filter.extra.get(&*self.member), key) {
            (Some(Value::Bool(all)), _) => *all,
            (Some(Value::Array(keys)), Some(key)) => keys.iter().any(|requested| requested == key),
            _ => false,
        }
    }
}

/// Subject of a notice, which decides its recipients. Closed: a listener asks for one of these.
#[derive(Debug, Clone)]
pub(crate) enum NoticeSubject {
    /// A change of the core protocol.
    Change(Change),
    /// A notice of an extension.
    Topic {
        notice: Box<str>,
        key: Option<Box<str>>,
    },
}

/// Whether a server with these capabilities can send `change`.
pub(crate) fn is_offered(change: &Change, capabilities: &ServerCapabilities) -> bool {
    let listed = |flag: Option<bool>| flag == Some(true);
    match change {
        Change::Tools => capabilities
            .tools
            .as_ref()
            .is_some_and(|tools| listed(tools.list_changed)),
        Change::Prompts => capabilities
            .prompts
            .as_ref()
            .is_some_and(|prompts| listed(prompts.list_changed)),
        Change::Resources => capabilities
            .resources
            .as_ref()
            .is_some_and(|resources| listed(resources.list_changed)),
        Change::Resource(_) => capabilities
            .resources
            .as_ref()
            .is_some_and(|resources| listed(resources.subscribe)),
    }
}

/// Whether there is anything to listen to at all; extensions may have something.
pub(crate) fn is_any_offered(capabilities: &ServerCapabilities) -> bool {
    let core = [
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Resource(String::new()),
    ]
    .iter()
    .any(|change| is_offered(change, capabilities));
    let extensions = capabilities.extensions.as_ref();
    core || extensions.is_some_and(|extensions| !extensions.is_empty())
}
