//! The future of a pipe: it reads, handles the lines, and writes the answers at once.

use std::io;
use std::task::{Context as TaskContext, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use pintle_proto::frame::{Line, Lines};
use pintle_proto::{IncomingRequest, Ticket};

use super::incoming::poll_read;
use super::intake::{AfterOutput, Intake};
use super::outgoing::Outgoing;
use super::timer::Timer;
use super::{PipeEnd, PipeOptions};
use crate::future::deadline_after;
use crate::service::Service;
use crate::shutdown::ShutdownWait;

/// Lines of one peer after which others get their turn: handlers that need not wait run right here.
const FAIR_LINES: usize = 16;
/// Turns of one poll after which others get theirs.
const FAIR_TURNS: usize = 16;

/// Drives one pipe, in turns of one read and one write. Both get a turn: otherwise a handler that
/// always sends would keep its cancellation from being read.
pub(super) struct Driver<R, W, S, M, F> {
    reader: R,
    lines: Lines,
    intake: Intake<S, M, F>,
    outgoing: Outgoing<W>,
    timer: Timer,
    /// `None` once it began.
    shutdown: Option<ShutdownWait>,
    drain: Option<Drain>,
    after_output: AfterOutput,
    /// Whether the engine may have events or messages.
    has_changed: bool,
    stalled_at: Option<Instant>,
    options: PipeOptions,
}

/// The last phase: nothing is read, and open requests are answered until `cut`.
struct Drain {
    end: PipeEnd,
    cut: Instant,
}

/// Result of one turn.
enum Turn {
    /// Nothing: reader, writer and engine are waited for.
    Idle,
    Moved,
    /// So much that others get their turn.
    MovedMuch,
}

/// A deadline of a pipe.
#[derive(Clone, Copy)]
enum Due {
    Engine,
    Write,
    Cut,
}

impl<R, W, S, M, F> Driver<R, W, S, M, F>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    S: Service,
    M: Fn(Ticket, Box<IncomingRequest>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(reader: R, writer: W, intake: Intake<S, M, F>, options: PipeOptions) -> Self {
        Self {
            reader,
            lines: Lines::new(options.max_line_bytes),
            intake,
            outgoing: Outgoing::new(writer),
            timer: Timer::default(),
            shutdown: Some(options.shutdown.clone().wait()),
            drain: None,
            after_output: AfterOutput::default(),
            has_changed: true,
            stalled_at: None,
            options,
        }
    }

    /// Drives the pipe to its end.
    pub(super) fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<PipeEnd>> {
        self.poll_shutdown(cx);
        // The engine may have woken this future.
        self.has_changed = true;
        for _ in 0..FAIR_TURNS {
            let turn = self.turn(cx)?;
            if let Some(end) = self.end() {
                return Poll::Ready(Ok(end));
            }
            match turn {
                Turn::Moved => {}
                Turn::MovedMuch => break,
                Turn::Idle => {
                    if let Some(end) = ready!(self.poll_deadlines(cx)) {
                        return Poll::Ready(Ok(end));
                    }
                }
            }
        }
        if let Poll::Ready(Some(end)) = self.poll_deadlines(cx) {
            return Poll::Ready(Ok(end));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads once, handles the lines of the read, and writes once.
    fn turn(&mut self, cx: &mut TaskContext<'_>) -> io::Result<Turn> {
        let lines = self.read(cx)?;
        let mut has_moved = lines.is_some();
        if has_moved || self.has_changed {
            has_moved |= self.intake.take_held(&mut self.outgoing);
            self.collect_output(cx);
        }
        has_moved |= self.write(cx)?;
        Ok(match lines {
            Some(lines) if lines > FAIR_LINES => Turn::MovedMuch,
            _ if has_moved => Turn::Moved,
            _ => Turn::Idle,
        })
    }

    /// Handles the lines of one read. Returns how many there were; `None` without a read.
    fn read(&mut self, cx: &mut TaskContext<'_>) -> io::Result<Option<usize>> {
        if self.drain.is_some() || !self.has_room() {
            return Ok(None);
        }
        let Poll::Ready(read) = poll_read(&mut self.reader, &mut self.lines, cx) else {
            return Ok(None);
        };
        if read? == 0 {
            self.begin_drain(PipeEnd::EndOfInput);
            return Ok(Some(0));
        }
        let now = Instant::now().into_std();
        let mut taken = 0;
        while let Some(line) = self.lines.next_line() {
            self.intake.take(now, line, &mut self.outgoing);
            taken += 1;
        }
        Ok(Some(taken))
    }

    fn has_room(&self) -> bool {
        self.outgoing.len() < self.options.max_unsent_bytes && self.intake.has_room()
    }

    /// Moves messages from the engine into the output.
    fn collect_output(&mut self, cx: &TaskContext<'_>) {
        self.after_output = self.intake.collect_output(cx.waker(), &mut self.outgoing);
        self.has_changed = self.after_output.has_more;
    }

    /// Writes once, without a timer. Returns true if the writer took bytes.
    fn write(&mut self, cx: &mut TaskContext<'_>) -> io::Result<bool> {
        if self.outgoing.is_empty() {
            return Ok(false);
        }
        if self.outgoing.poll_write(cx)?.is_ready() {
            self.stalled_at = None;
            return Ok(true);
        }
        self.stalled_at.get_or_insert_with(Instant::now);
        self.intake.wait_for_writer();
        Ok(false)
    }

    /// The end of the pipe, once it has come.
    fn end(&self) -> Option<PipeEnd> {
        let Some(drain) = &self.drain else {
            return self
                .intake
                .is_abandoned()
                .then_some(PipeEnd::OpeningTimedOut);
        };
        let is_pending = self.after_output.is_answering
            || self.after_output.has_more
            || self.intake.is_holding()
            || !self.outgoing.is_empty();
        (!is_pending).then_some(drain.end)
    }

    /// Answers the open requests without reading more, within the drain timeout.
    fn begin_drain(&mut self, end: PipeEnd) {
        let now = Instant::now();
        let cut = deadline_after(now, self.options.drain_timeout);
        self.drain = Some(Drain { end, cut });
        // The last line may lack its end at the end of input. After a shutdown such a line is
        // incomplete.
        if end == PipeEnd::EndOfInput
            && let Some(line @ Line::Text(_)) = self.lines.finish()
        {
            self.intake.take(now.into_std(), line, &mut self.outgoing);
        }
        self.intake.close_input();
    }

    fn poll_shutdown(&mut self, cx: &mut TaskContext<'_>) {
        if let Some(shutdown) = &mut self.shutdown
            && self.drain.is_none()
            && shutdown.poll(cx).is_ready()
        {
            self.shutdown = None;
            self.begin_drain(PipeEnd::Shutdown);
        }
    }

    /// Waits for the first deadline. Returns the end of the pipe if it was the last one.
    fn poll_deadlines(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<PipeEnd>> {
        let Some((at, due)) = self.first_deadline() else {
            return Poll::Pending;
        };
        ready!(self.timer.poll(cx, at));
        Poll::Ready(match due {
            Due::Write => Some(PipeEnd::WriteTimedOut),
            Due::Cut => self.drain.as_ref().map(Drain::end_of_cut),
            Due::Engine => {
                self.intake.pass_time();
                self.has_changed = true;
                None
            }
        })
    }

    fn first_deadline(&self) -> Option<(Instant, Due)> {
        let engine = self.after_output.deadline.map(Instant::from_std);
        let stall = self
            .stalled_at
            .map(|at| deadline_after(at, self.options.write_timeout));
        let cut = self.drain.as_ref().map(|drain| drain.cut);
        let all = [(engine, Due::Engine), (stall, Due::Write), (cut, Due::Cut)];
        let waits = all.into_iter().filter_map(|(at, due)| Some((at?, due)));
        waits.min_by_key(|(at, _)| *at)
    }
}

impl Drain {
    /// The end of a pipe whose handlers were cut off.
    fn end_of_cut(&self) -> PipeEnd {
        match self.end {
            PipeEnd::EndOfInput => PipeEnd::Cut,
            end => end,
        }
    }
}
