//! A second server, mounted in the showcase under `weather_`, with a state of its own.

use pintle::prelude::*;

/// The weather office, a server that could also run alone.
pub(super) fn server() -> Server {
    Server::new("weather-office", env!("CARGO_PKG_VERSION"))
        .state(Outlook {
            by_day: ["fog, clearing", "moderate breeze", "gale later"],
        })
        .tool::<forecast>()
}

/// The forecasts of the weather office, day by day.
struct Outlook {
    by_day: [&'static str; 3],
}

/// Forecasts the weather of a day.
#[tool(title = "Weather forecast", read_only, open_world)]
async fn forecast(
    /// 0 is today.
    #[arg(default, min = 0, max = 2)]
    day: usize,
    outlook: State<Outlook>,
) -> Result<&'static str, String> {
    outlook
        .by_day
        .get(day)
        .copied()
        .ok_or_else(|| format!("there is no forecast for day {day}"))
}
