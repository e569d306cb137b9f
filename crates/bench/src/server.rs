//! The server of the client measurements: another process, so that the processor time that is
//! compared is the clients' own.
//!
//! It answers every request of Chat Completions in the same words, whole or as a stream, with as
//! little work as it can: what it costs to write an answer must not slow those who read it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::engine::runtime;
use crate::sse::{by_event, chat_stream};

/// A server in a process of its own; it ends with this value.
pub(crate) struct Server {
    child: Child,
    /// `http://host:port`.
    pub(crate) url: String,
}

impl Server {
    #[expect(
        clippy::expect_used,
        reason = "a measurement without a server is no measurement"
    )]
    pub(crate) fn start() -> Self {
        let program = std::env::current_exe().expect("the own program");
        let mut child = Command::new(program)
            .arg("serve")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("the server's output");
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("the server's address");
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone.
        let _gone = self.child.kill().is_err();
        let _reaped = self.child.wait().is_err();
    }
}

/// Answers until it is killed.
#[expect(clippy::print_stdout, reason = "how the parent learns the address")]
pub(crate) fn serve() {
    runtime().block_on(async {
        let Ok(listener) = TcpListener::bind("127.0.0.1:0").await else {
            return;
        };
        let Ok(address) = listener.local_addr() else {
            return;
        };
        println!("http://{address}");
        let answers = Answers::new();
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(connection(stream, answers.clone()));
        }
    });
}

/// The answers as they go over the wire.
#[derive(Clone)]
struct Answers {
    whole: Bytes,
    /// All events in one write.
    stream: Bytes,
    /// The same, with the tokens so far in every event.
    shapes: Bytes,
    /// One write per event.
    pieces: Vec<Bytes>,
}

impl Answers {
    fn new() -> Self {
        let whole = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_1\r\n\
             content-length: {}\r\n\r\n{ANSWER}",
            ANSWER.len()
        );
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_1\r\n\
                    transfer-encoding: chunked\r\n\r\n";
        let chunk = |event: &Bytes| {
            let mut chunk = format!("{:x}\r\n", event.len()).into_bytes();
            chunk.extend_from_slice(event);
            chunk.extend_from_slice(b"\r\n");
            Bytes::from(chunk)
        };
        let chunked = |events: &[Bytes]| {
            let mut pieces = vec![Bytes::from(head)];
            pieces.extend(events.iter().map(chunk));
            pieces.push(Bytes::from_static(b"0\r\n\r\n"));
            pieces
        };
        let events = by_event(&chat_stream());
        let counted: Vec<Bytes> = events.iter().enumerate().map(counted).collect();
        let pieces = chunked(&events);
        Self {
            whole: whole.into(),
            stream: pieces.concat().into(),
            shapes: chunked(&counted).concat().into(),
            pieces,
        }
    }
}

/// An event that says how many tokens there are so far.
fn counted((at, event): (usize, &Bytes)) -> Bytes {
    let usage = format!(
        r#""usage":{{"prompt_tokens":31,"completion_tokens":{at},"total_tokens":{}}}"#,
        31 + at
    );
    let event = String::from_utf8_lossy(event);
    event.replace(r#""usage":null"#, &usage).into()
}

async fn connection(mut stream: TcpStream, answers: Answers) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        while let Some(asked) = Asked::read(&buffer) {
            buffer.drain(..asked.length);
            match asked.what {
                What::Whole => stream.write_all(&answers.whole).await?,
                What::Stream => stream.write_all(&answers.stream).await?,
                What::Shapes => stream.write_all(&answers.shapes).await?,
                What::Pieces => {
                    for piece in &answers.pieces {
                        stream.write_all(piece).await?;
                        // Lets the client have it before the next one is there.
                        tokio::task::yield_now().await;
                    }
                }
                What::Open => {
                    for piece in answers.pieces.iter().take(OPENING) {
                        stream.write_all(piece).await?;
                    }
                }
                // Silence until the client goes away.
                What::Hang => {}
            }
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// A request, as far as it matters here.
struct Asked {
    length: usize,
    what: What,
}

enum What {
    Whole,
    Stream,
    Shapes,
    Pieces,
    /// The start of a stream, and no more.
    Open,
    /// Nothing at all.
    Hang,
}

impl Asked {
    /// The first request, once it is whole.
    fn read(buffer: &[u8]) -> Option<Self> {
        let head = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let text = std::str::from_utf8(&buffer[..head]).ok()?;
        let body = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().ok())?
        });
        let length = head + body.unwrap_or(0);
        let body = buffer.get(head..length)?;
        let has = |word: &[u8]| body.windows(word.len()).any(|window| window == word);
        let what = if text.starts_with("POST /hang") {
            What::Hang
        } else if text.starts_with("POST /open") {
            What::Open
        } else if !has(br#""stream":true"#) {
            What::Whole
        } else if text.starts_with("POST /pieces") {
            What::Pieces
        } else if text.starts_with("POST /shapes") {
            What::Shapes
        } else {
            What::Stream
        };
        Some(Self { length, what })
    }
}

const ANSWER: &str = concat!(
    r#"{"id":"chatcmpl-1","object":"chat.completion","created":1735689600,"model":"gpt-5.6-2026-08-07","#,
    r#""choices":[{"index":0,"message":{"role":"assistant","content":"#,
    r#""At a spring tide sun and moon pull in one line, so high water is higher and low water lower. "#,
    r#"At a neap tide they pull at right angles and partly cancel, so the difference is small for some days.","#,
    r#""refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"#,
    r#""usage":{"prompt_tokens":31,"completion_tokens":44,"total_tokens":75,"#,
    r#""prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"#,
    r#""completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"#,
    r#""accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"#,
    r#""service_tier":"default","system_fingerprint":"fp_1"}"#
);

/// The head of a stream, its role and its first text.
const OPENING: usize = 3;

/// The bytes of the text in the whole answer.
pub(crate) const TEXT_BYTES: usize = 194;
