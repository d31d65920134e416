//! Questions of a server that wait for a call to carry them to the client.

use std::time::Duration;

use pintle::model::{Error, InputRequest, InputResponse};
use pintle::runtime::sync::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::error::internal;

/// How long the first question waits for more, so that questions that are asked together are one round.
const GATHER: Duration = Duration::from_millis(20);

/// The answer to a question.
pub(crate) type Answered = Result<InputResponse, Error>;

/// A question without an answer. Dropping it fails the question.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) request: InputRequest,
    answer: oneshot::Sender<Answered>,
}

impl Question {
    /// Sends the answer to the server.
    pub(crate) fn answer(self, answer: Answered) {
        // The server may have cancelled its question.
        let _ = self.answer.send(answer);
    }

    /// Whether the server still waits for the answer.
    pub(crate) fn is_open(&self) -> bool {
        !self.answer.is_closed()
    }
}

/// The waiting questions of one connection.
#[derive(Default)]
pub(crate) struct Questions {
    state: Mutex<State>,
    added: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<Question>,
    next: u64,
}

impl Questions {
    /// Waits for the answer to a question.
    ///
    /// # Errors
    ///
    /// The error of the client; -32603 at `most` waiting questions, after `timeout`, and if the call that carried
    /// the question has ended.
    pub(crate) async fn ask(
        &self,
        request: InputRequest,
        most: usize,
        timeout: Duration,
    ) -> Answered {
        let answered = self.add(request, most)?;
        match tokio::time::timeout(timeout, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(internal("the call that carried the question has ended")),
            Err(_) => Err(unanswered()),
        }
    }

    /// Waits for the answer to a question, which the next call carries again if the present one ends without an answer.
    ///
    /// # Errors
    ///
    /// As [`Questions::ask`].
    pub(crate) async fn insist(
        &self,
        request: InputRequest,
        most: usize,
        timeout: Duration,
    ) -> Answered {
        let answered = async {
            loop {
                if let Ok(answer) = self.add(request.clone(), most)?.await {
                    return answer;
                }
            }
        };
        let answered = tokio::time::timeout(timeout, answered).await;
        answered.unwrap_or_else(|_| Err(unanswered()))
    }

    fn add(
        &self,
        request: InputRequest,
        most: usize,
    ) -> Result<oneshot::Receiver<Answered>, Error> {
        let (answer, answered) = oneshot::channel();
        let mut state = self.state.lock();
        state.waiting.retain(Question::is_open);
        if state.waiting.len() >= most {
            return Err(internal("too many questions wait for the client"));
        }
        state.next += 1;
        let name = format!("q{}", state.next);
        state.waiting.push(Question {
            name,
            request,
            answer,
        });
        drop(state);
        self.added.notify_one();
        Ok(answered)
    }

    /// Whether a question waits.
    pub(crate) fn has_open(&self) -> bool {
        self.state.lock().waiting.iter().any(Question::is_open)
    }

    /// Waits until there are questions, and takes them with those that follow at once.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub(crate) async fn take(&self) -> Vec<Question> {
        loop {
            if self.state.lock().waiting.iter().any(Question::is_open) {
                tokio::time::sleep(GATHER).await;
            }
            let mut taken = std::mem::take(&mut self.state.lock().waiting);
            taken.retain(Question::is_open);
            if !taken.is_empty() {
                return taken;
            }
            self.added.notified().await;
        }
    }
}

fn unanswered() -> Error {
    internal("the client did not answer the question in time")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pintle::model::{InputResponse, ListRootsResult, NoParams};

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn roots() -> InputRequest {
        InputRequest::ListRoots(NoParams::default())
    }

    fn code(answer: &Answered) -> Option<i64> {
        answer.as_ref().err().map(|error| error.code.0)
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_waits_for_a_call_to_carry_it() {
        let questions = Arc::new(Questions::default());
        let asked = Arc::clone(&questions);
        let answer = tokio::spawn(async move { asked.ask(roots(), 1, MINUTE).await });
        let mut taken = questions.take().await;
        let answered = InputResponse::from(ListRootsResult::new(Vec::new()));
        taken.remove(0).answer(Ok(answered));
        assert!(answer.await.expect("no panic").is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn questions_that_are_asked_together_are_taken_together() {
        let questions = Arc::new(Questions::default());
        let ask = |pause: Duration| {
            let questions = Arc::clone(&questions);
            tokio::spawn(async move {
                tokio::time::sleep(pause).await;
                questions.ask(roots(), 3, MINUTE).await
            })
        };
        let _asked = [ask(Duration::ZERO), ask(GATHER / 2), ask(MINUTE / 2)];
        assert_eq!(questions.take().await.len(), 2);
        assert_eq!(questions.take().await.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn questions_have_a_limit_and_a_timeout() {
        let questions = Questions::default();
        let (first, second) = tokio::join!(
            questions.ask(roots(), 1, MINUTE),
            questions.ask(roots(), 1, MINUTE)
        );
        assert_eq!((code(&first), code(&second)), (Some(-32603), Some(-32603)));
        assert!(first.expect_err("a timeout").message.contains("in time"));
        assert!(second.expect_err("a limit").message.contains("too many"));
        let third = questions.ask(roots(), 1, MINUTE).await;
        assert!(third.expect_err("a timeout").message.contains("in time"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_insists_is_carried_by_the_next_call() {
        let questions = Arc::new(Questions::default());
        let asked = Arc::clone(&questions);
        let answer = tokio::spawn(async move { asked.insist(roots(), 1, MINUTE).await });
        drop(questions.take().await);
        let mut taken = questions.take().await;
        let answered = InputResponse::from(ListRootsResult::new(Vec::new()));
        taken.remove(0).answer(Ok(answered));
        assert!(answer.await.expect("no panic").is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_fails_with_the_call_that_carries_it() {
        let questions = Questions::default();
        let (answer, ()) = tokio::join!(questions.ask(roots(), 1, MINUTE), async {
            drop(questions.take().await);
        });
        assert_eq!(code(&answer), Some(-32603));
    }
}
