//! Job objects.
//!
//! The server is started suspended, put into a job, and only then let run, so that whatever it starts
//! is in the job as well. The job is killed by the system when its last handle is closed, which is
//! what happens when the host ends, however it ends.

use std::io;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CommandWrapper, JobObject, KillOnDrop};
use tokio::process::Command;

use super::{SpawnPlan, Streams};

/// The program runs only when it is told to.
const CREATE_SUSPENDED: u32 = 0x0000_0004;
/// A console program opens no window.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A server and whatever it started.
#[derive(Debug)]
pub(crate) struct Group {
    job: Box<dyn ChildWrapper>,
}

/// Starts without a window. Comes after [`JobObject`], which sets its flags without asking for ours.
#[derive(Debug)]
struct NoWindow;

impl CommandWrapper for NoWindow {
    fn pre_spawn(&mut self, command: &mut Command, _: &CommandWrap) -> io::Result<()> {
        command.creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW);
        Ok(())
    }
}

impl Group {
    /// Starts the server in a job of its own. For a batch file the standard library quotes the
    /// arguments for `cmd.exe`, and refuses those that cannot be quoted.
    pub(crate) fn start(plan: &SpawnPlan) -> io::Result<(Self, Streams)> {
        let mut command = CommandWrap::from(plan.command());
        let mut job = command
            .wrap(KillOnDrop)
            .wrap(JobObject)
            .wrap(NoWindow)
            .spawn()?;
        let streams = take_streams(job.as_mut()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((Self { job }, streams))
    }

    /// The id of the server's process; 0 when it is over.
    pub(crate) fn server_id(&self) -> u32 {
        self.job.id().unwrap_or_default()
    }

    /// Waits for the server's process to end.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.job.inner_mut().wait().await
    }

    /// Asks every process of the job to end; false if that is not possible here. It is not: no signal
    /// of this system reaches a program without a window or a console of ours.
    pub(crate) fn terminate(&mut self) -> bool {
        false
    }

    /// Kills whatever is left of the job.
    pub(crate) fn kill(&mut self) {
        // Whoever is gone already need not be killed.
        let _ = self.job.start_kill();
    }

    /// Waits for the job, which has been killed.
    pub(crate) async fn reap(&mut self) {
        // Nothing hangs on how it ended, and nothing can be done if that cannot be learned.
        let _ = self.job.wait().await;
    }
}

fn take_streams(server: &mut dyn ChildWrapper) -> Option<Streams> {
    Some(Streams {
        stdin: server.stdin().take()?,
        stdout: server.stdout().take()?,
        stderr: server.stderr().take()?,
    })
}
