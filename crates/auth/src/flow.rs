//! State machines that get, refresh and revoke tokens. They return requests and pages for the
//! driver, perform no I/O, and read no clock.

mod code;
mod device;
mod issued_tokens;
mod machine;
mod register;
mod revoke;
mod sign_in_plan;
mod token;
mod token_refresh;

#[cfg(test)]
mod tests;

pub use code::{AuthorizationResponse, SignInRequest};
pub(crate) use device::DEVICE_GRANT;
pub use device::UserCode;
pub use issued_tokens::{DpopKey, IssuedTokens, TokenResponse};
pub use machine::SignIn;
pub(crate) use revoke::Revoke;
pub use sign_in_plan::{SignInPlan, SignInStep};
pub use token_refresh::TokenRefresh;
