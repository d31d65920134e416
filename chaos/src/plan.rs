//! The arguments of the command line.

use std::time::Duration;

pub(crate) const USAGE: &str = "\
usage: chaos measure
       chaos capacity [--servers N] [--sessions N] [--calls N] [--modern N] [--questions PERCENT]
             [--lifetime SECONDS] [--deletes PERCENT] [--changes N]
             [--route round-robin|hash] [--round-trip MICROSECONDS] [--seed N]
       chaos capacity --check
       chaos [--store redis|postgres] [--seconds N] [--clients N] [--seed N] [--calls N]
             [--faults kill,pause,engine,proxy,roll] [--proxy haproxy|nginx|envoy]

  measure       print the costs of one to three servers, on Linux
  capacity      print the operations of the store, its CPU and its bytes; rates are those of a second.
                --check compares the plan with the operations of three servers
  --seconds N   end after this time; default 60
  --calls N     end after so many calls instead
  --faults LIST default: all. `roll` alone allows no error at all
  --proxy NAME  default: haproxy. Envoy is not reloaded";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// No shared state.
    Nothing,
    Sqlite,
    Redis,
    Postgres,
}

impl Engine {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Sqlite => "SQLite",
            Self::Redis => "Redis",
            Self::Postgres => "PostgreSQL",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9` of a server, and a start.
    Kill,
    /// SIGSTOP, and later SIGCONT.
    Pause,
    /// A restart of the store; Redis is also flushed.
    Engine,
    /// A reload of the proxy.
    Proxy,
    /// An update: SIGTERM and a start of each server in turn.
    Roll,
}

/// The proxy in front of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proxy {
    Haproxy,
    Nginx,
    Envoy,
}

const FAULTS: [(&str, Fault); 5] = [
    ("kill", Fault::Kill),
    ("pause", Fault::Pause),
    ("engine", Fault::Engine),
    ("proxy", Fault::Proxy),
    ("roll", Fault::Roll),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) engine: Engine,
    pub(crate) time: Duration,
    pub(crate) clients: u64,
    pub(crate) seed: u64,
    pub(crate) calls: Option<usize>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) proxy: Proxy,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            engine: Engine::Redis,
            time: Duration::from_secs(60),
            clients: 200,
            seed: 1,
            calls: None,
            faults: FAULTS.map(|(_, fault)| fault).to_vec(),
            proxy: Proxy::Haproxy,
        }
    }
}

impl Plan {
    /// Reads the arguments.
    pub(crate) fn read(words: &[String]) -> Result<Self, String> {
        let mut plan = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("{word} has no value"))?;
            plan.set(word, value)
                .ok_or(format!("invalid argument {word} {value}"))?;
        }
        if plan.proxy == Proxy::Envoy {
            // A signal does not make Envoy read its configuration again.
            plan.faults.retain(|&it| it != Fault::Proxy);
        }
        Ok(plan)
    }

    fn set(&mut self, word: &str, value: &str) -> Option<()> {
        match word {
            "--store" => self.engine = engine(value)?,
            "--seconds" => self.time = Duration::from_secs(value.parse().ok()?),
            "--clients" => self.clients = value.parse().ok()?,
            "--seed" => self.seed = value.parse().ok()?,
            "--calls" => self.calls = Some(value.parse().ok()?),
            "--faults" => self.faults = value.split(',').map(fault).collect::<Option<_>>()?,
            "--proxy" => self.proxy = proxy(value)?,
            _ => return None,
        }
        Some(())
    }

    /// Returns true if clients must not see an error: an update loses no call.
    pub(crate) fn allows_no_error(&self) -> bool {
        self.faults.iter().all(|&it| it == Fault::Roll)
    }
}

impl Plan {
    /// Returns true if clients of 2024-11-05 take part. The end of a server ends their sessions, so an update alone, which
    /// allows no error, is without them.
    pub(crate) fn has_oldest(&self) -> bool {
        !self.allows_no_error()
    }

    /// Returns true if no fault ends the stream of a call, so that its progress arrives at once.
    pub(crate) fn keeps_streams(&self) -> bool {
        let keeps = |it: &Fault| matches!(it, Fault::Proxy | Fault::Roll);
        self.faults.iter().all(keeps)
    }
}

fn engine(word: &str) -> Option<Engine> {
    match word {
        "redis" => Some(Engine::Redis),
        "postgres" => Some(Engine::Postgres),
        _ => None,
    }
}

fn proxy(word: &str) -> Option<Proxy> {
    match word {
        "haproxy" => Some(Proxy::Haproxy),
        "nginx" => Some(Proxy::Nginx),
        "envoy" => Some(Proxy::Envoy),
        _ => None,
    }
}

fn fault(word: &str) -> Option<Fault> {
    let found = FAULTS.iter().find(|(name, _)| *name == word);
    found.map(|&(_, fault)| fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Plan, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        Plan::read(&words)
    }

    #[test]
    fn an_update_alone_allows_no_error() {
        let plan = read("--store postgres --faults roll --calls 5").expect("a plan");
        assert_eq!((plan.engine, plan.calls), (Engine::Postgres, Some(5)));
        assert!(plan.allows_no_error());
        assert!(
            !read("--faults roll,kill")
                .expect("a plan")
                .allows_no_error()
        );
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for line in [
            "--store oracle",
            "--seconds",
            "--faults flood",
            "--x 1",
            "--proxy x",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn envoy_is_not_reloaded() {
        let reloads = |line| read(line).expect("a plan").faults.contains(&Fault::Proxy);
        assert!(reloads("--proxy nginx"));
        assert!(!reloads("--proxy envoy"));
    }
}
