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

use skyl::StreamEvent;
use skyl::openai::OpenAi;
use tokio::runtime::Runtime;

use crate::engine::runtime;
use crate::measure::{Bench, Contender, Stopwatch, Subject};
use crate::server::{Server, TEXT_BYTES};

/// Whole answers.
pub(crate) fn complete(bench: &Bench) -> String {
    let server = Server::start();
    let runtime = runtime();
    let subject = Subject {
        title: "`complete` over loopback, processor time",
        unit: "call",
        iterations: 4_000,
        bytes: None,
        clock: Stopwatch::Processor,
        note: COMPLETE,
    };
    bench.compare(subject, completers(&runtime, &server.url))
}

/// Streams of 200 events, in one write and in one write per event.
pub(crate) fn stream(bench: &Bench) -> String {
    let server = Server::start();
    let runtime = runtime();
    let mut out = String::new();
    for (how, path, note) in STREAMS {
        let title = format!("A stream of 200 events over loopback, {how}, processor time");
        let subject = Subject {
            title: &title,
            unit: "stream",
            iterations: 200,
            bytes: None,
            clock: Stopwatch::Processor,
            note,
        };
        let url = format!("{}{path}", server.url);
        out.push_str(&bench.compare(subject, streamers(&runtime, &url)));
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
        "pieces" => streamers(&runtime, &format!("{}/pieces", server.url)),
        "shapes" => streamers(&runtime, &format!("{}/shapes", server.url)),
        _ => {
            return Err(format!(
                "no suite `{suite}`: complete, stream, pieces, shapes"
            ));
        }
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

/// How the streams come, the server's path, and what there is to say about it.
const STREAMS: [(&str, &str, &str); 3] = [
    ("all events in one write", "", "\
The events have one shape, as all providers send them: they differ in their words. skyl reads the JSON
of the first one and takes the words of the others out of that shape."),
    ("every event another shape", "/shapes", "\
Every event counts the tokens so far, as some servers do when asked, so each is read as JSON."),
    ("one write per event", "/pieces", "\
Each event wakes the client by itself. What that costs, in the kernel, the runtime and the HTTP library,
is the same for all and bounds the ratios."),
];

const COMPLETE: &str = "\
The server is another process; only the client's processor time counts. skyl times the attempt, keeps
its record, reads rate limits and request ids, and reads answers of servers that only resemble OpenAI's.";
