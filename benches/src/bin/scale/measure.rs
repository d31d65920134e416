//! One measurement: a server is started, warmed up and called for some time.

use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::LocalSet;

use pintle_bench::process::{Process, Result};

use crate::Command;
use crate::http::Connections;
use crate::pipe::Pipe;
use crate::row::{Row, Wire};

/// How much longer than its time a measurement may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Figures of one server in one round, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// CPU time of the server per request.
    pub(crate) cpu: f64,
    /// Latency of half of the requests at most.
    pub(crate) p50: f64,
    /// Latency of 99 percent of the requests at most. It is the most of fewer than 100 requests.
    pub(crate) p99: f64,
}

/// The load on a server.
enum Load {
    Http(Connections),
    Stdio(Box<Pipe>),
}

/// Measures a server once.
pub(crate) fn figures(command: &Command, row: Row, time: Duration) -> Result<Figures> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let limit = time + PATIENCE;
    LocalSet::new().block_on(&runtime, async {
        let measured = tokio::time::timeout(limit, measured(command, row, time)).await;
        measured.map_err(|_| format!("it took more than {limit:?}"))?
    })
}

async fn measured(command: &Command, row: Row, time: Duration) -> Result<Figures> {
    let (server, mut load) = Load::start(command, row).await?;
    // A fifth to warm up.
    load.run(time / 5).await?;
    let before = server.cpu()?;
    let times = load.run(time).await?;
    Ok(Figures::of(server.cpu()? - before, times))
}

impl Load {
    async fn start(command: &Command, row: Row) -> Result<(Process, Self)> {
        let settings = [row.settings(), command.words.clone()].concat();
        if row.wire == Wire::Stdio {
            let (server, input, output) = Process::on_pipes(&command.program, &settings)?;
            let pipe = Pipe::open(row, input, output).await?;
            return Ok((server, Self::Stdio(Box::new(pipe))));
        }
        let (server, address, _) = Process::on_http(&command.program, &settings)?;
        let connections = Connections::open(row, &address).await?;
        Ok((server, Self::Http(connections)))
    }

    async fn run(&mut self, time: Duration) -> Result<Vec<Duration>> {
        let end = Instant::now() + time;
        match self {
            Self::Http(connections) => connections.run(end).await,
            Self::Stdio(pipe) => pipe.run(end).await,
        }
    }
}

impl Figures {
    /// Of at least one request.
    fn of(cpu: Duration, mut times: Vec<Duration>) -> Self {
        times.sort();
        let at = |percent: usize| micros(times[(times.len() * percent / 100).min(times.len() - 1)]);
        Self {
            cpu: micros(cpu) / times.len() as f64,
            p50: at(50),
            p99: at(99),
        }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
