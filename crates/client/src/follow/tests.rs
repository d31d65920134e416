use std::time::SystemTime;

use pintle_model::Timestamp;

use super::*;
use crate::client::Client;
use crate::tool_lookup::fake::{FakeLookup, offline};

#[tokio::test(start_paused = true)]
async fn a_task_is_given_up_if_the_server_stays_unreachable() {
    let client = offline(Client::builder());
    let lookup = FakeLookup::failing();
    let mut request = Request::new(CallTool::NAME);
    let record = Record::new("1", Timestamp::from(SystemTime::UNIX_EPOCH));
    let ended = see_through(&client.0, &lookup, &mut request, record).await;
    let Err(CallError::NotConnected { method, .. }) = ended else {
        panic!("the task ended");
    };
    assert_eq!(method.as_str(), GetTask::NAME);
    assert!(lookup.names().is_empty());
}
