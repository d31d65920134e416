//! The questions of one request, with their answers, for its handler and its runner.

mod journal;
mod journal_json;
mod park;
mod question_state;
mod replay;
mod retry_input;
mod unfit;
mod waits;

pub(crate) use unfit::with_reason;

pub use journal::{Journal, StoredAnswer};
pub use park::TaskCheckpoint;
pub use question_state::QuestionState;
pub use replay::ReplayResult;
pub use retry_input::RetryInput;
