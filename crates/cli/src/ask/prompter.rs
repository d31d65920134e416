//! Answers to the questions of a server: from `--answer`, then from the terminal. Without either, a
//! question is declined.

use std::convert::Infallible;
use std::sync::Arc;

use pintle::auth;
use pintle::client::{Client, ClientBuilder, FormQuestion, UrlQuestion};
use pintle::model::{ElicitParams, JsonObject};
use pintle::runtime::Answer;
use pintle::runtime::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::confirm;
use super::pending_visits::PendingVisits;
use super::{Address, Answers, Reader, ScriptedAnswer, System, Terminal};
use crate::live::Live;
use crate::screen::{Look, Screen};
use crate::text;
use pintle_hosts::Input;

/// Answers questions of servers and of configuration files.
pub(crate) struct Prompter {
    screen: Screen,
    live: Arc<Live>,
    inputs: Vec<(String, String)>,
    answers: Mutex<Answers>,
    /// Locked during a question, because the terminal shows one at a time.
    terminal: Mutex<()>,
    /// Notified when open questions are cancelled.
    cancelled: Notify,
    visits: PendingVisits,
}

impl Prompter {
    /// Creates a prompter. `inputs` are values for inputs of a configuration file, by their ids.
    pub(crate) fn new(
        inputs: &[(String, String)],
        answers: &[ScriptedAnswer],
        screen: Screen,
        live: Arc<Live>,
    ) -> Arc<Self> {
        Arc::new(Self {
            screen,
            live,
            inputs: inputs.to_vec(),
            answers: Mutex::new(answers.to_vec().into()),
            terminal: Mutex::default(),
            cancelled: Notify::new(),
            visits: PendingVisits::default(),
        })
    }

    /// Registers the handlers of questions at a client.
    pub(crate) fn register(prompter: &Arc<Self>, builder: ClientBuilder) -> ClientBuilder {
        let (forms, visits, ends) = (
            Arc::clone(prompter),
            Arc::clone(prompter),
            Arc::clone(prompter),
        );
        builder
            .on_elicit(move |form| {
                let prompter = Arc::clone(&forms);
                let question = move |prompter: &Self, reader| prompter.fill_in(&form, reader);
                async move { Self::ask(prompter, question).await }
            })
            .on_elicit_url(move |visit| {
                let prompter = Arc::clone(&visits);
                async move { Self::ask_to_visit(prompter, visit).await }
            })
            .on_visit_complete(move |id| ends.visits.end(&id))
    }

    /// Asks whether to visit a URL. Records the visit if the server will report its end.
    async fn ask_to_visit(prompter: Arc<Self>, visit: UrlQuestion) -> Answer<()> {
        let (this, id) = (Arc::clone(&prompter), visit.elicitation_id.clone());
        let question = move |prompter: &Self, reader| prompter.visit(&visit, reader);
        let answer = Self::ask(prompter, question).await;
        if let (Answer::Accepted(()), Some(id)) = (&answer, id) {
            this.visits.begin(id);
        }
        answer
    }

    /// Shows a note while calls wait for visits. The future never completes.
    pub(crate) async fn follow_visits(&self, client: &Client) -> Infallible {
        self.visits
            .follow(&self.live, self.is_interactive(), client)
            .await
    }

    /// Cancels the open questions.
    pub(crate) fn cancel_questions(&self) {
        self.cancelled.notify_waiters();
    }

    /// Asks on a thread of its own, so that the conversation continues while the user types.
    async fn ask<T: Send + 'static>(
        prompter: Arc<Self>,
        question: impl FnOnce(&Self, Reader) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let _open = prompter.visits.question();
        // Dropping the guard stops the reader, also when this future is cancelled.
        let (reader, _guard) = super::reader();
        let this = Arc::clone(&prompter);
        let asked = spawn_blocking(move || question(&this, reader));
        tokio::select! {
            answer = asked => answer.unwrap_or(Answer::Cancelled),
            () = prompter.cancelled.notified() => Answer::Cancelled,
        }
    }

    /// Returns the value for an input of a configuration file.
    ///
    /// # Errors
    ///
    /// The reason why the input has no value, as the end of a sentence about the input.
    pub(crate) fn input(&self, input: &Input) -> Result<String, String> {
        if let Some((_, value)) = self.inputs.iter().find(|(id, _)| *id == input.id) {
            return Ok(value.clone());
        }
        if self.is_interactive() {
            let (reader, _guard) = super::reader();
            return super::input(input, &mut Terminal::new(self.screen.notes, reader));
        }
        let id = &input.id;
        input.default.clone().ok_or_else(|| {
            format!(
                "which has no value, and no terminal is there to ask for it; pass --input {id}=…"
            )
        })
    }

    /// Shows the description of a server, and asks for consent to it. Returns `None` without a
    /// terminal.
    pub(crate) fn consent(&self, page: &str) -> Option<bool> {
        self.shown_question(page, confirm::SERVER)
    }

    /// Shows the change of a file, and asks for consent to it. Returns `None` without a terminal.
    pub(crate) fn confirm(&self, page: &str) -> Option<bool> {
        self.shown_question(page, confirm::CHANGE)
    }

    fn shown_question(&self, page: &str, question: &str) -> Option<bool> {
        self.live.note(page.trim_end());
        let (reader, _guard) = super::reader();
        let mut terminal = Terminal::new(self.screen.notes, reader);
        let is_interactive = self.is_interactive();
        is_interactive.then(|| confirm::confirm(&mut terminal, question))
    }

    /// Returns the styles of the terminal that shows questions.
    pub(crate) fn look(&self) -> Look {
        self.screen.notes
    }

    /// Shows a warning.
    pub(crate) fn warn(&self, warning: &dyn std::fmt::Display) {
        self.live.warn(&warning.to_string());
    }

    /// Shows a note, which is not a part of the result.
    pub(crate) fn note(&self, note: &str) {
        self.live.note(&text::line(note));
    }

    /// Asks whether to sign in at the page of an authorization server, and opens it on a yes.
    pub(crate) async fn sign_in(prompter: Arc<Self>, visit: auth::SignInRequest) -> Answer<()> {
        let question = move |prompter: &Self, reader| {
            let _turn = prompter.turn();
            prompter.live.clear();
            let message = format!("The server requires a sign-in at {}.", visit.issuer);
            let host = host(&visit.url);
            let address = Address {
                url: &visit.url,
                host,
                is_suspicious: host.split('.').any(|label| label.starts_with("xn--")),
            };
            let terminal = &mut Terminal::new(prompter.screen.notes, reader);
            super::visit("The server", &message, address, terminal, &mut System)
        };
        Self::ask(prompter, question).await
    }

    fn fill_in(&self, form: &FormQuestion, reader: Reader) -> Answer<JsonObject> {
        if let Some(answer) = self.answers().next_form() {
            return answer;
        }
        let server = name(form.server.as_deref());
        if self.is_interactive() {
            let _turn = self.turn();
            self.live.clear();
            let terminal = &mut Terminal::new(self.screen.notes, reader);
            return super::fill(&server, &form.message, &form.schema, terminal);
        }
        let question = ElicitParams::form(form.message.clone(), form.schema.clone());
        self.live.note(&super::payload(&server, &question));
        Answer::Declined
    }

    fn visit(&self, visit: &UrlQuestion, reader: Reader) -> Answer<()> {
        if let Some(answer) = self.answers().next_visit() {
            return answer;
        }
        let server = name(visit.server.as_deref());
        if self.is_interactive() {
            let _turn = self.turn();
            self.live.clear();
            let address = Address {
                url: &visit.url,
                host: &visit.host,
                is_suspicious: visit.is_suspicious,
            };
            let terminal = &mut Terminal::new(self.screen.notes, reader);
            return super::visit(&server, &visit.message, address, terminal, &mut System);
        }
        let question = ElicitParams::url(visit.message.clone(), visit.url.clone());
        self.live.note(&super::payload(&server, &question));
        Answer::Declined
    }

    /// Whether a user can read and type at a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        self.screen.is_typed_on && self.screen.notes.is_terminal
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock()
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.terminal.lock()
    }
}

/// Returns the host of a URL, as it is written in the URL.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Returns the display name of a server that asks.
fn name(server: Option<&pintle::model::Implementation>) -> String {
    match server {
        Some(server) => server.display_name().to_owned(),
        None => "The server".to_owned(),
    }
}
