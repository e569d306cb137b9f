//! One call over loopback: skyl beside bare HTTP clients doing the same JSON, and beside its peers.
//!
//! What is compared is processor time (`getrusage`) of this process alone. All contenders keep one
//! connection alive, ask the same, and read the same answer into types; that the answer is whole
//! is checked in every call.

mod bare;
#[cfg(feature = "peers")]
mod peers;

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;

use cpu_time::ProcessTime;
use skyl::StreamEvent;
use skyl::openai::OpenAi;
use tokio::runtime::Runtime;

use crate::engine::runtime;
use crate::measure::{Contender, Effort, as_f64, median, processor_table};
use crate::server::{Server, TEXT_BYTES};

/// Whole answers.
pub(crate) fn complete(effort: Effort) -> String {
    let server = Server::start();
    let runtime = runtime();
    let rows = processor(effort, 4_000, completers(&runtime, &server.url));
    processor_table("`complete` over loopback, processor time", "call", &rows)
}

/// Streams of 200 events, in one write and in one write per event.
pub(crate) fn stream(effort: Effort) -> String {
    let server = Server::start();
    let runtime = runtime();
    let mut out = String::new();
    for (title, base) in [
        ("all events in one write", server.url.clone()),
        ("one write per event", format!("{}/pieces", server.url)),
    ] {
        let rows = processor(effort, 200, streamers(&runtime, &base));
        let title = format!("A stream of 200 events over loopback, {title}, processor time");
        out.push_str(&processor_table(&title, "stream", &rows));
        out.push('\n');
    }
    out
}

/// Runs one contender alone, for a profiler: `drive complete skyl 1000`.
pub(crate) fn drive(suite: &str, name: &str, calls: u64) -> Result<(), String> {
    let server = Server::start();
    let runtime = runtime();
    let contenders = match suite {
        "complete" => completers(&runtime, &server.url),
        "stream" => streamers(&runtime, &server.url),
        _ => return Err(format!("no suite `{suite}`: complete, stream")),
    };
    let names: Vec<_> = contenders.iter().map(|contender| contender.name).collect();
    let mut contenders = contenders.into_iter();
    let mut contender = contenders
        .find(|contender| contender.name == name)
        .ok_or_else(|| format!("no contender `{name}`: {}", names.join(", ")))?;
    contender.run(calls);
    Ok(())
}

fn completers<'a>(runtime: &'a Runtime, url: &str) -> Vec<Contender<'a>> {
    let client = skyl_client(url);
    #[cfg_attr(not(feature = "peers"), expect(unused_mut, reason = "peers are added"))]
    let mut contenders = vec![
        Contender::new("skyl", move |calls| {
            skyl_complete(runtime, &client, calls);
        }),
        bare::reqwest_complete(runtime, url),
        bare::hyper_complete(runtime, url),
    ];
    #[cfg(feature = "peers")]
    contenders.extend(peers::completers(runtime, url));
    contenders
}

fn streamers<'a>(runtime: &'a Runtime, url: &str) -> Vec<Contender<'a>> {
    let client = skyl_client(url);
    #[cfg_attr(not(feature = "peers"), expect(unused_mut, reason = "peers are added"))]
    let mut contenders = vec![
        Contender::new("skyl", move |calls| {
            skyl_stream(runtime, &client, calls);
        }),
        bare::reqwest_stream(runtime, url),
    ];
    #[cfg(feature = "peers")]
    contenders.extend(peers::streamers(runtime, url));
    contenders
}

/// A contender whose calls are begun and never end.
pub(crate) struct Held {
    pub(crate) name: &'static str,
    pub(crate) begin: Box<dyn Fn() -> Begun>,
}

pub(crate) type Begun = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Held {
    fn new<F>(name: &'static str, begin: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            name,
            begin: Box::new(move || Box::pin(begin())),
        }
    }
}

/// Calls without an answer (`calls`), or streams that have begun (`streams`).
pub(crate) fn held(what: &str, url: &str) -> Vec<Held> {
    let streams = what == "streams";
    let url = format!("{url}/{}", if streams { "open" } else { "hang" });
    let client = skyl_client(&url);
    let skyl = Held::new("skyl", move || {
        let client = client.clone();
        async move {
            let request = skyl_request();
            if streams {
                // An error would end the call, and the count would never be reached.
                if let Ok(mut stream) = client.stream(&request).await {
                    while let Some(Ok(_)) = stream.next().await {}
                }
            } else {
                drop(client.complete(&request).await);
            }
        }
    });
    #[cfg_attr(not(feature = "peers"), expect(unused_mut, reason = "peers are added"))]
    let mut held = vec![skyl, bare::reqwest_held(&url, streams)];
    #[cfg(feature = "peers")]
    held.extend(peers::held(&url, streams));
    held
}

/// Microseconds of processor time per call, the median of interleaved rounds.
fn processor(
    effort: Effort,
    calls: u64,
    mut contenders: Vec<Contender<'_>>,
) -> Vec<(&'static str, f64)> {
    let (rounds, calls) = match effort {
        Effort::Full => (9, calls),
        Effort::Smoke => (1, 5),
    };
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let began = ProcessTime::now();
            contender.run(calls);
            let micros = began.elapsed().as_secs_f64() * 1e6 / as_f64(calls);
            // The first round opens the connections.
            if round > 0 {
                times.push(micros);
            }
        }
    }
    contenders
        .iter()
        .zip(times)
        .map(|(contender, times)| (contender.name, median(times)))
        .collect()
}

#[expect(
    clippy::expect_used,
    reason = "a measurement without a client is no measurement"
)]
pub(crate) fn skyl_client(url: &str) -> skyl::Client {
    let dialect = OpenAi::new(KEY).base_url(format!("{url}/v1"));
    skyl::Client::builder(dialect).build().expect("a client")
}

pub(crate) fn skyl_request() -> skyl::Request {
    skyl::Request::new(MODEL)
        .system(SYSTEM)
        .user(PROMPT)
        .max_tokens(MAX_TOKENS)
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
fn skyl_complete(runtime: &Runtime, client: &skyl::Client, calls: u64) {
    let request = skyl_request();
    runtime.block_on(async {
        for _ in 0..calls {
            let answer = client.complete(&request).await.expect("an answer");
            assert_eq!(black_box(&answer).text().len(), TEXT_BYTES);
        }
    });
}

#[expect(clippy::expect_used, reason = "a call that fails is no measurement")]
fn skyl_stream(runtime: &Runtime, client: &skyl::Client, calls: u64) {
    let request = skyl_request();
    runtime.block_on(async {
        for _ in 0..calls {
            let mut stream = client.stream(&request).await.expect("a stream");
            let mut texts = Texts::default();
            while let Some(event) = stream.next().await {
                if let StreamEvent::Text(text) = event.expect("an event") {
                    texts.add(&text);
                }
            }
            texts.check();
        }
    });
}

/// What a stream has said, to see that all of it was read.
#[derive(Default)]
struct Texts {
    pieces: usize,
    bytes: usize,
}

impl Texts {
    fn add(&mut self, text: &str) {
        // The first piece is empty, and clients differ in whether they hand it out.
        self.pieces += usize::from(!text.is_empty());
        self.bytes += black_box(text).len();
    }

    fn check(&self) {
        assert_eq!((self.pieces, self.bytes), STREAM_TEXT);
    }
}

const KEY: &str = "sk-measure-measure";
const MODEL: &str = "gpt-5.6";
const MAX_TOKENS: u32 = 256;
const SYSTEM: &str = "You are a careful assistant. Answer in two sentences at most.";
const PROMPT: &str =
    "What is the difference between a spring tide and a neap tide, in plain words?";

/// Pieces and bytes of the stream's text.
const STREAM_TEXT: (usize, usize) = (196, 748);
