//! A response body that follows a plan: pieces, pauses, signs of life, and a broken end.

use std::{
    collections::VecDeque,
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use crate::{
    plan::{BEAT, Cut, Part, Reply},
    socket::Fate,
    timing,
};

/// The body of one answer.
#[derive(Debug)]
pub(crate) struct PlannedBody {
    parts: VecDeque<Part>,
    length: Option<u64>,
    waiting: Option<Pin<Box<Sleep>>>,
    /// Whether the last piece still has to leave the server's buffer.
    flush: bool,
    fate: Fate,
}

impl PlannedBody {
    pub(crate) fn new(reply: &mut Reply, fate: Fate) -> Self {
        let parts = std::mem::take(&mut reply.parts);
        Self {
            parts,
            length: reply.length,
            waiting: None,
            flush: false,
            fate,
        }
    }

    /// A body without surprises.
    pub(crate) fn plain(bytes: Bytes, fate: Fate) -> Self {
        let length = u64::try_from(bytes.len()).ok();
        let parts = if bytes.is_empty() {
            VecDeque::new()
        } else {
            VecDeque::from([Part::Data(bytes)])
        };
        Self {
            parts,
            length,
            waiting: None,
            flush: false,
            fate,
        }
    }

    fn wait(&mut self, wait: Duration) {
        self.waiting = Some(Box::pin(timing::sleep(wait)));
    }
}

impl Body for PlannedBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            // The server writes out what it has whenever a body is not ready. Saying so once after
            // each piece makes each piece a write of its own, and nothing is lost before a reset.
            if std::mem::take(&mut self.flush) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Some(sleep) = &mut self.waiting {
                std::task::ready!(sleep.as_mut().poll(cx));
                self.waiting = None;
            }
            let piece = match self.parts.pop_front() {
                None => return Poll::Ready(None),
                Some(Part::Data(bytes)) => bytes,
                Some(Part::Wait(wait)) => {
                    self.wait(wait);
                    continue;
                }
                Some(Part::Beats { left, .. }) if left.is_zero() => continue,
                Some(Part::Beats { text, left }) => {
                    self.wait(BEAT.min(left));
                    self.parts.push_front(Part::Beats {
                        text,
                        left: left.saturating_sub(BEAT),
                    });
                    Bytes::from_static(text.as_bytes())
                }
                Some(Part::Cut(Cut::Close)) => return Poll::Ready(Some(Err(Broken))),
                Some(Part::Cut(Cut::Reset)) => {
                    if self.fate.reset_on_drop() {
                        return Poll::Ready(Some(Err(Broken)));
                    }
                    // A reset overtakes bytes that the peer has not read yet on some systems.
                    self.parts.push_front(Part::Cut(Cut::Reset));
                    self.wait(GRACE);
                    continue;
                }
            };
            self.flush = true;
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty() && self.waiting.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

/// The connection is broken on purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection broken on purpose")
    }
}

impl Error for Broken {}

/// How long a reset in mid-body waits for the part before it to arrive.
const GRACE: Duration = Duration::from_millis(10);
