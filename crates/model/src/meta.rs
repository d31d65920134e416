//! `_meta`: metadata beside the protocol's own members.
//!
//! [`Meta`] is the map that values own. [`RequestEnvelope`] is the same member of a request,
//! read in place before anything else about the request is known.
//!
//! Spec: [2026-07-28, Base protocol, `_meta`][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta

mod envelope;
mod keys;

pub use envelope::{EnvelopeError, RequestEnvelope};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::identity::of_server;
use crate::read::{as_inner, deserialize, from_text};
use crate::{
    ClientCapabilities, Extra, Implementation, JsonObject, LoggingLevel, ProgressToken, RequestId,
};

/// The members of a `_meta`, in their order; unknown ones included.
///
/// Getters of reserved keys return `None` if the member is absent *or* has another type.
/// [`RequestEnvelope`] distinguishes the two.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meta(Extra);

as_inner!(Meta(Extra));

impl Meta {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `value` at `key` and returns the old value.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(key.into(), value.into())
    }

    /// Removes the member at `key`; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key)
    }

    /// Returns the member at `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns the member at `key` as text; `None` if it is not text.
    pub fn get_str(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    /// Returns true if there are no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter()
    }

    /// Returns the map.
    pub fn as_object(&self) -> &JsonObject {
        &self.0
    }

    /// Returns the map by value.
    pub fn into_object(self) -> JsonObject {
        self.0.into_object()
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        T::deserialize(self.0.get(key)?).ok()
    }

    fn write<T: Serialize>(&mut self, key: &'static str, value: &T) {
        let value = serde_json::to_value(value).expect("reserved keys hold plain data");
        self.0.insert(key.to_owned(), value);
    }
}

impl From<JsonObject> for Meta {
    fn from(members: JsonObject) -> Self {
        Self(members.into())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Meta {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self(
            members
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}

impl<K: Into<String>, V: Into<Value>> Extend<(K, V)> for Meta {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, members: I) {
        self.0.extend(
            members
                .into_iter()
                .map(|(key, value)| (key.into(), value.into())),
        );
    }
}

/// Members in the metadata of a request.
impl Meta {
    /// Returns the token under which the sender requests progress notifications.
    pub fn progress_token(&self) -> Option<ProgressToken> {
        self.read(Self::PROGRESS_TOKEN)
    }

    /// Requests progress notifications with `token`.
    pub fn set_progress_token(&mut self, token: &ProgressToken) {
        self.write(Self::PROGRESS_TOKEN, token);
    }

    /// The revision the request is written for, since 2026-07-28.
    pub fn protocol_version(&self) -> Option<&str> {
        self.get_str(Self::PROTOCOL_VERSION)
    }

    /// Sets the revision of the request.
    pub fn set_protocol_version(&mut self, revision: &str) {
        self.insert(Self::PROTOCOL_VERSION, revision);
    }

    /// Returns the identity of the client that sends the request, since 2026-07-28.
    pub fn client_info(&self) -> Option<Implementation> {
        self.read(Self::CLIENT_INFO)
    }

    /// Sets the identity of the client that sends the request.
    pub fn set_client_info(&mut self, client: &Implementation) {
        self.write(Self::CLIENT_INFO, client);
    }

    /// Returns the capabilities of the client that sends the request, since 2026-07-28.
    pub fn client_capabilities(&self) -> Option<ClientCapabilities> {
        // From a text, as in a request: each further decoder of this large type takes 24 KB in a program.
        let text = self.0.get(Self::CLIENT_CAPABILITIES)?.to_string();
        from_text(&text).ok()
    }

    /// Sets the capabilities of the client that sends the request.
    pub fn set_client_capabilities(&mut self, capabilities: &ClientCapabilities) {
        self.write(Self::CLIENT_CAPABILITIES, capabilities);
    }

    /// Returns the minimum level of log messages for the request, since 2026-07-28.
    pub fn log_level(&self) -> Option<LoggingLevel> {
        self.read(Self::LOG_LEVEL)
    }

    /// Requests log messages of `level` and above.
    pub fn set_log_level(&mut self, level: &LoggingLevel) {
        self.write(Self::LOG_LEVEL, level);
    }
}

/// Members in the metadata of a result or a notification.
impl Meta {
    /// Returns the identity of the server that sends the result, since 2026-07-28.
    pub fn server_info(&self) -> Option<Implementation> {
        deserialize(self.get(Self::SERVER_INFO)?, of_server).ok()
    }

    /// Sets the identity of the server that sends the result.
    pub fn set_server_info(&mut self, server: &Implementation) {
        self.write(Self::SERVER_INFO, server);
    }

    /// The listen request this notification or result belongs to, since 2026-07-28.
    pub fn subscription_id(&self) -> Option<RequestId> {
        self.read(Self::SUBSCRIPTION_ID)
    }

    /// Sets the listen request that this belongs to.
    pub fn set_subscription_id(&mut self, listen: &RequestId) {
        self.write(Self::SUBSCRIPTION_ID, listen);
    }

    /// The id of the task this belongs to, in 2025-11-25.
    pub fn related_task(&self) -> Option<&str> {
        self.get(Self::RELATED_TASK)?.get("taskId")?.as_str()
    }

    /// Sets the task that this belongs to.
    pub fn set_related_task(&mut self, task_id: &str) {
        self.insert(Self::RELATED_TASK, serde_json::json!({ "taskId": task_id }));
    }

    /// Returns the text that the model may receive while a task runs, in 2025-11-25.
    pub fn model_immediate_response(&self) -> Option<&str> {
        self.get_str(Self::MODEL_IMMEDIATE_RESPONSE)
    }
}

/// Trace context, as in the W3C recommendations of the same names.
impl Meta {
    /// The caller's span.
    pub fn trace_parent(&self) -> Option<&str> {
        self.get_str(Self::TRACE_PARENT)
    }

    /// Returns the vendor-specific trace data (`tracestate`).
    pub fn trace_state(&self) -> Option<&str> {
        self.get_str(Self::TRACE_STATE)
    }

    /// The caller's baggage.
    pub fn baggage(&self) -> Option<&str> {
        self.get_str(Self::BAGGAGE)
    }
}

#[cfg(test)]
mod tests;
