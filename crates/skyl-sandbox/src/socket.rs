//! A socket whose end can be chosen while a server library owns it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// How a connection will end; shared by the socket and by the answer on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate(Arc<AtomicBool>);

impl Fate {
    /// Makes the end of the connection an RST instead of a FIN; says whether it was one already.
    ///
    /// Relaxed is enough: the flag is set and read by the one task that owns the connection.
    pub(crate) fn reset_on_drop(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }
}

/// A TCP stream that ends as its [`Fate`] says when it is dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    fate: Fate,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, fate: Fate) -> Self {
        Self { stream, fate }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.fate.0.load(Ordering::Relaxed) {
            // A linger of zero makes the close an RST. If the peer is gone already, there is
            // nobody left to reset.
            let _gone = SockRef::from(&self.stream)
                .set_linger(Some(Duration::ZERO))
                .is_err();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
