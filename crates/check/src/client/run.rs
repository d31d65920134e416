//! Makes the visits of a client, and judges them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use pintle_model::Revision;
use pintle_runtime::BoxFuture;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::check::ClientCheck;
use super::checks::client_checks;
use super::judge::judge;
use super::scene::{Play, Scene};
use super::stage::Stage;
use super::transport::{self, StdioServer};
use super::visitor::{ScriptedServer, Visitor};
use crate::level::Carrier;
use crate::options::CheckOptions;
use crate::report::Report;
use crate::run::CheckError;

/// Judges a client: it visits each scene once, and `check_timeout` is the time of one visit.
///
/// A client that fails in the plain scene of a revision does not speak it, and the other scenes of that
/// revision are not played.
///
/// # Errors
///
/// [`CheckError`] if no revision can be judged.
pub async fn check_client(visitor: &Visitor, options: CheckOptions) -> Result<Report, CheckError> {
    let chosen = chosen(&options)?;
    let server = match visitor.carrier {
        Carrier::Http => Some(ClientServer::bind(options.clone()).await?),
        Carrier::Stdio => None,
    };
    let stage = match &server {
        Some(server) => Arc::clone(&server.stage),
        None => Arc::new(Stage::new(options.clone())),
    };
    let address = server.as_ref().map(|server| server.address);
    let visits = make_visits(visitor, &stage, address, &chosen);
    match server {
        Some(server) => tokio::select! {
            () = transport::serve(server.listener, Arc::clone(&stage)) => {}
            () = visits => {}
        },
        None => visits.await,
    }
    judge(&stage.record, &options, visitor.carrier)
}

/// Returns the checks to make.
fn chosen(options: &CheckOptions) -> Result<Vec<&'static ClientCheck>, CheckError> {
    for id in &options.only {
        if client_checks().all(|check| check.id != id) {
            return Err(CheckError::UnknownCheck { id: id.clone() });
        }
    }
    let is_chosen = |check: &&ClientCheck| {
        options.only.is_empty() || options.only.iter().any(|id| id == check.id)
    };
    Ok(client_checks().filter(is_chosen).collect())
}

async fn make_visits(
    visitor: &Visitor,
    stage: &Arc<Stage>,
    address: Option<SocketAddr>,
    chosen: &[&ClientCheck],
) {
    let wanted = &stage.options.revisions;
    let is_wanted = |revision: &Revision| wanted.is_empty() || wanted.contains(revision);
    let carrier = visitor.carrier;
    let is_played =
        |revision: &Revision| is_wanted(revision) && Scene::Plain.suits(*revision, carrier);
    for revision in Revision::ALL.into_iter().filter(is_played) {
        for scene in scenes(revision, visitor.carrier, chosen) {
            let play = Play {
                scene,
                revision: Some(revision),
            };
            visit(visitor, stage, address, play).await;
            if scene == Scene::Plain && !stage.is_spoken(revision) {
                break;
            }
        }
    }
}

/// Returns the scenes of a revision that chosen checks need, the plain one first.
fn scenes(revision: Revision, carrier: Carrier, chosen: &[&ClientCheck]) -> Vec<Scene> {
    let is_needed = |scene: &Scene| {
        let mut checks = chosen.iter();
        *scene == Scene::Plain
            || checks.any(|check| {
                check.scene == Some(*scene) && check.level(revision, carrier).is_some()
            })
    };
    Scene::ALL
        .into_iter()
        .filter(|scene| scene.suits(revision, carrier) && is_needed(scene))
        .collect()
}

async fn visit(visitor: &Visitor, stage: &Arc<Stage>, address: Option<SocketAddr>, play: Play) {
    let number = stage.begin(play);
    let server = match address {
        Some(address) => ScriptedServer::Http(format!("http://{address}{}", play.path())),
        None => ScriptedServer::Stdio(StdioServer {
            stage: Arc::clone(stage),
            visit: number,
            play,
        }),
    };
    let visiting = timeout(stage.options.check_timeout, visitor.visit(server));
    let succeeded = visiting.await.unwrap_or(false);
    stage.record.end_visit(number, succeeded);
}

/// A scripted server over HTTP that waits for visits of any client.
#[derive(Debug)]
pub struct ClientServer {
    listener: TcpListener,
    address: SocketAddr,
    stage: Arc<Stage>,
}

impl ClientServer {
    /// Listens on a free port of the loopback, and plays every scene.
    ///
    /// # Errors
    ///
    /// [`CheckError`] if an id names no check, or the system has no free port.
    pub async fn bind(options: CheckOptions) -> Result<Self, CheckError> {
        chosen(&options)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(CheckError::Listen)?;
        Ok(Self {
            address: listener.local_addr().map_err(CheckError::Listen)?,
            listener,
            stage: Arc::new(Stage::new(options)),
        })
    }

    /// Returns the URL of a plain server of every revision.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns the URL of each scene, of the revisions to judge.
    pub fn scene_urls(&self) -> Vec<String> {
        let plays = self.plays().into_iter().skip(1);
        plays
            .map(|play| format!("http://{}{}", self.address, play.path()))
            .collect()
    }

    fn plays(&self) -> Vec<Play> {
        let wanted = &self.stage.options.revisions;
        let is_wanted = |revision: &Revision| wanted.is_empty() || wanted.contains(revision);
        let mut plays = vec![Play {
            scene: Scene::Plain,
            revision: None,
        }];
        let is_played = |revision: &Revision| {
            is_wanted(revision) && Scene::Plain.suits(*revision, Carrier::Http)
        };
        for revision in Revision::ALL.into_iter().filter(is_played) {
            let scenes = Scene::ALL.into_iter();
            let scenes = scenes.filter(|scene| scene.suits(revision, Carrier::Http));
            plays.extend(scenes.map(|scene| Play {
                scene,
                revision: Some(revision),
            }));
        }
        plays
    }

    /// Serves until `end` is complete, and judges all visits.
    ///
    /// # Errors
    ///
    /// [`CheckError`] if no client has visited.
    pub async fn serve(self, end: BoxFuture<'_, ()>) -> Result<Report, CheckError> {
        for play in self.plays() {
            self.stage.begin(play);
        }
        tokio::select! {
            () = transport::serve(self.listener, Arc::clone(&self.stage)) => {}
            () = end => {}
        }
        judge(&self.stage.record, &self.stage.options, Carrier::Http)
    }
}
