//! The body of an answer, read in pieces and never without a limit.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::Body as _;

use crate::http::TransportFailure;

/// A body that is still coming in; dropping it before its end closes the connection.
#[derive(Debug)]
pub(crate) struct Body {
    inner: reqwest::Body,
}

/// Why a body could not be read whole.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    Transport(TransportFailure),
    /// It is longer than this many bytes.
    TooLarge(usize),
}

impl Body {
    pub(crate) fn new(inner: reqwest::Body) -> Self {
        Self { inner }
    }

    /// The next piece; `None` at the proper end.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, TransportFailure>>> {
        loop {
            let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
            return Poll::Ready(match frame {
                None => None,
                Some(Err(error)) => Some(Err(TransportFailure::new(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Some(Ok(data)),
                    // Trailers say nothing any dialect reads.
                    Err(_) => continue,
                },
            });
        }
    }

    async fn chunk(&mut self) -> Option<Result<Bytes, TransportFailure>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// Reads all of it, up to `limit` bytes.
    pub(crate) async fn read(mut self, limit: usize) -> Result<Bytes, ReadFailure> {
        // Most answers come in one piece, which is then handed on as it is.
        let Some(first) = self.chunk().await else {
            return Ok(Bytes::new());
        };
        let first = first.map_err(ReadFailure::Transport)?;
        let mut whole = Gathered::One(first);
        loop {
            if whole.len() > limit {
                return Err(ReadFailure::TooLarge(limit));
            }
            match self.chunk().await {
                None => return Ok(whole.freeze()),
                Some(piece) => whole.push(&piece.map_err(ReadFailure::Transport)?),
            }
        }
    }

    /// Reads the start of it into `start`: up to `limit` bytes, its end, or a failure.
    ///
    /// What has come in stays in `start` also if this future is dropped.
    pub(crate) async fn read_start(mut self, limit: usize, start: &mut BytesMut) {
        while start.len() < limit {
            match self.chunk().await {
                Some(Ok(piece)) => {
                    let room = limit - start.len();
                    start.extend_from_slice(&piece[..piece.len().min(room)]);
                }
                // The status is known; a body that breaks off takes nothing away from it.
                Some(Err(_)) | None => return,
            }
        }
    }
}

/// Pieces put together, without a copy as long as there is one.
enum Gathered {
    One(Bytes),
    Many(BytesMut),
}

impl Gathered {
    fn len(&self) -> usize {
        match self {
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    fn push(&mut self, piece: &Bytes) {
        match self {
            Self::One(first) => {
                let mut many = BytesMut::with_capacity((first.len() + piece.len()) * 2);
                many.extend_from_slice(first);
                many.extend_from_slice(piece);
                *self = Self::Many(many);
            }
            Self::Many(many) => many.extend_from_slice(piece),
        }
    }

    fn freeze(self) -> Bytes {
        match self {
            Self::One(bytes) => bytes,
            Self::Many(bytes) => bytes.freeze(),
        }
    }
}
