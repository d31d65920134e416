//! Open questions of the server, which wait for an answer of the page.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_runtime::sync::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::feed::Feed;

/// The open questions.
#[derive(Debug)]
pub(crate) struct Questions {
    open: Mutex<Open>,
    feed: Arc<Feed>,
    max: usize,
}

#[derive(Debug, Default)]
struct Open {
    by_id: BTreeMap<u64, Question>,
    newest: u64,
}

#[derive(Debug)]
struct Question {
    shown: Value,
    answer: oneshot::Sender<Value>,
}

/// Removes its question when it is dropped, because the server cancelled it or the page answered.
struct Asked {
    questions: Arc<Questions>,
    id: u64,
}

impl Questions {
    pub(crate) fn new(feed: &Arc<Feed>, max: usize) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            feed: Arc::clone(feed),
            max,
        })
    }

    /// Shows a question in the page, and waits for the answer. `None` if too many questions are open.
    pub(crate) async fn ask(self: Arc<Self>, mut question: Value) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        let asked = {
            let mut open = self.open.lock();
            if open.by_id.len() >= self.max {
                return None;
            }
            open.newest += 1;
            let id = open.newest;
            question["id"] = id.into();
            let shown = question.clone();
            open.by_id.insert(id, Question { shown, answer });
            let questions = Arc::clone(&self);
            Asked { questions, id }
        };
        self.feed
            .add(&json!({ "type": "question", "question": question }));
        let answer = answered.await.ok();
        drop(asked);
        answer
    }

    /// Passes the answer of the page to the question. Returns false if the question is not open any more.
    pub(crate) fn answer(&self, id: u64, answer: Value) -> bool {
        let question = self.open.lock().by_id.remove(&id);
        question.is_some_and(|question| question.answer.send(answer).is_ok())
    }

    /// Returns the open questions, for a page that was opened later.
    pub(crate) fn shown(&self) -> Vec<Value> {
        let open = self.open.lock();
        open.by_id
            .values()
            .map(|question| question.shown.clone())
            .collect()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.questions.open.lock().by_id.remove(&self.id);
        self.questions
            .feed
            .add(&json!({ "type": "questionEnd", "id": self.id }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::WebOptions;

    fn questions(max: usize) -> Arc<Questions> {
        let feed = Arc::new(Feed::new(&WebOptions::default()));
        Questions::new(&feed, max)
    }

    #[tokio::test]
    async fn a_question_waits_for_its_answer() {
        let questions = questions(2);
        let asked = tokio::spawn(Arc::clone(&questions).ask(json!({ "kind": "form" })));
        tokio::task::yield_now().await;
        assert_eq!(questions.shown(), [json!({ "kind": "form", "id": 1 })]);
        assert!(!questions.answer(2, json!(null)));
        assert!(questions.answer(1, json!("yes")));
        assert_eq!(asked.await.expect("answered"), Some(json!("yes")));
        assert!(!questions.answer(1, json!("again")));
    }

    #[tokio::test]
    async fn a_cancelled_question_disappears() {
        let questions = questions(2);
        let asked = tokio::spawn(Arc::clone(&questions).ask(json!({})));
        tokio::task::yield_now().await;
        asked.abort();
        assert!(asked.await.is_err());
        assert!(questions.shown().is_empty());
    }

    #[tokio::test]
    async fn too_many_questions_are_cancelled() {
        let questions = questions(1);
        let _first = tokio::spawn(Arc::clone(&questions).ask(json!({})));
        tokio::task::yield_now().await;
        assert_eq!(Arc::clone(&questions).ask(json!({})).await, None);
        assert_eq!(questions.shown().len(), 1);
    }
}
