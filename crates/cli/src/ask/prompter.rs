//! Whoever answers the questions of a server: answers given in advance, then the terminal, then
//! nobody.

use std::convert::Infallible;
use std::sync::Arc;

use pintle::auth;
use pintle::client::{Client, ClientBuilder, FormQuestion, UrlQuestion};
use pintle::model::{ElicitParams, JsonObject};
use pintle::runtime::Answer;
use pintle::runtime::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::pending_visits::Visits;
use super::{Address, Answers, Reader, ScriptedAnswer, System, Terminal};
use crate::live::Live;
use crate::screen::{Look, Screen};
use crate::text;
use pintle_hosts::Input;

/// Whoever answers.
pub(crate) struct Prompter {
    screen: Screen,
    live: Arc<Live>,
    inputs: Vec<(String, String)>,
    answers: Mutex<Answers>,
    /// One question at a time.
    terminal: Mutex<()>,
    /// Tells whoever is asked that nobody waits for the answer.
    left: Notify,
    visits: Visits,
}

impl Prompter {
    /// `inputs` are answers to questions of a configuration file, by their ids.
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
            left: Notify::new(),
            visits: Visits::default(),
        })
    }

    /// Lets a client ask here.
    pub(crate) fn sit(desk: &Arc<Self>, builder: ClientBuilder) -> ClientBuilder {
        let (forms, visits, ends) = (Arc::clone(desk), Arc::clone(desk), Arc::clone(desk));
        builder
            .on_elicit(move |form| {
                let desk = Arc::clone(&forms);
                async move { Self::ask(desk, move |desk, reader| desk.fill_in(&form, reader)).await }
            })
            .on_elicit_url(move |visit| {
                let desk = Arc::clone(&visits);
                async move { Self::send_on(desk, visit).await }
            })
            .on_visit_complete(move |id| ends.visits.end(&id))
    }

    /// Asks whether to visit a URL. A visit whose end the server reports is followed from then on.
    async fn send_on(desk: Arc<Self>, visit: UrlQuestion) -> Answer<()> {
        let (here, id) = (Arc::clone(&desk), visit.elicitation_id.clone());
        let answer = Self::ask(desk, move |desk, reader| desk.visit(&visit, reader)).await;
        if let (Answer::Accepted(()), Some(id)) = (&answer, id) {
            here.visits.begin(id);
        }
        answer
    }

    /// Shows what calls wait for after visits. This never ends.
    pub(crate) async fn follow_visits(&self, client: &Client) -> Infallible {
        self.visits
            .follow(&self.live, self.is_somebody_there(), client)
            .await
    }

    /// Takes back the questions that are being asked: they are cancelled.
    pub(crate) fn leave(&self) {
        self.left.notify_waiters();
    }

    /// Asks on a thread of its own: whoever types takes as long as it takes, and the conversation
    /// goes on meanwhile.
    async fn ask<T: Send + 'static>(
        desk: Arc<Self>,
        question: impl FnOnce(&Self, Reader) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let _open = desk.visits.question();
        // Dropped at the end, however this ends: then nobody reads the terminal any more.
        let (reader, _waiting) = super::reader();
        let here = Arc::clone(&desk);
        let asked = spawn_blocking(move || question(&here, reader));
        tokio::select! {
            answer = asked => answer.unwrap_or(Answer::Cancelled),
            () = desk.left.notified() => Answer::Cancelled,
        }
    }

    /// Answers a question of a configuration file.
    ///
    /// # Errors
    ///
    /// Why there is no answer, to follow the name of what was asked.
    pub(crate) fn input(&self, input: &Input) -> Result<String, String> {
        if let Some((_, value)) = self.inputs.iter().find(|(id, _)| *id == input.id) {
            return Ok(value.clone());
        }
        if self.is_somebody_there() {
            let (reader, _waiting) = super::reader();
            return super::input(input, &mut Terminal::new(self.screen.notes, reader));
        }
        let id = &input.id;
        input
            .default
            .clone()
            .ok_or_else(|| format!("which nobody is there to ask for; give it with --input {id}=…"))
    }

    /// Shows what a server would do, and asks for consent to it; none where no terminal is there to ask.
    pub(crate) fn consent(&self, page: &str) -> Option<bool> {
        self.live.note(page.trim_end());
        let (reader, _waiting) = super::reader();
        let mut terminal = Terminal::new(self.screen.notes, reader);
        self.is_somebody_there()
            .then(|| super::consent(&mut terminal))
    }

    /// How text looks on the terminal that questions are asked on.
    pub(crate) fn look(&self) -> Look {
        self.screen.notes
    }

    /// Says what somebody should look at.
    pub(crate) fn warn(&self, warning: &dyn std::fmt::Display) {
        self.live.warn(&warning.to_string());
    }

    /// Says something that is not a result.
    pub(crate) fn note(&self, note: &str) {
        self.live.note(&text::line(note));
    }

    /// Asks whether to sign in at the page of an authorization server, and opens it on a yes.
    pub(crate) async fn sign_in(desk: Arc<Self>, visit: auth::SignInRequest) -> Answer<()> {
        let question = move |desk: &Self, reader| {
            let _turn = desk.turn();
            desk.live.clear();
            let message = format!("Whoever signs in at {} is let in.", visit.issuer);
            let host = host(&visit.url);
            let address = Address {
                url: &visit.url,
                host,
                is_suspicious: host.split('.').any(|label| label.starts_with("xn--")),
            };
            let terminal = &mut Terminal::new(desk.screen.notes, reader);
            super::visit("The server", &message, address, terminal, &mut System)
        };
        Self::ask(desk, question).await
    }

    fn fill_in(&self, form: &FormQuestion, reader: Reader) -> Answer<JsonObject> {
        if let Some(answer) = self.answers().next_form() {
            return answer;
        }
        let who = name(form.server.as_deref());
        if self.is_somebody_there() {
            let _turn = self.turn();
            self.live.clear();
            let terminal = &mut Terminal::new(self.screen.notes, reader);
            return super::fill(&who, &form.message, &form.schema, terminal);
        }
        let question = ElicitParams::form(form.message.clone(), form.schema.clone());
        self.live.note(&super::payload(&who, &question));
        Answer::Declined
    }

    fn visit(&self, visit: &UrlQuestion, reader: Reader) -> Answer<()> {
        if let Some(answer) = self.answers().next_visit() {
            return answer;
        }
        let who = name(visit.server.as_deref());
        if self.is_somebody_there() {
            let _turn = self.turn();
            self.live.clear();
            let address = Address {
                url: &visit.url,
                host: &visit.host,
                is_suspicious: visit.is_suspicious,
            };
            let terminal = &mut Terminal::new(self.screen.notes, reader);
            return super::visit(&who, &visit.message, address, terminal, &mut System);
        }
        let question = ElicitParams::url(visit.message.clone(), visit.url.clone());
        self.live.note(&super::payload(&who, &question));
        Answer::Declined
    }

    /// Whether somebody reads and types here.
    pub(crate) fn is_somebody_there(&self) -> bool {
        self.screen.is_typed_on && self.screen.notes.is_terminal
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock()
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.terminal.lock()
    }
}

/// The part of an address that says where it leads, as it was written.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// What to call a server that asks.
fn name(server: Option<&pintle::model::Implementation>) -> String {
    match server {
        Some(server) => server.display_name().to_owned(),
        None => "The server".to_owned(),
    }
}
