//! Runs the checks against a server.

use std::sync::Arc;

use pintle_http::client::UrlError;
use pintle_model::Revision;
use tokio::time::timeout;

use crate::check::Check;
use crate::checks::checks;
use crate::finding::{Finding, Stop, Verdict, observed};
use crate::options::CheckOptions;
use crate::peer::{OpeningError, Peer};
use crate::report::{Report, Side};
use crate::target::{OpenError, Target};
use crate::text::clip;

/// The reason why a server cannot be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The URL is invalid.
    #[error("invalid URL")]
    Url(#[from] UrlError),
    /// The server cannot be reached.
    #[error("the server cannot be reached")]
    Unreachable(#[from] OpenError),
    /// No address can be listened on.
    #[error("no loopback address can be listened on")]
    Listen(#[source] std::io::Error),
    /// The client has spoken no revision to the scripted server.
    #[error("the client has spoken none of the revisions")]
    NoVisit,
    /// The server serves none of the revisions.
    #[error("the server serves none of the revisions: {reasons}")]
    NoRevision {
        /// The reason for each revision.
        reasons: String,
    },
    /// An id names no check.
    #[error("unknown check {id:?}")]
    UnknownCheck {
        /// The id that names no check.
        id: String,
    },
}

/// Judges a server in each revision that it serves.
///
/// No tool is called unless its annotations state that it is read-only, or the options allow it.
///
/// # Errors
///
/// [`CheckError`] if no revision can be judged.
pub async fn check(target: &Target, options: CheckOptions) -> Result<Report, CheckError> {
    if let Some(id) = options.only.iter().find(|id| unknown(id)) {
        return Err(CheckError::UnknownCheck { id: id.clone() });
    }
    let options = Arc::new(options);
    let mut report = Report::new(Side::Server, target.carrier());
    for revision in wanted(&options) {
        judge(target, &options, revision, &mut report).await?;
    }
    match report.revisions.is_empty() {
        true => Err(CheckError::NoRevision {
            reasons: reasons(&report),
        }),
        false => Ok(report),
    }
}

fn unknown(id: &str) -> bool {
    checks().all(|check| check.id != id)
}

fn wanted(options: &CheckOptions) -> Vec<Revision> {
    let is_wanted =
        |revision: &Revision| options.revisions.is_empty() || options.revisions.contains(revision);
    Revision::ALL.into_iter().filter(is_wanted).collect()
}

fn reasons(report: &Report) -> String {
    let reasons = report.not_served.iter();
    let reasons: Vec<String> = reasons
        .map(|(revision, reason)| format!("{revision}: {reason}"))
        .collect();
    reasons.join("; ")
}

async fn judge(
    target: &Target,
    options: &Arc<CheckOptions>,
    revision: Revision,
    report: &mut Report,
) -> Result<(), CheckError> {
    let mut peer = Peer::connect(target, options, revision).await?;
    let opening = match peer.open().await {
        Ok(opening) => opening,
        Err(OpeningError(reason)) => {
            report.not_served.push((revision, reason));
            peer.close().await;
            return Ok(());
        }
    };
    let survey = peer.survey(opening).await;
    if let Some(name) = server_name(&survey.opening) {
        report.name = name;
    }
    peer.survey = Arc::new(survey);
    report.revisions.push(revision);
    for check in checks() {
        if applies(check, &peer, options) {
            report.findings.push(make(check, &mut peer).await);
        }
    }
    peer.close().await;
    Ok(())
}

fn applies(check: &Check, peer: &Peer, options: &CheckOptions) -> bool {
    let level = check.level(peer.revision, peer.carrier());
    let is_named = options.only.is_empty() || options.only.iter().any(|id| id == check.id);
    is_named && level.is_some_and(|level| level <= options.level)
}

async fn make(check: &'static Check, peer: &mut Peer) -> Finding {
    peer.log().take_evidence();
    let judgement = match reopened(peer).await {
        Ok(()) => {
            let limit = peer.options.check_timeout;
            let made = timeout(limit, (check.run)(peer)).await;
            made.unwrap_or_else(|_| Err(observed("the check was not complete in time")))
        }
        Err(stop) => Err(stop),
    };
    finding(check, peer, judgement)
}

/// Opens another conversation if the last check has ended this one.
async fn reopened(peer: &mut Peer) -> Result<(), Stop> {
    match peer.is_lost() {
        true => peer.reopen().await,
        false => Ok(()),
    }
}

fn finding(check: &'static Check, peer: &Peer, judgement: Result<(), Stop>) -> Finding {
    let (revision, carrier) = (peer.revision, peer.carrier());
    let (last_sent, last_came) = peer.log().take_evidence();
    let (verdict, sent, came) = match judgement {
        Ok(()) => (Verdict::Passed, None, None),
        Err(Stop::Skipped(reason)) => (
            Verdict::Skipped {
                reason: clip(&reason),
            },
            None,
            None,
        ),
        Err(Stop::Failed { came, sent }) => {
            let came = came.map(|came| clip(&came)).or(last_came);
            let sent = sent.map(|sent| clip(&sent)).or(last_sent);
            (Verdict::Failed, sent, came)
        }
    };
    Finding {
        check: check.id,
        revision,
        carrier,
        level: check
            .level(revision, carrier)
            .unwrap_or(crate::Level::Robust),
        requirements: check.requirements(revision, carrier),
        verdict,
        sent,
        came,
        expected: check.expects,
        page: check.page,
    }
}

fn server_name(opening: &serde_json::Value) -> Option<String> {
    let info = opening.get("serverInfo").or_else(|| {
        let meta = opening.get("_meta")?;
        meta.get("io.modelcontextprotocol/serverInfo")
    })?;
    let text = |name: &str| info.get(name).and_then(serde_json::Value::as_str);
    Some(clip(&format!("{} {}", text("name")?, text("version")?)))
}
