//! The showcase: a pilot's desk in a small harbour, with one example of every feature of a server.
//!
//! | feature | where |
//! |---|---|
//! | typed arguments, constraints, structured output, annotations, icon | `clearance.rs` |
//! | lists as structured output, an `Err` for the model, an argument repeated in a header | `register.rs` |
//! | images, a function that blocks, plain numbers | `tide.rs` |
//! | audio | `signals.rs` |
//! | text with annotations, an embedded resource, a link to a resource | `notices.rs` |
//! | progress, a time limit, cancellation | `boarding.rs` |
//! | questions: forms, URLs, the client's model, its directories; work that is not repeated | `questions.rs` |
//! | a task: work that continues after the answer to its call, and asks questions | `survey.rs` |
//! | log messages, and `tracing` events as log messages | `radio.rs` |
//! | tools that are added and removed while the server runs | `tugs.rs` |
//! | text, binary, templates with completion, a resource that changes | `papers.rs` |
//! | prompts with completion, embedded resources and images | `briefings.rs` |
//! | another server under a prefix | `weather.rs` |
//! | typed layers | `audit.rs` |

mod audit;
mod boarding;
mod briefings;
mod clearance;
mod harbour;
mod icons;
mod notices;
mod options;
mod paint;
mod papers;
mod questions;
mod radio;
mod register;
mod signals;
mod survey;
mod tide;
mod tugs;
mod weather;

use std::time::Duration;

use pintle::prelude::*;
use pintle::runtime::layers::{TimeoutLayer, TraceLayer};

use harbour::Harbour;
pub use options::{ShowcaseError, ShowcaseOptions, service};
pub use radio::log_events;

/// The name of the showcase, here and in the configuration of hosts.
pub const NAME: &str = "pintle-showcase";

/// Longest time for any request.
const CEILING: Duration = Duration::from_secs(120);

const INSTRUCTIONS: &str = "The desk of a harbour pilot. Look a vessel up before you plan for it: \
    everything else asks for its call sign. Depths and heights are metres, speeds knots, times hours \
    after high water. The harbour is invented: do not navigate by it.";

/// Describes the server.
fn server() -> Server {
    Server::new(NAME, env!("CARGO_PKG_VERSION"))
        .title("Pilot's desk")
        .description("A small harbour with an example of every feature of a server.")
        .icon(icons::anchor())
        .instructions(INSTRUCTIONS)
        .state(Harbour::open())
        .tools::<(
            clearance::under_keel,
            register::vessels,
            register::berth,
            register::hail,
        )>()
        .tools::<(tide::height_of_tide, tide::tide_curve, tide::highest_tide)>()
        .tools::<(
            signals::sound_signal,
            notices::notice,
            boarding::board,
            radio::watch,
        )>()
        .tools::<(tugs::hire_tug, tugs::release_tug, papers::log_movement)>()
        .tools::<(
            questions::allot_berth,
            questions::sign_conditions,
            questions::phrase_report,
            questions::chart_folders,
            questions::clear_for_sea,
        )>()
        .tool::<survey::survey>()
        .add_resource(papers::guide())
        .add_resource(papers::chart())
        .resources::<(papers::vessel, papers::movements)>()
        .prompts::<(briefings::passage_plan, briefings::tide_briefing)>()
        .mount("weather", weather::server())
        .logging()
        .resource_updates()
        .on_tool_call(audit::call)
        .on_resource_read(audit::read)
        .on_prompt_get(audit::get)
        .layer(TraceLayer)
        .layer(TimeoutLayer::new(CEILING))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_showcase_is_described_without_a_fault() {
        super::server().build().expect("starts");
    }
}
