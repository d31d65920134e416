//! Standard streams by their type: pipes and sockets without a thread, other files with one.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream as StdUnixStream;

use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::{StandardInput as Reader, StandardOutput as Writer, threads};

/// Takes standard input and output away from the rest of the process.
pub(super) fn take_streams() -> io::Result<(Reader, Writer)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((reader(input)?, writer(output)?))
}

fn reader(fd: OwnedFd) -> io::Result<Reader> {
    let file = File::from(fd);
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        Box::pin(pipe::Receiver::from_file(file)?)
    } else if kind.is_socket() {
        Box::pin(socket(file)?)
    } else {
        Box::pin(threads::Reader::new(file))
    })
}

fn writer(fd: OwnedFd) -> io::Result<Writer> {
    let file = File::from(fd);
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        pipe_writer(pipe::Sender::from_file(file)?)
    } else if kind.is_socket() {
        Box::pin(socket(file)?)
    } else {
        Box::pin(threads::Writer::new(file))
    })
}

#[cfg(target_os = "linux")]
fn pipe_writer(sender: pipe::Sender) -> Writer {
    Box::pin(super::pipe_writer::PipeWriter::new(sender))
}

#[cfg(not(target_os = "linux"))]
fn pipe_writer(sender: pipe::Sender) -> Writer {
    Box::pin(sender)
}

fn socket(file: File) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(OwnedFd::from(file));
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
