//! The floor: HTTP clients without anything around them, doing the same JSON by hand.

use std::hint::black_box;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use skyl_sse::{Decoder, Frame};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::client::{Held, KEY, MAX_TOKENS, MODEL, PROMPT, SYSTEM, Texts};
use crate::measure::Contender;
use crate::server::TEXT_BYTES;

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
#[expect(clippy::disallowed_methods, reason = "what a bare client does")]
pub(super) fn reqwest_complete<'a>(runtime: &'a Runtime, url: &str) -> Contender<'a> {
    let client = reqwest_client();
    let url = format!("{url}{PATH}");
    Contender::new("bare reqwest, same JSON", move |calls| {
        runtime.block_on(async {
            for _ in 0..calls {
                let response = client
                    .post(&url)
                    .bearer_auth(KEY)
                    .header("content-type", "application/json")
                    .body(Chat::body(None))
                    .send()
                    .await
                    .expect("a response");
                assert!(response.status().is_success());
                check(&response.bytes().await.expect("a body"));
            }
        });
    })
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
pub(super) fn hyper_complete<'a>(runtime: &'a Runtime, url: &str) -> Contender<'a> {
    let host = url.trim_start_matches("http://").to_owned();
    let mut sender: Option<SendRequest<Full<Bytes>>> = None;
    Contender::new("bare hyper, same JSON", move |calls| {
        runtime.block_on(async {
            for _ in 0..calls {
                let request = http::Request::post(PATH)
                    .header("host", &host)
                    .header("authorization", format!("Bearer {KEY}"))
                    .header("content-type", "application/json")
                    .body(Full::new(Bytes::from(Chat::body(None))))
                    .expect("a request");
                let sender = match &mut sender {
                    Some(sender) => sender,
                    none => none.insert(connect(&host).await),
                };
                sender.ready().await.expect("a connection");
                let response = sender.send_request(request).await.expect("a response");
                assert!(response.status().is_success());
                check(&response.collect().await.expect("a body").to_bytes());
            }
        });
    })
}

/// Reads the stream with skyl's decoder and a strict type: what the least code would cost.
#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
pub(super) fn reqwest_stream<'a>(runtime: &'a Runtime, url: &str) -> Contender<'a> {
    let client = reqwest_client();
    let url = format!("{url}{PATH}");
    Contender::new("bare reqwest, skyl-sse, strict types", move |calls| {
        runtime.block_on(async {
            for _ in 0..calls {
                let mut response = client
                    .post(&url)
                    .bearer_auth(KEY)
                    .header("content-type", "application/json")
                    .body(Chat::body(Some(true)))
                    .send()
                    .await
                    .expect("a response");
                assert!(response.status().is_success());
                let mut texts = Texts::default();
                let mut decoder = Decoder::default();
                while let Some(piece) = response.chunk().await.expect("a piece") {
                    let mut input = &piece[..];
                    while let Some(frame) = decoder.next(&mut input).expect("a frame") {
                        let Frame::Event(event) = frame else { continue };
                        if event.data == "[DONE]" {
                            continue;
                        }
                        let chunk: Chunk = serde_json::from_str(event.data).expect("JSON");
                        for choice in chunk.choices {
                            if let Some(text) = choice.delta.content {
                                texts.add(&text);
                            }
                        }
                    }
                }
                texts.check();
            }
        });
    })
}

pub(super) fn reqwest_held(url: &str, stream: bool) -> Held {
    let client = reqwest_client();
    let url = format!("{url}{PATH}");
    Held::new("bare reqwest", move || {
        let request = client
            .post(&url)
            .bearer_auth(KEY)
            .header("content-type", "application/json")
            .body(Chat::body(stream.then_some(true)));
        async move {
            if let Ok(mut response) = request.send().await {
                while let Ok(Some(_)) = response.chunk().await {}
            }
        }
    })
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a client is no measurement"
)]
fn reqwest_client() -> reqwest::Client {
    reqwest::Client::builder().build().expect("a client")
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a connection is no measurement"
)]
#[expect(clippy::disallowed_methods, reason = "the connection needs a driver")]
async fn connect(host: &str) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(host).await.expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .expect("a handshake");
    tokio::spawn(async move {
        // It ends with the measurement.
        let _ended = connection.await.is_err();
    });
    sender
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
fn check(body: &[u8]) {
    let answer: Completion = serde_json::from_slice(body).expect("JSON");
    let answer = black_box(answer);
    assert_eq!(answer.choices[0].message.content.len(), TEXT_BYTES);
    assert_eq!(
        (answer.usage.prompt_tokens, answer.usage.completion_tokens),
        (31, 44)
    );
    assert!(!answer.id.is_empty() && !answer.model.is_empty());
    assert_eq!(answer.choices[0].finish_reason, "stop");
}

#[derive(Serialize)]
struct Chat {
    model: &'static str,
    messages: [Turn; 2],
    max_completion_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

impl Chat {
    #[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
    fn body(stream: Option<bool>) -> Vec<u8> {
        let chat = Self {
            model: MODEL,
            messages: [
                Turn {
                    role: "system",
                    content: SYSTEM,
                },
                Turn {
                    role: "user",
                    content: PROMPT,
                },
            ],
            max_completion_tokens: MAX_TOKENS,
            stream,
        };
        serde_json::to_vec(&chat).expect("JSON")
    }
}

#[derive(Serialize)]
struct Turn {
    role: &'static str,
    content: &'static str,
}

#[derive(Deserialize)]
struct Completion {
    id: String,
    model: String,
    choices: Vec<Choice>,
    usage: Usage,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: String,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<ChunkChoice>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

const PATH: &str = "/v1/chat/completions";
