//! A server that says exactly what it is told, byte for byte, one script entry per request.

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// What the server does, in order, in answer to one request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Waits until the test says go on.
    Wait(Arc<Notify>),
    /// Says and does nothing more until the client hangs up.
    Hang,
    /// Closes the connection in order.
    Close,
    /// Resets the connection.
    Reset,
}

/// One request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Which connection it came on, from 0.
    pub(crate) connection: usize,
    /// Request line and headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// The value of a header; names without regard to case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// The server; dropping it ends it.
pub(crate) struct Raw {
    addr: SocketAddr,
    shared: Arc<Shared>,
    open: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

impl Raw {
    /// Serves the script: the n-th request gets the n-th entry, the last one repeated.
    pub(crate) async fn serve(script: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (count, open) = watch::channel(0);
        let mut tasks = JoinSet::new();
        let play = Mutex::new(Play {
            script,
            seen: Vec::new(),
        });
        let shared = Arc::new(Shared { play, count });
        let server = shared.clone();
        tasks.spawn(async move {
            let shared = server;
            let mut connections = JoinSet::new();
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                shared.count.send_modify(|open| *open += 1);
                let shared = shared.clone();
                connections.spawn(async move {
                    let _ended = connection(&shared, number, stream).await.is_ok();
                    shared.count.send_modify(|open| *open -= 1);
                });
            }
        });
        Self {
            addr,
            shared,
            open,
            _tasks: tasks,
        }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.shared.play.lock().unwrap().seen.clone()
    }

    /// Begins another script, and forgets the requests of the one before.
    pub(crate) fn play(&self, script: Vec<Vec<Act>>) {
        *self.shared.play.lock().unwrap() = Play {
            script,
            seen: Vec::new(),
        };
    }

    /// Resolves once no connection is open.
    pub(crate) async fn all_closed(&mut self) {
        self.open.wait_for(|open| *open == 0).await.unwrap();
    }
}

struct Shared {
    play: Mutex<Play>,
    count: watch::Sender<usize>,
}

struct Play {
    script: Vec<Vec<Act>>,
    seen: Vec<Seen>,
}

async fn connection(shared: &Shared, number: usize, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some((head, body)) = request(&mut stream, &mut buffer).await? {
        let acts = {
            let mut play = shared.play.lock().unwrap();
            let index = play.seen.len().min(play.script.len() - 1);
            play.seen.push(Seen {
                connection: number,
                head,
                body,
            });
            play.script[index].clone()
        };
        for act in acts {
            match act {
                Act::Send(bytes) => stream.write_all(&bytes).await?,
                Act::Wait(go) => go.notified().await,
                Act::Hang => {
                    while stream.read(&mut [0; 1024]).await? > 0 {}
                    return Ok(());
                }
                Act::Close => return Ok(()),
                Act::Reset => {
                    stream.set_zero_linger()?;
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

async fn request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<(String, Vec<u8>)>> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8(buffer[..head_end - 4].to_vec()).unwrap();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        })
        .unwrap_or(0);
    while buffer.len() < head_end + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer[head_end..head_end + length].to_vec();
    buffer.drain(..head_end + length);
    Ok(Some((head, body)))
}

/// A whole answer with these headers.
pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<Act> {
    let body = body.as_ref();
    let mut bytes = format!(
        "HTTP/1.1 {status} Whatever\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        write!(bytes, "{name}: {value}\r\n").unwrap();
    }
    bytes += "\r\n";
    let mut bytes = bytes.into_bytes();
    bytes.extend_from_slice(body);
    vec![Act::Send(bytes)]
}

/// A JSON answer.
pub(crate) fn json(status: u16, body: &str) -> Vec<Act> {
    reply(status, &[("Content-Type", "application/json")], body)
}

/// An answer that says `text`.
pub(crate) fn ok(text: &str) -> Vec<Act> {
    json(200, &answer(text))
}

/// The body of an answer that says `text`.
pub(crate) fn answer(text: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-served","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}","refusal":null}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}}}"#
    )
}

/// An error answer in OpenAI's shape.
pub(crate) fn error(status: u16, kind: &str, code: &str, message: &str) -> Vec<Act> {
    json(status, &error_body(kind, code, message))
}

pub(crate) fn error_body(kind: &str, code: &str, message: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":"{code}"}}}}"#)
}

/// A stream of these frames that ends in order, without saying how long it is.
pub(crate) fn sse(frames: &[&str]) -> Vec<Act> {
    let mut acts = sse_open(frames);
    acts.push(Act::Send(b"0\r\n\r\n".to_vec()));
    acts
}

/// A stream of these frames that is not at its end.
pub(crate) fn sse_open(frames: &[&str]) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nx-request-id: req_s\r\n\r\n";
    let mut acts = vec![Act::Send(head.into())];
    acts.extend(frames.iter().map(|frame| chunk(frame)));
    acts
}

/// One chunk of a chunked body.
pub(crate) fn chunk(text: &str) -> Act {
    Act::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// A frame with a piece of text.
pub(crate) fn delta(text: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-served\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}],\"usage\":null}}\n\n"
    )
}

/// The frame that only names the role.
pub(crate) fn role() -> String {
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-served\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n".to_owned()
}

/// The frame with the reason to stop.
pub(crate) fn finish(reason: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-served\",\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n"
    )
}

/// The frame with the usage.
pub(crate) fn usage() -> String {
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-served\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}\n\n".to_owned()
}

pub(crate) const DONE: &str = "data: [DONE]\n\n";
