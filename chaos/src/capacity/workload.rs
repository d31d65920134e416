//! The traffic that a plan is for.

/// Servers, clients, and their requests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Workload {
    pub(super) servers: usize,
    /// Sessions that are open at a time.
    pub(super) sessions: usize,
    /// Calls of all sessions in a second.
    pub(super) calls: f64,
    /// Calls of 2026-07-28 in a second, which have no session.
    pub(super) modern: f64,
    /// Share of the calls in sessions that ask the client a question.
    pub(super) questions: f64,
    /// Mean time from the begin of a session to its end, in seconds.
    pub(super) lifetime: f64,
    /// Share of the sessions that their client ends with DELETE.
    pub(super) deletes: f64,
    /// Changes of lists and resources that servers announce in a second.
    pub(super) changes: f64,
    /// Whether the proxy sends all requests of a session to one server.
    pub(super) is_hashed: bool,
    /// Time of one operation as a server sees it, in seconds.
    pub(super) round_trip: f64,
    pub(super) seed: u64,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            servers: 3,
            sessions: 1_000,
            calls: 1_000.0,
            modern: 0.0,
            questions: 0.01,
            lifetime: 600.0,
            deletes: 1.0,
            changes: 0.0,
            is_hashed: false,
            round_trip: 0.000_3,
            seed: 1,
        }
    }
}

impl Workload {
    /// Reads the arguments: each name has a value.
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let mut workload = Self::default();
        let (pairs, rest) = words.as_chunks::<2>();
        for [word, value] in pairs {
            workload
                .set(word, value)
                .ok_or(format!("invalid argument {word} {value}"))?;
        }
        match rest.first() {
            Some(word) => Err(format!("{word} has no value")),
            None => Ok(workload),
        }
    }

    fn set(&mut self, word: &str, value: &str) -> Option<()> {
        match word {
            "--servers" => self.servers = count(value)?,
            "--sessions" => self.sessions = count(value)?,
            "--calls" => self.calls = number(value)?,
            "--modern" => self.modern = number(value)?,
            "--questions" => self.questions = percent(value)?,
            "--lifetime" => self.lifetime = number(value).filter(|it| *it >= 1.0)?,
            "--deletes" => self.deletes = percent(value)?,
            "--changes" => self.changes = number(value)?,
            "--route" => self.is_hashed = is_hashed(value)?,
            "--round-trip" => self.round_trip = number(value)? / 1e6,
            "--seed" => self.seed = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}

fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|it| (1..=10_000_000).contains(it))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|it| (0.0..=1e9).contains(it))
}

fn percent(text: &str) -> Option<f64> {
    let percent = number(text).filter(|it| *it <= 100.0)?;
    Some(percent / 100.0)
}

fn is_hashed(text: &str) -> Option<bool> {
    match text {
        "round-robin" => Some(false),
        "hash" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Workload, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        Workload::read(&words)
    }

    #[test]
    fn a_workload_is_read_from_arguments() {
        let workload = read("--servers 20 --questions 2 --route hash").expect("a workload");
        assert_eq!((workload.servers, workload.is_hashed), (20, true));
        assert!((workload.questions - 0.02).abs() < 1e-9);
    }

    #[test]
    fn invalid_arguments_of_a_workload_are_rejected() {
        for line in [
            "--servers 0",
            "--calls -1",
            "--questions 101",
            "--route x",
            "--lifetime 0",
            "--calls NaN",
            "--servers",
            "--x 1",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
