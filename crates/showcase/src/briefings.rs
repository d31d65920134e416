//! Prompts: with completion that reads other arguments, an embedded resource, and an image.

use pintle::model::ResourceContents;
use pintle::prelude::*;
use pintle::server::OtherArguments;
use serde_json::json;

use super::harbour::{BERTHS, Harbour, Vessel};
use super::papers::call_signs;
use super::tide;

/// Plans a vessel's way to her berth.
#[prompt(title = "Passage plan", complete(call_sign = call_signs, berth = berths))]
pub(super) async fn passage_plan(
    /// The vessel's call sign.
    call_sign: String,
    /// Where she goes.
    berth: String,
    /// When she is at the breakwater, in hours after high water.
    #[arg(default = 0.0)]
    hours: f64,
    harbour: State<Harbour>,
) -> Vec<PromptMessage> {
    let ask = format!(
        "Plan the passage of {call_sign} to {berth}, {hours} hours after high water, when the tide is {:.1} m. \
         Check the clearance below her keel.",
        tide::height_at(hours),
    );
    let mut messages = vec![PromptMessage::user(ContentBlock::text(ask))];
    messages.extend(harbour.vessel(&call_sign).map(particulars));
    messages
}

/// Returns the entry of a vessel in the register, as an embedded resource.
fn particulars(vessel: &Vessel) -> PromptMessage {
    let uri = format!("harbour://vessels/{}", vessel.call_sign);
    let contents = ResourceContents::text(uri, json!(vessel).to_string());
    PromptMessage::user(ContentBlock::resource(
        contents.with_mime_type("application/json"),
    ))
}

/// Completes the name of a berth, without the berth where the vessel lies already.
fn berths(typed: String, given: OtherArguments, harbour: State<Harbour>) -> Vec<&'static str> {
    let here = given
        .get("call_sign")
        .and_then(|call_sign| harbour.vessel(call_sign)?.berth.clone());
    let is_fit = |berth: &&str| berth.starts_with(&typed) && here.as_deref() != Some(*berth);
    BERTHS.into_iter().filter(is_fit).collect()
}

/// Explains the tide of the day.
#[prompt(title = "Tide briefing")]
pub(super) async fn tide_briefing() -> [PromptMessage; 3] {
    [
        PromptMessage::user(ContentBlock::image(tide::curve(24), "image/png")),
        PromptMessage::assistant(ContentBlock::text(
            "This is the tide of the day above chart datum.",
        )),
        PromptMessage::user(ContentBlock::text(
            "When can a vessel of 6.8 m draught pass a bar of 5 m?",
        )),
    ]
}
