//! One request to one server in every revision; all revisions must agree.
//!
//! Up to 2025-11-25 a handler that asks the client waits for the answer. Since 2026-07-28 the
//! handler runs again with the answers. Side effects above a question, randomness and the clock can
//! make the second run differ. This module finds such differences. The request is made in every
//! revision that can express its questions, with the same answers. Then the transcripts are
//! compared: the questions, the side effects and the final response.

mod answers;
mod client;
mod compare;
mod side_effects;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::method::{CallTool, GetPrompt, Method, ReadResource};
use pintle_model::{ClientCapabilities, InputRequest, InputResponse, Revision, Root};
use pintle_runtime::{BoxService, IntoService};
use serde_json::{Value, json};

use answers::Answers;
pub use compare::{Agreement, DisagreementError, Skipped};
pub use side_effects::SideEffects;

/// Maximum duration of the request in one revision, in virtual time, unless the test sets another.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// A request that is made in every revision, with the same answers.
///
/// Compared are the questions, in any order, because questions that are asked together have no order.
/// Members that one of the two revisions lacks are ignored. Also compared are the count of each
/// [side effect](SideEffects) and the final result or error. Progress and logs are not compared,
/// because a handler that runs again repeats them. A revision that lacks a needed feature is left
/// out, and [`Agreement::skipped`] has the reason.
///
/// ```
/// use pintle_runtime::{AskError, Context};
/// use pintle_server::{Server, Tool};
/// use pintle_testkit::{BothEras, SideEffects};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Confirm {
///     yes: bool,
/// }
///
/// async fn deploy(cx: Context, effects: SideEffects) -> Result<String, AskError> {
///     // Without `once` this side effect would happen again in the second run.
///     let build = cx.once("build", async { effects.note("build") }).await;
///     let answer = cx.elicit::<Confirm>(format!("Deploy build {build}?")).await?;
///     Ok(match answer.accepted() {
///         Some(Confirm { yes: true }) => format!("deployed build {build}"),
///         _ => "left alone".to_owned(),
///     })
/// }
///
/// let agreed = BothEras::new(|effects: SideEffects| {
///     let deploy = Tool::new("deploy").handler(move |cx: Context| deploy(cx, effects.clone()));
///     Server::new("ci", "1.0.0").add_tool(deploy)
/// })
/// .calling("deploy", json!({}))
/// .answering("Deploy build", json!({ "yes": true }))
/// .run();
///
/// assert_eq!(agreed.text(), "deployed build 1");
/// assert_eq!(agreed.count("build"), 1);
/// assert_eq!(agreed.skipped().len(), 2, "two revisions have no forms");
/// ```
pub struct BothEras<'m> {
    make: Box<Make<'m>>,
    plan: Scenario,
}

/// Makes a server, whose side effects are counted.
type Make<'m> = dyn Fn(SideEffects) -> Result<BoxService, String> + 'm;

/// The steps of the client, the same in every revision.
pub(crate) struct Scenario {
    method: String,
    params: Value,
    capabilities: ClientCapabilities,
    answers: Answers,
    timeout: Duration,
}

impl<'m> BothEras<'m> {
    /// Creates the request. `make` creates one server per revision, each with its own counts.
    pub fn new<S: IntoService>(make: impl Fn(SideEffects) -> S + 'm) -> Self {
        let make = move |effects| match make(effects).into_service() {
            Ok(service) => Ok(BoxService::new(service)),
            Err(error) => Err(error.to_string()),
        };
        Self {
            make: Box::new(make),
            plan: Scenario {
                method: CallTool::NAME.to_owned(),
                params: json!({}),
                capabilities: ClientCapabilities::default()
                    .with_form_elicitation()
                    .with_url_elicitation()
                    .with_sampling_tools()
                    .with_roots(),
                answers: Answers::default(),
                timeout: TIMEOUT,
            },
        }
    }

    /// Calls a tool.
    #[must_use]
    pub fn calling(self, tool: &str, arguments: Value) -> Self {
        self.requesting(
            CallTool::NAME,
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Gets a prompt.
    #[must_use]
    pub fn getting(self, prompt: &str, arguments: Value) -> Self {
        self.requesting(
            GetPrompt::NAME,
            json!({ "name": prompt, "arguments": arguments }),
        )
    }

    /// Reads a resource.
    #[must_use]
    pub fn reading(self, uri: &str) -> Self {
        self.requesting(ReadResource::NAME, json!({ "uri": uri }))
    }

    /// Makes any request; `params` is an object.
    #[must_use]
    pub fn requesting(mut self, method: &str, params: Value) -> Self {
        method.clone_into(&mut self.plan.method);
        self.plan.params = params;
        self
    }

    /// Sets the capabilities of the client; all by default.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.plan.capabilities = capabilities;
        self
    }

    /// Sets the timeout of the request in each revision; an hour of virtual time by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.plan.timeout = timeout;
        self
    }

    /// Accepts each elicitation whose message contains `part`, and fills in `content`.
    ///
    /// The first rule that fits a question answers it, as often as it is asked.
    #[must_use]
    pub fn answering(self, part: &str, content: Value) -> Self {
        self.on(answers::accepting(part, content))
    }

    /// Consents to each visit of a URL whose message contains `part`.
    #[must_use]
    pub fn consenting(self, part: &str) -> Self {
        self.on(answers::consenting(part))
    }

    /// Declines each elicitation whose message contains `part`.
    #[must_use]
    pub fn declining(self, part: &str) -> Self {
        self.on(answers::declining(part))
    }

    /// Cancels each elicitation whose message contains `part`.
    #[must_use]
    pub fn cancelling(self, part: &str) -> Self {
        self.on(answers::cancelling(part))
    }

    /// Answers each sampling request whose last message contains `part` with the model text `text`.
    #[must_use]
    pub fn sampling(self, part: &str, text: &str) -> Self {
        self.on(answers::sampling(part, text))
    }

    /// Sets the roots of the client.
    #[must_use]
    pub fn roots<'u>(self, uris: impl IntoIterator<Item = &'u str>) -> Self {
        let roots = uris.into_iter().map(Root::new).collect();
        self.on(answers::roots(roots))
    }

    /// Adds a rule that answers questions. It must be pure: every revision gets the same answers.
    #[must_use]
    pub fn on(
        mut self,
        rule: impl Fn(&InputRequest) -> Option<InputResponse> + Send + Sync + 'static,
    ) -> Self {
        self.plan.answers.add(rule);
        self
    }

    /// Makes the request in every revision that has the needed features, on its own runtime with
    /// virtual time.
    ///
    /// # Panics
    ///
    /// With the [`DisagreementError`], if there is one; and inside an asynchronous test, which has
    /// [`BothEras::play`].
    pub fn run(self) -> Agreement {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without I/O needs nothing of the system");
        match runtime.block_on(self.play()) {
            Ok(agreement) => agreement,
            Err(disagreement) => panic!("{disagreement}"),
        }
    }

    /// As [`BothEras::run`], on the current runtime: for a test under
    /// `#[tokio::test(start_paused = true)]`.
    ///
    /// # Errors
    ///
    /// [`DisagreementError`]: the revisions differ, or one could not be played to its end.
    pub async fn play(self) -> Result<Agreement, DisagreementError> {
        let reference = self.play_in(Revision::LATEST).await?;
        let mut agreement = Agreement::of(&reference);
        for revision in Revision::ALL.into_iter().rev().skip(1) {
            if let Some(lacks) = reference.unspeakable(revision, &self.plan) {
                agreement.skip(revision, lacks);
                continue;
            }
            let played = self.play_in(revision).await?;
            compare::compare(&reference, &played, &self.plan)?;
            agreement.add(&played);
        }
        Ok(agreement)
    }

    async fn play_in(&self, revision: Revision) -> Result<client::Played, DisagreementError> {
        let effects = SideEffects::default();
        let service = (self.make)(effects.clone()).map_err(DisagreementError::Start)?;
        client::play(Arc::new(service), revision, &self.plan, effects).await
    }
}

impl fmt::Debug for BothEras<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BothEras")
            .field("method", &self.plan.method)
            .field("params", &self.plan.params)
            .finish_non_exhaustive()
    }
}
