//! The JSON-RPC envelope: one pass, classified by which members are present.

mod breadth;
mod broken;
mod depth;
mod encode;
mod error;
mod id;
mod message;

pub use encode::{
    write_error, write_notification, write_request, write_response, write_response_head,
};
pub use error::{Error, ErrorCode};
pub use id::{ProgressToken, RequestId};
pub use message::{InvalidMessage, Message, Notification, Request, Response, ResponseBody};
