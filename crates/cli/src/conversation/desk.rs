//! Whoever answers the questions of a server: answers given in advance, then the terminal, then
//! nobody.

use std::sync::{Arc, Mutex, PoisonError};

use pintle::client::{ClientBuilder, Form, Visit};
use pintle::model::{ElicitParams, JsonObject};
use pintle::runtime::Answer;
use tokio::task::spawn_blocking;

use crate::ask::{self, Address, Answers, System, Terminal};
use crate::hosts::Input;
use crate::live::Live;
use crate::plan::Settings;
use crate::screen::Screen;
use crate::text;

/// Whoever answers.
pub(crate) struct Desk {
    screen: Screen,
    live: Arc<Live>,
    inputs: Vec<(String, String)>,
    answers: Mutex<Answers>,
    /// One question at a time.
    terminal: Mutex<Terminal>,
}

impl Desk {
    pub(crate) fn new(settings: &Settings, screen: Screen, live: Arc<Live>) -> Arc<Self> {
        Arc::new(Self {
            screen,
            live,
            inputs: settings.inputs.clone(),
            answers: Mutex::new(settings.answers.clone().into()),
            terminal: Mutex::new(Terminal::new(screen.notes)),
        })
    }

    /// Lets a client ask here.
    pub(crate) fn sit(desk: &Arc<Self>, builder: ClientBuilder) -> ClientBuilder {
        let (forms, visits) = (Arc::clone(desk), Arc::clone(desk));
        builder
            .on_elicit(move |form| {
                let desk = Arc::clone(&forms);
                // Whoever types takes as long as it takes; the conversation goes on meanwhile.
                let asked = spawn_blocking(move || desk.fill_in(&form));
                async move { asked.await.unwrap_or(Answer::Cancelled) }
            })
            .on_elicit_url(move |visit| {
                let desk = Arc::clone(&visits);
                let asked = spawn_blocking(move || desk.visit(&visit));
                async move { asked.await.unwrap_or(Answer::Cancelled) }
            })
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
            return ask::input(input, &mut *self.terminal());
        }
        let id = &input.id;
        input
            .default
            .clone()
            .ok_or_else(|| format!("which nobody is there to ask for; give it with --input {id}=…"))
    }

    /// Says what somebody should look at.
    pub(crate) fn warn(&self, warning: &dyn std::fmt::Display) {
        self.live.warn(&warning.to_string());
    }

    /// Says something that is not a result.
    pub(crate) fn note(&self, note: &str) {
        self.live.note(&text::line(note));
    }

    fn fill_in(&self, form: &Form) -> Answer<JsonObject> {
        if let Some(answer) = self.answers().next_form() {
            return answer;
        }
        let who = name(form.server.as_deref());
        if self.is_somebody_there() {
            self.live.clear();
            return ask::fill(&who, &form.message, &form.schema, &mut *self.terminal());
        }
        let question = ElicitParams::form(form.message.clone(), form.schema.clone());
        self.live.note(&ask::payload(&who, &question));
        Answer::Declined
    }

    fn visit(&self, visit: &Visit) -> Answer<()> {
        if let Some(answer) = self.answers().next_visit() {
            return answer;
        }
        let who = name(visit.server.as_deref());
        if self.is_somebody_there() {
            self.live.clear();
            let address = Address {
                url: &visit.url,
                host: &visit.host,
                is_suspicious: visit.is_suspicious,
            };
            let terminal = &mut *self.terminal();
            return ask::visit(&who, &visit.message, address, terminal, &mut System);
        }
        let question = ElicitParams::url(visit.message.clone(), visit.url.clone());
        self.live.note(&ask::payload(&who, &question));
        Answer::Declined
    }

    fn is_somebody_there(&self) -> bool {
        self.screen.is_typed_on && self.screen.notes.is_terminal
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn terminal(&self) -> std::sync::MutexGuard<'_, Terminal> {
        self.terminal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to call a server that asks.
fn name(server: Option<&pintle::model::Implementation>) -> String {
    match server {
        Some(server) => server.display_name().to_owned(),
        None => "The server".to_owned(),
    }
}
