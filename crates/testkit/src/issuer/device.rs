//! Device authorization: RFC 8628.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::{IssuerResponse, RecordedRequest, State, random_name};

/// The response to a poll for a device code. Exhaustive, because tests need no other response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DevicePoll {
    /// The user has not entered the code yet.
    Pending,
    /// The client polls too often.
    SlowDown,
    /// The user denied the request.
    Denied,
    /// The code expired.
    Expired,
    /// The endpoint fails with this HTTP status.
    Broken(u16),
}

/// Device codes, and the responses to polls for them.
#[derive(Default)]
pub(super) struct Devices {
    codes: Vec<Device>,
    polls: VecDeque<DevicePoll>,
    /// Members that replace those of the next responses.
    members: Map<String, Value>,
}

/// The request that a device code belongs to.
struct Device {
    code: String,
    client: String,
    resource: Option<String>,
    scope: Option<String>,
}

/// The grant of a device code.
pub(super) struct DeviceGrant {
    pub(super) resource: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) subject: String,
}

impl Devices {
    pub(super) fn respond_with(&mut self, polls: impl IntoIterator<Item = DevicePoll>) {
        self.polls.extend(polls);
    }

    pub(super) fn edit(&mut self, members: Map<String, Value>) {
        self.members = members;
    }
}

impl State {
    /// Issues codes: RFC 8628, section 3.2.
    pub(super) fn authorize_device(
        &mut self,
        issuer: &str,
        asked: &RecordedRequest,
    ) -> IssuerResponse {
        let Some(client) = self.authenticated(asked) else {
            return IssuerResponse::error(401, "invalid_client");
        };
        let code = random_name();
        let mut answer = json!({
            "device_code": code,
            "user_code": "WDJB-MJHT",
            "verification_uri": format!("{issuer}/device"),
            "verification_uri_complete": format!("{issuer}/device?user_code=WDJB-MJHT"),
            "expires_in": 900,
            "interval": 5,
        });
        for (name, value) in self.devices.members.clone() {
            answer[name] = value;
        }
        self.devices.codes.push(Device {
            code,
            client,
            resource: asked.parameter("resource").map(str::to_owned),
            scope: asked.parameter("scope").map(str::to_owned),
        });
        IssuerResponse::json(200, &answer)
    }

    /// The status of a failure that a test requests for this poll.
    pub(super) fn broken_poll(&mut self, asked: &RecordedRequest) -> Option<u16> {
        let is_poll = asked.parameter("device_code").is_some();
        match self.devices.polls.front() {
            Some(DevicePoll::Broken(status)) if is_poll => {
                let status = *status;
                self.devices.polls.pop_front();
                Some(status)
            }
            _ => None,
        }
    }

    /// Responds to a poll: the planned responses first, and tokens after them if the user consents.
    pub(super) fn by_device(
        &mut self,
        client: &str,
        asked: &RecordedRequest,
    ) -> Result<DeviceGrant, &'static str> {
        let code = asked.parameter("device_code").unwrap_or_default();
        let is_asked = |device: &Device| device.code == code && device.client == client;
        let found = self.devices.codes.iter().position(is_asked);
        let found = found.ok_or("invalid_grant")?;
        match self.devices.polls.pop_front() {
            Some(DevicePoll::Pending | DevicePoll::Broken(_)) => Err("authorization_pending"),
            Some(DevicePoll::SlowDown) => Err("slow_down"),
            Some(DevicePoll::Denied) => Err("access_denied"),
            Some(DevicePoll::Expired) => Err("expired_token"),
            None if !self.consents => Err("access_denied"),
            None => {
                let device = self.devices.codes.remove(found);
                let named = asked.parameter("resource").map(str::to_owned);
                if named.is_some() && device.resource.is_some() && named != device.resource {
                    return Err("invalid_target");
                }
                Ok(DeviceGrant {
                    resource: named.or(device.resource),
                    scope: device.scope,
                    subject: self.subject.clone(),
                })
            }
        }
    }
}
