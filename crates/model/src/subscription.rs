//! Subscriptions to changes: the listen stream of 2026-07-28, and the older pair of subscribe and
//! unsubscribe.
//!
//! Spec: [2026-07-28, Subscriptions][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

use crate::fit::{always_fits, drop_without};
use crate::object::object;
use crate::{Extra, Feature, Fit, FitError, Meta, RequestId, Revision};

/// Changes that a client subscribes to, or that a server agrees to send.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    pub tools_list_changed: Option<bool>,
    /// Changes of the list of prompts.
    pub prompts_list_changed: Option<bool>,
    /// Changes of the list of resources.
    pub resources_list_changed: Option<bool>,
    /// Changes of these resources, by URI.
    pub resource_subscriptions: Option<Vec<String>>,
    /// Changes of these tasks, by id; part of the tasks extension.
    pub task_ids: Option<Vec<String>>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(SubscriptionFilter {
    "toolsListChanged" => optional tools_list_changed,
    "promptsListChanged" => optional prompts_list_changed,
    "resourcesListChanged" => optional resources_list_changed,
    "resourceSubscriptions" => optional resource_subscriptions,
    "taskIds" => optional task_ids,
});

impl SubscriptionFilter {
    /// Creates a filter that passes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if nothing passes.
    pub fn is_empty(&self) -> bool {
        !self.wants_tools()
            && !self.wants_prompts()
            && !self.wants_resources()
            && self
                .resource_subscriptions
                .iter()
                .flatten()
                .next()
                .is_none()
            && self.task_ids.iter().flatten().next().is_none()
    }

    /// Returns true if changes of the list of tools pass.
    #[inline]
    pub fn wants_tools(&self) -> bool {
        self.tools_list_changed == Some(true)
    }

    /// Returns true if changes of the list of prompts pass.
    #[inline]
    pub fn wants_prompts(&self) -> bool {
        self.prompts_list_changed == Some(true)
    }

    /// Returns true if changes of the list of resources pass.
    #[inline]
    pub fn wants_resources(&self) -> bool {
        self.resources_list_changed == Some(true)
    }

    /// Returns true if changes of exactly this URI pass.
    pub fn wants_resource(&self, uri: &str) -> bool {
        self.resource_subscriptions
            .iter()
            .flatten()
            .any(|requested| requested == uri)
    }

    /// Returns true if changes of this task pass.
    pub fn wants_task(&self, task_id: &str) -> bool {
        self.task_ids
            .iter()
            .flatten()
            .any(|requested| requested == task_id)
    }
}

/// Parameters of `subscriptions/listen`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListenParams {
    /// Notifications that the client requests.
    pub notifications: SubscriptionFilter,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ListenParams {
    "notifications" => required notifications,
    "_meta" => optional meta,
});

impl ListenParams {
    /// Requests `notifications`.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            ..Self::default()
        }
    }
}

/// The end of a listen stream that the server closes; its `_meta` names the listen request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ListenResult {
    /// Result metadata, with the subscription id.
    pub meta: Meta,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ListenResult {
    "_meta" => required meta,
});

impl ListenResult {
    /// Creates the result that ends the stream of `listen`.
    pub fn new(listen: &RequestId) -> Self {
        let mut meta = Meta::new();
        meta.set_subscription_id(listen);
        Self {
            meta,
            extra: Extra::new(),
        }
    }
}

/// First message of a listen stream: the notifications that the server agrees to send.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct AcknowledgedParams {
    /// Notifications that the server agrees to send: the requested ones or fewer.
    pub notifications: SubscriptionFilter,
    /// Notification metadata, with the subscription id.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(AcknowledgedParams {
    "notifications" => required notifications,
    "_meta" => optional meta,
});

impl AcknowledgedParams {
    /// Agrees to send `notifications`.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            ..Self::default()
        }
    }
}

/// Resource of a subscription that begins or ends (`resources/subscribe`, `resources/unsubscribe`,
/// up to 2025-11-25).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SubscribeParams {
    /// URI of the resource.
    pub uri: String,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(SubscribeParams {
    "uri" => required uri,
    "_meta" => optional meta,
});

impl SubscribeParams {
    /// Creates the parameters for a resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// A resource changed, or one below the one that was subscribed to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceUpdatedParams {
    /// URI of the resource.
    pub uri: String,
    /// Notification metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ResourceUpdatedParams {
    "uri" => required uri,
    "_meta" => optional meta,
});

impl ResourceUpdatedParams {
    /// Creates the parameters for a resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
            extra: Extra::new(),
        }
    }
}

impl Fit for SubscriptionFilter {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::Listen)?;
        drop_without(Feature::TasksExtension, revision, &mut self.task_ids);
        Ok(())
    }
}

impl Fit for ListenParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.notifications.fit(revision)
    }
}

impl Fit for ListenResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::Listen)
    }
}

impl Fit for AcknowledgedParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.notifications.fit(revision)
    }
}

impl Fit for SubscribeParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::SessionSubscriptions)
    }
}

always_fits!(ResourceUpdatedParams);
