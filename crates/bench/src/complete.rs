//! One call over loopback: skyl beside bare reqwest doing the same JSON.
//!
//! The server is another process, so that the processor time that is compared is the client's own
//! (`getrusage`). Both sides keep one connection alive, encode the same request, and read the same
//! answer into types.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use skyl::openai::OpenAi;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::engine::runtime;
use crate::measure::{Effort, as_f64};

/// Measures and prints the table.
pub(crate) fn run(effort: Effort) -> String {
    let (rounds, calls) = match effort {
        Effort::Full => (9, 4_000),
        Effort::Smoke => (1, 20),
    };
    let server = Server::start();
    let runtime = runtime();
    let skyl = skyl_client(&server.url);
    let reqwest = reqwest_client();
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        let skyl = processor_micros(calls, || with_skyl(&runtime, &skyl, calls));
        let bare = processor_micros(calls, || {
            with_reqwest(&runtime, &reqwest, &server.url, calls);
        });
        // The first round opens the connections.
        if round > 0 {
            times[0].push(skyl);
            times[1].push(bare);
        }
    }
    let [skyl, bare] = times.map(|mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    format!(
        "### `complete` over loopback, processor time of the client\n\n\
         | | µs/call | ratio |\n|---|---:|---:|\n\
         | skyl | {skyl:.1} | {:.2} |\n\
         | bare reqwest, same JSON | {bare:.1} | 1.00 |\n",
        skyl / bare
    )
}

/// Answers every request with the same chat completion, until it is killed.
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
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(connection(stream));
        }
    });
}

async fn connection(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_1\r\ncontent-length: {}\r\n\r\n{ANSWER}",
        ANSWER.len()
    );
    let mut buffer = Vec::new();
    loop {
        while let Some(length) = request_length(&buffer) {
            buffer.drain(..length);
            stream.write_all(answer.as_bytes()).await?;
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// The bytes of the first request, once it is whole.
fn request_length(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&buffer[..head]).ok()?;
    let body = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let length = head + body.unwrap_or(0);
    (buffer.len() >= length).then_some(length)
}

struct Server {
    child: Child,
    url: String,
}

impl Server {
    #[expect(
        clippy::expect_used,
        reason = "a measurement without a server is no measurement"
    )]
    fn start() -> Self {
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

fn processor_micros(calls: u32, work: impl FnOnce()) -> f64 {
    let began = ProcessTime::now();
    work();
    began.elapsed().as_secs_f64() * 1e6 / as_f64(calls.into())
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a client is no measurement"
)]
fn skyl_client(url: &str) -> skyl::Client {
    let dialect = OpenAi::new("sk-measure-measure").base_url(format!("{url}/v1"));
    skyl::Client::builder(dialect).build().expect("a client")
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
fn with_skyl(runtime: &Runtime, client: &skyl::Client, calls: u32) {
    let request = skyl::Request::new("gpt-5.6")
        .system(SYSTEM)
        .user(PROMPT)
        .max_tokens(256);
    runtime.block_on(async {
        for _ in 0..calls {
            let answer = client.complete(&request).await.expect("an answer");
            assert_eq!(answer.text().len(), TEXT_BYTES);
        }
    });
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a client is no measurement"
)]
fn reqwest_client() -> reqwest::Client {
    reqwest::Client::builder().build().expect("a client")
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
#[expect(clippy::disallowed_methods, reason = "what a bare client does")]
fn with_reqwest(runtime: &Runtime, client: &reqwest::Client, url: &str, calls: u32) {
    let url = format!("{url}/v1/chat/completions");
    let request = Chat {
        model: "gpt-5.6",
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
        max_completion_tokens: 256,
    };
    runtime.block_on(async {
        for _ in 0..calls {
            let body = serde_json::to_vec(&request).expect("JSON");
            let response = client
                .post(&url)
                .bearer_auth("sk-measure-measure")
                .header("content-type", "application/json")
                .body(body)
                .send()
                .await
                .expect("a response");
            assert!(response.status().is_success());
            let body = response.bytes().await.expect("a body");
            let answer: Completion = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(answer.choices[0].message.content.len(), TEXT_BYTES);
            assert_eq!(
                (answer.usage.prompt_tokens, answer.usage.completion_tokens),
                (31, 44)
            );
            assert!(!answer.id.is_empty() && !answer.model.is_empty());
            assert_eq!(answer.choices[0].finish_reason, "stop");
        }
    });
}

#[derive(Serialize)]
struct Chat<'a> {
    model: &'a str,
    messages: [Turn<'a>; 2],
    max_completion_tokens: u32,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'a str,
    content: &'a str,
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

const SYSTEM: &str = "You are a careful assistant. Answer in two sentences at most.";
const PROMPT: &str =
    "What is the difference between a spring tide and a neap tide, in plain words?";
const TEXT_BYTES: usize = 194;
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
