//! A dialect of one's own, for a provider that speaks plain lines.
//!
//! `POST /say` takes a line with the model and then the prompt. The answer is lines: `+` and a
//! piece of text, at the end a `.`, or `!` with a code and words when something is wrong. A stream
//! is the same lines as they come. That is all the codec below knows; retries, hooks, streams and
//! timeouts are the client's and work unchanged.
//!
//! `cargo run -p skyl --example own_dialect`

use std::error::Error;
use std::io::{self, Write};
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use skyl::{
    ApiKey, Client, Decoded, Dialect, Encoded, ErrorKind, Fault, Flow, Frame, Framing, Head,
    HookEvent, Mode, Part, Request, Sink, StopReason, StreamDecoder, StreamEvent, Warning,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The codec: it sends nothing, waits for nothing and retries nothing.
#[derive(Debug)]
pub(crate) struct Parrot {
    base_url: String,
}

impl Dialect for Parrot {
    fn name(&self) -> &'static str {
        "parrot"
    }

    fn base_url(&self) -> &str {
        &self.base_url
    }

    fn key(&self) -> Option<&ApiKey> {
        None
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn encode(&self, request: &Request, _: Mode) -> Result<Encoded, Fault> {
        if !request.tools.is_empty() || request.response_format.is_some() {
            return Err(Fault::unsupported("a parrot has no tools and no schemas"));
        }
        let mut body = request.model.clone();
        for message in &request.messages {
            for part in &message.parts {
                // What cannot be said is refused here, before anything is sent.
                let text = part
                    .as_text()
                    .ok_or_else(|| Fault::unsupported("a parrot takes text alone"))?;
                body.push('\n');
                body.push_str(text);
            }
        }
        let mut encoded = Encoded::post("/say", Bytes::from(body));
        // What can be left out is left out aloud: nothing is dropped silently.
        if request.system.is_some() {
            let warning = Warning::new("system", "left out: a parrot takes no instructions");
            encoded.warnings.push(warning);
        }
        Ok(encoded)
    }

    fn decode(&self, _: &Head<'_>, body: &[u8]) -> Result<Decoded, Fault> {
        // One reading of the lines serves the whole answer and the stream, so they cannot differ.
        let mut text = String::new();
        for line in body.split(|byte| *byte == b'\n') {
            match read(line)? {
                Line::Piece(piece) => text.push_str(piece),
                Line::End => return Ok(Decoded::new(vec![Part::text(text)], StopReason::EndTurn)),
                Line::Empty => {}
            }
        }
        // Without its end an answer may be half of one.
        Err(if text.is_empty() {
            Fault::empty_response()
        } else {
            Fault::new(ErrorKind::Truncated)
        })
    }

    fn stream_decoder(&self, _: &Head<'_>) -> Box<dyn StreamDecoder> {
        Box::new(Lines { whole: false })
    }

    fn classify(&self, head: &Head<'_>, body: &[u8]) -> Fault {
        // The parrot's own word says more than a status; a proxy's page has none.
        let first = body.split(|byte| *byte == b'\n').next().map(read);
        match first {
            Some(Err(fault)) if fault.code().is_some() => fault,
            _ => Fault::from_status(head.status),
        }
    }
}

/// A stream's decoder: the same lines, one frame each.
struct Lines {
    whole: bool,
}

impl StreamDecoder for Lines {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        let Frame::Json { data: line, .. } = frame else {
            return Err(Fault::decode("not a line"));
        };
        match read(line)? {
            Line::Piece(piece) => sink.text(piece),
            Line::Empty => return Ok(Flow::Life),
            Line::End => {
                self.whole = true;
                sink.stop_reason(StopReason::EndTurn);
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::More)
    }

    fn is_whole(&self) -> bool {
        // Without this mark, the end of the connection would pass for the end of the answer.
        self.whole
    }

    fn end(&mut self, _: &mut Sink) -> Result<(), Fault> {
        Ok(())
    }
}

enum Line<'a> {
    Piece(&'a str),
    End,
    Empty,
}

/// Reads one line; one that tells of an error is that error.
fn read(line: &[u8]) -> Result<Line<'_>, Fault> {
    let line = std::str::from_utf8(line).map_err(|_| Fault::decode("a line is not UTF-8"))?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.split_at_checked(1) {
        Some(("+", piece)) => Ok(Line::Piece(piece)),
        Some((".", "")) => Ok(Line::End),
        Some(("!", error)) => {
            let (code, words) = error.split_once(' ').unwrap_or((error, ""));
            let busy = code == "busy";
            let status = if busy { 503 } else { 400 };
            let fault = Fault::from_status(status).with_overloaded(busy);
            Err(fault.with_code(code).with_message(words))
        }
        None if line.is_empty() => Ok(Line::Empty),
        _ => Err(Fault::decode("a line begins with none of `+`, `.` and `!`")),
    }
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (base_url, _server) = serve(vec![
        // The first call: busy, then gone without a word, then the answer.
        "HTTP/1.1 503 Busy\r\nretry-after-ms: 1\r\n\r\n!busy try again later\n",
        "",
        "HTTP/1.1 200 OK\r\n\r\n+Hello\n+ yourself\n.\n",
        // The second, a stream: an error in the first line, then one that breaks off.
        "HTTP/1.1 200 OK\r\n\r\n!busy still\n",
        "HTTP/1.1 200 OK\r\n\r\n+Polly wants\n+ a",
    ])
    .await?;

    // Bounded, and never waited for: a hook must not hold up the call.
    let (tell, heard) = mpsc::sync_channel(64);
    let client = Client::builder(Parrot { base_url })
        .retry_delay(Duration::from_millis(1), Duration::from_millis(10))
        .hook(move |event: &HookEvent<'_>| {
            let (operation, attempt) = (event.operation(), event.attempt());
            let outcome = match event.error() {
                Some(error) => error.to_string(),
                None => "ok".to_owned(),
            };
            let line = format!("{operation}, attempt {attempt}: {outcome}");
            // A full log loses a line.
            drop(tell.try_send(line));
        })
        .build()?;

    let request = Request::new("grey").user("Hello");
    let answer = client.complete(&request).await?;
    writeln!(out, "the answer: {}", answer.text())?;

    let mut stream = client.stream(&request).await?;
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::Text(piece)) => writeln!(out, "a piece: {piece}")?,
            Ok(_) => {}
            Err(error) => writeln!(out, "the end: {error}")?,
        }
    }
    for line in heard.try_iter() {
        writeln!(out, "hook: {line}")?;
    }
    Ok(())
}

/// A parrot on a socket: the n-th request gets the n-th answer, and its connection is closed.
///
/// Gives the base URL and what ends the server when it is dropped.
pub(crate) async fn serve(
    answers: Vec<&'static str>,
) -> io::Result<(String, JoinSet<io::Result<()>>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base_url = format!("http://{}", listener.local_addr()?);
    let mut server = JoinSet::new();
    server.spawn(async move {
        for answer in answers {
            let mut stream = accept(&listener).await?;
            stream.write_all(answer.as_bytes()).await?;
            stream.shutdown().await?;
        }
        Ok(())
    });
    Ok((base_url, server))
}

/// Takes one connection and reads the whole request on it.
async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let (mut stream, _) = listener.accept().await?;
    let mut reader = BufReader::new(&mut stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().map_err(io::Error::other)?;
            }
            // The blank line ends the head; nothing at all, the connection.
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    reader.read_exact(&mut vec![0; length]).await?;
    Ok(stream)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout()).await
}

#[cfg(test)]
mod tests {
    use skyl::Message;
    use skyl_retry::ManualClock;

    use super::*;

    #[tokio::test]
    async fn timeouts_hold_for_a_dialect_of_ones_own() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let clock = ManualClock::new();
        let timeout = Duration::from_secs(30);
        let client = Client::builder(Parrot { base_url })
            .clock(clock.clone())
            .attempt_timeout(timeout)
            .build()
            .unwrap();
        let request = Request::new("grey").user("Hello");

        let server = async {
            let silent = accept(&listener).await.unwrap();
            clock.advance(timeout);
            let until = clock.until_sleeping().await;
            drop(silent);
            clock.advance(until);
            let mut stream = accept(&listener).await.unwrap();
            let answer = "HTTP/1.1 200 OK\r\n\r\n+Hello\n.\n";
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let (answer, ()) = tokio::join!(client.complete(&request), server);

        let answer = answer.unwrap();
        assert_eq!(answer.text(), "Hello");
        assert_eq!(answer.attempts()[0].kind, Some(ErrorKind::Timeout));
        assert_eq!(answer.attempts()[0].duration, timeout);
    }

    #[tokio::test]
    async fn what_it_cannot_say_is_refused_or_warned_of() {
        let (base_url, _server) = serve(vec!["HTTP/1.1 200 OK\r\n\r\n+Hello\n.\n"])
            .await
            .unwrap();
        let client = Client::builder(Parrot { base_url }).build().unwrap();
        let request = Request::new("grey").user("Hello");

        let tool = skyl::Tool::new("cracker", serde_json::json!({"type": "object"}));
        let error = client.complete(&request.clone().tool(tool)).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);

        let request = request
            .system("Be polite.")
            .message(Message::assistant("Hello"));
        let answer = client.complete(&request).await.unwrap();
        assert_eq!(answer.warnings[0].field, "system");
    }

    #[test]
    fn lines_are_read_alike_wherever_they_come_from() {
        assert!(matches!(read(b"+ a\r"), Ok(Line::Piece(" a"))));
        assert!(matches!(read(b"."), Ok(Line::End)));
        assert!(matches!(read(b""), Ok(Line::Empty)));
        for (line, kind) in [
            (&b"!busy later"[..], ErrorKind::Server),
            (b"!seed none left", ErrorKind::BadRequest),
            (b".x", ErrorKind::Decode),
            (b"\xff", ErrorKind::Decode),
            ("é".as_bytes(), ErrorKind::Decode),
        ] {
            let read = read(line).map(|_| ()).map_err(|fault| fault.kind());
            assert_eq!(read, Err(kind), "{}", line.escape_ascii());
        }
    }
}
