//! Job objects.
//!
//! The server is started suspended, put into a job, and resumed, so that its descendants are in the
//! job as well. The system kills the job when its last handle is closed. That also happens when the
//! host ends for any reason.

use std::io;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CommandWrapper, JobObject, KillOnDrop};
use tokio::process::Command;

use super::{SpawnPlan, Streams};

/// The program starts suspended, and runs when its thread is resumed.
const CREATE_SUSPENDED: u32 = 0x0000_0004;
/// A console program opens no window.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A server and its descendants.
#[derive(Debug)]
pub(crate) struct Group {
    job: Box<dyn ChildWrapper>,
}

/// Starts the program without a window. It must follow [`JobObject`], which overwrites the flags.
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
    /// arguments for `cmd.exe`, and rejects arguments that cannot be quoted.
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

    /// Returns the id of the server's process; 0 after its end.
    pub(crate) fn server_id(&self) -> u32 {
        self.job.id().unwrap_or_default()
    }

    /// Returns 0: a job has no number.
    pub(crate) fn id(&self) -> u32 {
        0
    }

    /// Waits for the server's process to end.
    ///
    /// # Cancellation
    ///
    /// A cancelled wait loses nothing and can be repeated.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.job.inner_mut().wait().await
    }

    /// Returns false: this system has no signal that reaches a program without a window or a shared
    /// console.
    pub(crate) fn terminate(&mut self) -> bool {
        false
    }

    /// Kills the processes that are left in the job.
    pub(crate) fn kill(&mut self) {
        // An error means that the job has ended already.
        let _ = self.job.start_kill();
    }

    /// Waits for the end of the killed job.
    pub(crate) async fn reap(&mut self) {
        // The status does not matter, and a failed wait has no remedy.
        let _ = self.job.wait().await;
    }
}

fn take_streams(server: &mut dyn ChildWrapper) -> Option<Streams> {
    Some(Streams {
        stdin: server.stdin().take()?,
        stdout: server.stdout().take()?,
        stderr: server.stderr().take(),
    })
}
