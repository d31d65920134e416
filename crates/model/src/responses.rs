//! Responses with a result as whole values, under the names of the published schemas.
//!
//! An engine reads an envelope first. Then it reads the result by the method of the request: see
//! [`Message`](crate::jsonrpc::Message). These types serve fixtures, recordings and tools, which
//! know the type in advance. In 2026-07-28 a call may have another outcome than its result: see
//! [`Outcome`](crate::Outcome).

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::read::Name;
use crate::tagged::tag;
use crate::{
    CallToolResult, CompleteResult, CreateMessageResult, CreateTaskResult, DiscoverResult,
    ElicitResult, EmptyResult, GetPromptResult, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListTasksResult,
    ListToolsResult, ListenResult, ReadResourceResult, RequestId, Task,
};

tag!(JsonRpc = "2.0");

/// A response with a result, its envelope included.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResultResponse<R> {
    jsonrpc: JsonRpc,
    /// The id of the request.
    pub id: RequestId,
    /// The result.
    pub result: R,
}

impl<R> ResultResponse<R> {
    /// The response to the request `id`.
    pub fn new(id: impl Into<RequestId>, result: R) -> Self {
        Self {
            jsonrpc: JsonRpc,
            id: id.into(),
            result,
        }
    }
}

impl<R: Serialize> Serialize for ResultResponse<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("ResultResponse", 3)?;
        members.serialize_field("jsonrpc", &self.jsonrpc)?;
        members.serialize_field("id", &self.id)?;
        members.serialize_field("result", &self.result)?;
        members.end()
    }
}

impl<'de, R: Deserialize<'de>> Deserialize<'de> for ResultResponse<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const NAMES: &[&str] = &["jsonrpc", "id", "result"];
        deserializer.deserialize_struct("ResultResponse", NAMES, ResponseVisitor(PhantomData))
    }
}

struct ResponseVisitor<R>(PhantomData<R>);

impl<'de, R: Deserialize<'de>> Visitor<'de> for ResponseVisitor<R> {
    type Value = ResultResponse<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct ResultResponse")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut jsonrpc, mut id, mut result) = (None, None, None);
        while let Some(name) = members.next_key_seed(Name)? {
            match &*name {
                "jsonrpc" => once(&mut jsonrpc, "jsonrpc", &mut members)?,
                "id" => once(&mut id, "id", &mut members)?,
                "result" => once(&mut result, "result", &mut members)?,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        Ok(ResultResponse {
            jsonrpc: jsonrpc.ok_or_else(|| missing("jsonrpc"))?,
            id: id.ok_or_else(|| missing("id"))?,
            result: result.ok_or_else(|| missing("result"))?,
        })
    }
}

/// Reads a member that can occur once.
fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    place: &mut Option<T>,
    name: &'static str,
    members: &mut A,
) -> Result<(), A::Error> {
    if place.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *place = Some(members.next_value()?);
    Ok(())
}

/// Declares the response to each method.
macro_rules! responses {
    ($( $name:ident: $result:ty = $method:literal ),+ $(,)?) => {
        $(
            #[doc = concat!("The response to `", $method, "`.")]
            pub type $name = ResultResponse<$result>;
        )+
    };
}

responses! {
    InitializeResultResponse: InitializeResult = "initialize",
    PingResultResponse: EmptyResult = "ping",
    DiscoverResultResponse: DiscoverResult = "server/discover",
    SetLevelResultResponse: EmptyResult = "logging/setLevel",
    CompleteResultResponse: CompleteResult = "completion/complete",
    ListPromptsResultResponse: ListPromptsResult = "prompts/list",
    GetPromptResultResponse: GetPromptResult = "prompts/get",
    ListResourcesResultResponse: ListResourcesResult = "resources/list",
    ListResourceTemplatesResultResponse: ListResourceTemplatesResult = "resources/templates/list",
    ReadResourceResultResponse: ReadResourceResult = "resources/read",
    SubscribeResultResponse: EmptyResult = "resources/subscribe",
    UnsubscribeResultResponse: EmptyResult = "resources/unsubscribe",
    SubscriptionsListenResultResponse: ListenResult = "subscriptions/listen",
    ListToolsResultResponse: ListToolsResult = "tools/list",
    CallToolResultResponse: CallToolResult = "tools/call",
    CreateTaskResultResponse: CreateTaskResult = "tools/call",
    GetTaskResultResponse: Task = "tasks/get",
    GetTaskPayloadResultResponse: JsonObject = "tasks/result",
    ListTasksResultResponse: ListTasksResult = "tasks/list",
    CancelTaskResultResponse: Task = "tasks/cancel",
    CreateMessageResultResponse: CreateMessageResult = "sampling/createMessage",
    ListRootsResultResponse: ListRootsResult = "roots/list",
    ElicitResultResponse: ElicitResult = "elicitation/create",
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2025-11-25 SEED-05, SEED-09
    #[test]
    fn a_response_is_read_and_written_with_its_envelope() {
        let wire = json!({"jsonrpc": "2.0", "id": "a", "result": {"content": [], "isError": true}});
        let read: CallToolResultResponse = serde_json::from_value(wire.clone()).unwrap();

        assert!(read.result.has_failed());
        assert_eq!(serde_json::to_value(&read).unwrap(), wire);
        assert_eq!(ResultResponse::new("a", read.result.clone()), read);
    }

    // spec: 2025-11-25 SEED-05
    #[test]
    fn a_response_needs_version_id_and_result() {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        assert!(serde_json::from_value::<PingResultResponse>(ping.clone()).is_ok());
        for (member, other) in [
            ("jsonrpc", json!("1.0")),
            ("id", json!(null)),
            ("result", json!(1)),
        ] {
            let mut wire = ping.clone();
            wire[member] = other;
            assert!(
                serde_json::from_value::<PingResultResponse>(wire).is_err(),
                "{member}"
            );
        }
    }
}
