//! Open questions of the server, which wait for an answer of the page.

use std::sync::Arc;

use pintle_runtime::sync::Mutex;
use tokio::sync::oneshot;

use crate::feed::Feed;
use crate::object::Object;

/// The open questions.
#[derive(Debug)]
pub(crate) struct Questions {
    open: Mutex<Open>,
    feed: Arc<Feed>,
    max: usize,
}

#[derive(Debug, Default)]
struct Open {
    questions: Vec<Question>,
    newest: u64,
}

#[derive(Debug)]
struct Question {
    id: u64,
    /// The JSON text of the question.
    shown: Vec<u8>,
    /// Receives the JSON text of the answer.
    answer: oneshot::Sender<String>,
}

impl Open {
    fn remove(&mut self, id: u64) -> Option<Question> {
        let place = self
            .questions
            .iter()
            .position(|question| question.id == id)?;
        Some(self.questions.remove(place))
    }
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
    pub(crate) async fn ask(self: Arc<Self>, mut question: Object) -> Option<String> {
        let (answer, answered) = oneshot::channel();
        let asked = {
            let mut open = self.open.lock();
            if open.questions.len() >= self.max {
                return None;
            }
            open.newest += 1;
            let id = open.newest;
            let shown = question.whole("id", id).end();
            self.feed
                .add(Object::event("question").raw("question", &shown));
            open.questions.push(Question { id, shown, answer });
            let questions = Arc::clone(&self);
            Asked { questions, id }
        };
        let answer = answered.await.ok();
        drop(asked);
        answer
    }

    /// Passes the answer of the page to the question. Returns false if the question is not open any more.
    pub(crate) fn answer(&self, id: u64, answer: &str) -> bool {
        let question = self.open.lock().remove(id);
        question.is_some_and(|question| question.answer.send(answer.to_owned()).is_ok())
    }

    /// Returns the JSON texts of the open questions, for a page that was opened later.
    pub(crate) fn shown(&self) -> Vec<Vec<u8>> {
        let open = self.open.lock();
        let shown = open.questions.iter().map(|question| question.shown.clone());
        shown.collect()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.questions.open.lock().remove(self.id);
        let mut end = Object::event("questionEnd");
        self.questions.feed.add(end.whole("id", self.id));
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
        let asked = tokio::spawn(Arc::clone(&questions).ask(Object::new()));
        tokio::task::yield_now().await;
        assert_eq!(questions.shown(), [b"{\"id\":1}"]);
        assert!(!questions.answer(2, "null"));
        assert!(questions.answer(1, "{}"));
        assert_eq!(asked.await.expect("answered").as_deref(), Some("{}"));
        assert!(!questions.answer(1, "[]"));
    }

    #[tokio::test]
    async fn a_cancelled_question_disappears() {
        let questions = questions(2);
        let asked = tokio::spawn(Arc::clone(&questions).ask(Object::new()));
        tokio::task::yield_now().await;
        asked.abort();
        assert!(asked.await.is_err());
        assert!(questions.shown().is_empty());
    }

    #[tokio::test]
    async fn too_many_questions_are_cancelled() {
        let questions = questions(1);
        let _first = tokio::spawn(Arc::clone(&questions).ask(Object::new()));
        tokio::task::yield_now().await;
        assert_eq!(Arc::clone(&questions).ask(Object::new()).await, None);
        assert_eq!(questions.shown().len(), 1);
    }
}
