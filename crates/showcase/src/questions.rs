//! Questions to the client in the middle of a call: a form, a visit to a URL, a message of the
//! client's model, its directories. The same lines serve every revision.

use pintle::model::{CreateMessageParams, SamplingMessage};
use pintle::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::harbour::{BERTHS, Harbour};

/// Where a vessel may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Berth {
    Breakwater,
    FishQuay,
    GrainPier,
    OldDock,
}

/// The decision of the harbour master: the fields of a form.
#[derive(Debug, Deserialize, JsonSchema)]
struct Allotment {
    /// Where she lies.
    berth: Berth,
    /// For how many hours.
    #[schemars(range(min = 1, max = 72))]
    hours: u32,
    /// Whether she is given power from the shore.
    #[serde(default)]
    shore_power: bool,
}

impl Berth {
    fn name(self) -> &'static str {
        BERTHS[self as usize]
    }
}

/// Gives a vessel a berth. The harbour master is asked which, by a form.
#[tool(title = "Allot a berth", destructive = false)]
pub(super) async fn allot_berth(
    /// The vessel's call sign.
    call_sign: String,
    ctx: Context,
) -> Result<String> {
    let question = format!("Where does {call_sign} lie, and for how long?");
    Ok(match ctx.elicit::<Allotment>(question).await? {
        Answer::Accepted(allotted) => format!(
            "{call_sign} lies at {} for {} hours{}",
            allotted.berth.name(),
            allotted.hours,
            if allotted.shore_power {
                ", with power"
            } else {
                ""
            },
        ),
        Answer::Declined => format!("{call_sign} gets no berth"),
        Answer::Cancelled => format!("nobody has decided about {call_sign}"),
    })
}

/// Where the conditions of pilotage are signed.
const CONDITIONS: &str = "https://harbour.example/conditions";

/// Lets a vessel's master sign the conditions of pilotage, at a URL and not by a form: the
/// client must not see the signature.
#[tool(title = "Sign the conditions", destructive = false)]
pub(super) async fn sign_conditions(ctx: Context) -> Result<String> {
    let answer = ctx
        .elicit_url(
            "The master signs the conditions of pilotage there.",
            CONDITIONS,
        )
        .await?;
    Ok(match answer {
        Answer::Accepted(()) => "the master is on the way to sign".into(),
        Answer::Declined | Answer::Cancelled => "the conditions are not signed".into(),
    })
}

/// Has a report put into a few words for the radio, by the client's model.
#[tool(title = "Phrase a report", read_only)]
pub(super) async fn phrase_report(
    /// The events to report.
    #[arg(min_len = 1, max_len = 2000)]
    report: String,
    ctx: Context,
) -> Result<String> {
    phrased(
        &ctx,
        format!("Put into one sentence for the radio: {report}"),
    )
    .await
}

async fn phrased(ctx: &Context, text: String) -> Result<String> {
    let params = CreateMessageParams::new(vec![SamplingMessage::user(text)], 200);
    let message = ctx.sample(params).await?;
    let blocks = message.content.blocks();
    let text = blocks.first().and_then(ContentBlock::as_text);
    Ok(text.ok_or("the model has returned no text")?.to_owned())
}

/// Lists the chart folders on board: the directories the client lets servers work in.
#[tool(title = "Chart folders", read_only)]
pub(super) async fn chart_folders(ctx: Context) -> Result<Json<Vec<String>>> {
    let roots = ctx.list_roots().await?;
    let name = |root: pintle::model::Root| root.name.unwrap_or(root.uri);
    Ok(Json(roots.into_iter().map(name).collect()))
}

/// Clears a vessel for sea: the departure is logged once, the harbour master decides, and the
/// client's model words the clearance. Two rounds of questions in revisions that ask in rounds.
#[tool(title = "Clear for sea", destructive = false)]
pub(super) async fn clear_for_sea(
    /// The vessel's call sign.
    call_sign: String,
    harbour: State<Harbour>,
    ctx: Context,
) -> Result<String> {
    // Without `once` a retry would log the departure again.
    let log = harbour.clone();
    let number = ctx
        .once("departure", async move { log.log_movement() })
        .await;
    let question = format!("Movement {number}: may {call_sign} leave?");
    let Answer::Accepted(decision) = ctx.elicit::<Decision>(question).await? else {
        return Ok(format!("{call_sign} stays"));
    };
    if !decision.may_leave {
        return Ok(format!("{call_sign} stays: {}", decision.remark));
    }
    let clearance = phrased(
        &ctx,
        format!("Clear {call_sign} for sea: {}", decision.remark),
    )
    .await?;
    Ok(format!("{number}: {clearance}"))
}

/// The harbour master's decision.
#[derive(Debug, Deserialize, JsonSchema)]
struct Decision {
    /// Whether she may leave.
    may_leave: bool,
    /// A remark for the master of the vessel.
    #[serde(default)]
    remark: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_berths_of_the_form_are_those_of_the_harbour() {
        for name in BERTHS {
            let berth: Berth = serde_json::from_value(name.into()).expect("a berth");
            assert_eq!(berth.name(), name);
        }
    }
}
