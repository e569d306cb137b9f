//! A client that sees every byte.

use std::io::{self, ErrorKind};

use serde_json::{Value, json};
use skyl_sandbox::{Sandbox, Script};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const CHAT: &str = "/openai/v1/chat/completions";

pub(crate) async fn sandbox() -> Sandbox {
    Sandbox::start().await.unwrap()
}

pub(crate) async fn scripted(script: &str) -> Sandbox {
    let script: Script = script.parse().unwrap();
    Sandbox::builder().script(script).start().await.unwrap()
}

/// A chat request for a model, with the prompt `a b`.
pub(crate) fn chat(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "a b"}]})
}

pub(crate) fn streamed(model: &str) -> Value {
    let mut body = chat(model);
    body["stream"] = json!(true);
    body
}

/// The bytes of a request with the right key.
pub(crate) fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: sandbox\r\nauthorization: Bearer sandbox-key\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn post(body: &Value) -> Vec<u8> {
    request("POST", CHAT, &body.to_string())
}

/// How a body stopped coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All of it came, by its length or its last chunk.
    Whole,
    /// FIN before that.
    Fin,
    /// RST before that.
    Rst,
}

/// What came back for one request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The chunks of a chunked body; otherwise the body as one.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) end: End,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.chunks.concat()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Every value of a header, in order.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(line, _)| line.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }

    /// The data of each frame.
    pub(crate) fn frames(&self) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(str::to_owned).collect()
    }
}

/// One connection, over TCP or TLS.
pub(crate) struct Wire<S> {
    stream: S,
    seen: Vec<u8>,
}

pub(crate) async fn connect(sandbox: &Sandbox) -> Wire<TcpStream> {
    Wire::over(TcpStream::connect(sandbox.addr()).await.unwrap())
}

/// Sends one request on a connection of its own and reads the answer.
pub(crate) async fn ask(sandbox: &Sandbox, request: &[u8]) -> Answer {
    let mut wire = connect(sandbox).await;
    wire.send(request).await;
    wire.answer()
        .await
        .unwrap_or_else(|end| panic!("no answer: {end:?}"))
}

/// The status, or how the connection ended without one.
pub(crate) async fn fate(sandbox: &Sandbox, body: &Value) -> Result<u16, End> {
    let mut wire = connect(sandbox).await;
    wire.send(&post(body)).await;
    wire.answer().await.map(|answer| answer.status)
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self {
            stream,
            seen: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Reads one answer; an error if the connection ended before a byte of it.
    pub(crate) async fn answer(&mut self) -> Result<Answer, End> {
        let head = loop {
            if let Some(at) = find(&self.seen, b"\r\n\r\n") {
                let head: Vec<u8> = self.seen.drain(..at + 4).collect();
                break String::from_utf8(head).unwrap();
            }
            if let Some(end) = self.more().await {
                assert!(self.seen.is_empty(), "half a head: {:?}", self.seen);
                return Err(end);
            }
        };
        let status = head[9..12].parse().unwrap();
        let mut answer = Answer {
            status,
            head,
            chunks: Vec::new(),
            end: End::Whole,
        };
        answer.end = if answer.headers("transfer-encoding") == ["chunked"] {
            self.chunked(&mut answer.chunks).await
        } else {
            let length = answer
                .headers("content-length")
                .first()
                .map(|length| length.parse().unwrap());
            self.sized(length.unwrap_or(0), &mut answer.chunks).await
        };
        Ok(answer)
    }

    async fn sized(&mut self, length: usize, chunks: &mut Vec<Vec<u8>>) -> End {
        let end = loop {
            if self.seen.len() >= length {
                break End::Whole;
            }
            if let Some(end) = self.more().await {
                break end;
            }
        };
        chunks.push(self.seen.drain(..length.min(self.seen.len())).collect());
        end
    }

    async fn chunked(&mut self, chunks: &mut Vec<Vec<u8>>) -> End {
        loop {
            if let Some(at) = find(&self.seen, b"\r\n") {
                let size = std::str::from_utf8(&self.seen[..at]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                if self.seen.len() >= at + 2 + size + 2 {
                    let chunk: Vec<u8> = self.seen.drain(..at + 2 + size + 2).collect();
                    if size == 0 {
                        return End::Whole;
                    }
                    chunks.push(chunk[at + 2..at + 2 + size].to_vec());
                    continue;
                }
            }
            if let Some(end) = self.more().await {
                assert!(self.seen.is_empty(), "half a chunk: {:?}", self.seen);
                return end;
            }
        }
    }

    /// Reads until that text has come.
    pub(crate) async fn until(&mut self, text: &str) {
        while find(&self.seen, text.as_bytes()).is_none() {
            assert_eq!(self.more().await, None, "ended before {text:?} came");
        }
    }

    /// Whether the connection ends with nothing more on it.
    pub(crate) async fn end(&mut self) -> End {
        let end = self.more().await;
        assert!(
            self.seen.is_empty(),
            "more came: {:?}",
            String::from_utf8_lossy(&self.seen)
        );
        end.unwrap()
    }

    async fn more(&mut self) -> Option<End> {
        match self.stream.read_buf(&mut self.seen).await {
            Ok(0) => Some(End::Fin),
            Ok(_) => None,
            Err(error) => Some(ended(&error)),
        }
    }
}

fn ended(error: &io::Error) -> End {
    match error.kind() {
        ErrorKind::ConnectionReset => End::Rst,
        // How a TLS library sees a FIN without its own goodbye.
        ErrorKind::UnexpectedEof => End::Fin,
        other => panic!("{other}: {error}"),
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    (0..=bytes.len()).find(|at| bytes[*at..].starts_with(wanted))
}
