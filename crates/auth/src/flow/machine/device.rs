//! Sign-in with a code that the user enters on another device.
//!
//! Spec: RFC 8628.

use pintle_runtime::{FetchError, FetchResponse};

use crate::error::{AuthError, AuthServerError, EndpointRequest};
use crate::flow::device::{DEVICE_GRANT, DeviceAuthorization, DevicePoll};
use crate::flow::machine::{SignIn, Stage};
use crate::flow::sign_in_plan::SignInStep;
use crate::flow::token::{Exchange, Exchanged};
use crate::flow_context::FlowContext;
use crate::secret::Secret;

impl SignIn {
    /// Requests the codes.
    pub(super) fn ask_device(&mut self, at: &FlowContext) -> Result<SignInStep, AuthError> {
        const MEMBER: &str = "device_authorization_endpoint";
        let endpoint = self.server.device_authorization_endpoint.clone();
        let endpoint =
            endpoint.ok_or_else(|| self.server_error(AuthServerError::Endpoint(MEMBER)))?;
        self.token_endpoint()?;
        let exchange = Exchange {
            what: EndpointRequest::DeviceAuthorization,
            // The request has no proof of a key, because it issues no token.
            dpop: None,
            ..self.exchange(endpoint, self.with_target(Vec::new()))
        };
        let request = exchange.request(at)?;
        self.stage = Stage::DeviceAsked(Box::new(exchange));
        Ok(SignInStep::Fetch(request))
    }

    /// Accepts the codes, and returns the one for the user.
    pub(super) fn accept_codes(
        &mut self,
        mut exchange: Box<Exchange>,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let given = match exchange.take(answer, at)? {
            Exchanged::Again(_) => return Err(AuthError::Unexpected),
            Exchanged::Done(given) => given,
        };
        let read = DeviceAuthorization::read(&given, &self.server.issuer, &self.plan.fetch_policy);
        let found = read.map_err(|fault| exchange.invalid(fault))?;
        let form = vec![
            ("grant_type", Secret::from(DEVICE_GRANT)),
            ("device_code", found.device_code),
            ("resource", self.resource.clone().into()),
        ];
        let exchange = self.exchange(self.token_endpoint()?, form);
        let poll = DevicePoll::new(exchange, found.interval, found.user_code.expires_in);
        self.stage = Stage::DeviceShown(Box::new(poll));
        Ok(SignInStep::ShowCode(found.user_code))
    }

    /// Continues after the code was shown, or after a pause.
    ///
    /// # Errors
    ///
    /// [`AuthError::DeviceSignIn`] if the code expires; the sign-in is over then.
    pub fn resume(&mut self, at: &FlowContext) -> Result<SignInStep, AuthError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::DeviceShown(poll) => self.pause(poll),
            Stage::DevicePause(poll) => {
                let request = poll.exchange.request(at)?;
                self.stage = Stage::DevicePoll(poll);
                Ok(SignInStep::Fetch(request))
            }
            _ => Err(AuthError::Unexpected),
        }
    }

    fn pause(&mut self, mut poll: Box<DevicePoll>) -> Result<SignInStep, AuthError> {
        let pause = poll.pause().map_err(|fault| poll.error(fault))?;
        self.stage = Stage::DevicePause(poll);
        Ok(SignInStep::Wait(pause))
    }

    /// Accepts the response to a poll: tokens, or the request for another pause.
    pub(super) fn accept_poll(
        &mut self,
        mut poll: Box<DevicePoll>,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match poll.exchange.take(answer, at) {
            Ok(Exchanged::Again(request)) => {
                self.stage = Stage::DevicePoll(poll);
                Ok(SignInStep::Fetch(request))
            }
            Ok(Exchanged::Done(given)) => self.done(poll.exchange, given, at),
            Err(error) => {
                poll.take_error(error)?;
                self.pause(poll)
            }
        }
    }
}
