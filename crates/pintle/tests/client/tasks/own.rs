//! Questions of a server that are tasks at the client.

use std::sync::{Arc, Mutex};

use pintle::client::{Client, SamplingError};
use pintle::model::CreateMessageResult;
use pintle::runtime::Answer;
use serde_json::json;

use super::{CORE, SECOND, client};
use crate::client::help_desk::{text, within};

// spec: 2025-11-25 TASK-16, TASK-26, TASK-52
#[tokio::test(start_paused = true)]
async fn a_server_may_make_tasks_of_its_questions() {
    for in_tasks in [true, false] {
        let handlers = Arc::new(Mutex::new(0));
        let count = Arc::clone(&handlers);
        let builder = Client::builder()
            .on_elicit(move |_| {
                *count.lock().expect("no panic") += 1;
                async {
                    tokio::time::sleep(5 * SECOND).await;
                    let said = json!({ "colour": "green" });
                    Answer::Accepted(said.as_object().expect("an object").clone())
                }
            })
            .on_sample(|_| async { Ok(CreateMessageResult::new("Hm.", "thinker-1")) });
        let builder = match in_tasks {
            true => builder.answer_in_tasks(),
            false => builder,
        };
        let client = client(builder, CORE).await;
        let said = within(client.call_tool("poll_us", ())).await;
        assert_eq!(text(&said.expect("a result").content), "green");
        let said = within(client.call_tool("think", ())).await;
        assert_eq!(text(&said.expect("a result").content), "thinker-1");
        assert_eq!(*handlers.lock().expect("no panic"), 1);
    }
}

// spec: 2025-11-25 TASK-71
#[tokio::test(start_paused = true)]
async fn a_refusal_in_a_task_is_the_refusal() {
    let builder = Client::builder()
        .on_elicit(|_| async { Answer::Declined })
        .on_sample(|_| async { Err(SamplingError::Refused) });
    let client = client(builder.answer_in_tasks(), CORE).await;
    let said = within(client.call_tool("poll_us", ())).await;
    assert_eq!(text(&said.expect("a result").content), "declined");
    let said = within(client.call_tool("think", ())).await;
    let said = said.expect("a result");
    assert!(
        said.has_failed() && text(&said.content).contains("refused"),
        "{said:?}"
    );
}
