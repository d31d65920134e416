//! Process groups.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use super::keeper::Keeper;
use super::{SpawnPlan, Streams};

/// A server and its descendants, except those that moved to a group or session of their own.
#[derive(Debug)]
pub(crate) struct Group {
    server: Child,
    id: Pid,
    keeper: Option<Keeper>,
    is_over: bool,
}

impl Group {
    /// Starts the server in a group of its own.
    pub(crate) fn start(plan: &SpawnPlan) -> io::Result<(Self, Streams)> {
        let keeper = start_keeper()?;
        let keeper_id = keeper.as_ref().and_then(Keeper::id);
        let group = raw(keeper_id.unwrap_or_default())?;
        // If this fails, the keeper is dropped. Its pipe ends, so the keeper ends as well.
        let mut server = plan.command().process_group(group).spawn()?;
        let streams = take_streams(&mut server).ok_or(io::ErrorKind::BrokenPipe)?;
        let id = raw(keeper_id.or(server.id()).unwrap_or_default())?;
        let group = Self {
            server,
            id: Pid::from_raw(id).ok_or(io::ErrorKind::NotFound)?,
            keeper,
            is_over: false,
        };
        Ok((group, streams))
    }

    /// Returns the id of the server's process; 0 after its end.
    pub(crate) fn server_id(&self) -> u32 {
        self.server.id().unwrap_or_default()
    }

    /// Returns the number of the group.
    pub(crate) fn id(&self) -> u32 {
        self.id.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for the server's process to end.
    ///
    /// # Cancellation
    ///
    /// A cancelled wait loses nothing and can be repeated.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.server.wait().await
    }

    /// Asks every process of the group to end (`SIGTERM`). Returns true: this system supports it.
    pub(crate) fn terminate(&mut self) -> bool {
        self.signal(Signal::TERM);
        true
    }

    /// Kills the processes that are left in the group.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Waits for the keeper, the host's other child in the killed group.
    pub(crate) async fn reap(&mut self) {
        self.is_over = true;
        if let Some(keeper) = &mut self.keeper {
            keeper.reap().await;
        }
    }

    fn signal(&self, signal: Signal) {
        // An error means that the group has ended already.
        let _ = kill_process_group(self.id, signal);
    }
}

/// Drops a group without supervision, for example after the end of the runtime. The keeper's pipe
/// ends, so the keeper ends the group. Without a keeper, the group is killed here.
impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over && self.keeper.is_none() {
            self.kill();
        }
    }
}

/// Starts a keeper. On a system without a shell it logs a warning and returns `None`.
fn start_keeper() -> io::Result<Option<Keeper>> {
    match Keeper::start() {
        Ok(keeper) => Ok(Some(keeper)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            tracing::warn!("without /bin/sh a server may outlive a host that is killed");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn raw(id: u32) -> io::Result<i32> {
    i32::try_from(id).map_err(io::Error::other)
}

fn take_streams(server: &mut Child) -> Option<Streams> {
    Some(Streams {
        stdin: server.stdin.take()?,
        stdout: server.stdout.take()?,
        stderr: server.stderr.take(),
    })
}
