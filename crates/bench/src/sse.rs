//! The stream decoder beside its peers, on streams as AI servers send them.
//!
//! All contenders take the same `Bytes` from the same ready stream, so that the peers, which are
//! streams themselves, pay for nothing that skyl's decoder is spared. Each reads every event to
//! its end; that all see the same data is checked before anything is timed.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use eventsource_stream::EventStream;
use futures_util::{Stream, stream};
use skyl_sse::{Decoder, Frame};
use sse_stream::SseByteStream;

use crate::measure::{Bench, Contender, Effort, Stopwatch, Subject, as_f64};

/// Measures and prints a table for each stream and way of cutting it.
pub(crate) fn run(bench: &Bench) -> String {
    let chat = chat_stream();
    let named = named_stream();
    let image = image_stream(match bench.effort {
        Effort::Full => 1 << 20,
        // eventsource-stream reads it anew with each chunk.
        Effort::Smoke => 1 << 16,
    });
    [
        ("OpenAI chat, in one piece", &chat, vec![chat.clone()]),
        (
            "OpenAI chat, network segments of 1,400 bytes",
            &chat,
            cut(&chat, SEGMENT),
        ),
        ("OpenAI chat, one chunk per event", &chat, by_event(&chat)),
        (
            "Anthropic messages, network segments of 1,400 bytes",
            &named,
            cut(&named, SEGMENT),
        ),
        ("One image, chunks of 16 KiB", &image, cut(&image, 16 << 10)),
    ]
    .into_iter()
    .map(|(title, stream, chunks)| suite(bench, title, stream, &chunks) + "\n")
    .collect()
}

fn suite(bench: &Bench, title: &str, stream: &Bytes, chunks: &[Bytes]) -> String {
    let seen = skyl(chunks);
    assert_eq!(seen, eventsource(chunks), "eventsource-stream disagrees");
    assert_eq!(seen, sse(chunks), "sse-stream disagrees");

    let streams = (ROUND_BYTES / stream.len() as u64).max(1);
    let times = |run: fn(&[Bytes]) -> Seen| {
        move |n: u64| {
            for _ in 0..n.div_ceil(seen.events) {
                black_box(run(black_box(chunks)));
            }
        }
    };
    let title = format!("{title}: {} events, {} bytes", seen.events, stream.len());
    let subject = Subject {
        title: &title,
        unit: "event",
        iterations: streams * seen.events,
        bytes: Some(as_f64(stream.len() as u64) / as_f64(seen.events)),
        clock: Stopwatch::Wall,
        note: "",
    };
    let contenders = vec![
        Contender::new("skyl-sse", times(skyl)),
        Contender::new("eventsource-stream", times(eventsource)),
        Contender::new("sse-stream", times(sse)),
    ];
    bench.compare(subject, contenders)
}

/// What a contender has read, to see that all read the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    events: u64,
    name_bytes: usize,
    data_bytes: usize,
}

impl Seen {
    fn add(&mut self, name: &str, data: &str) {
        self.events += 1;
        self.name_bytes += black_box(name).len();
        self.data_bytes += black_box(data).len();
    }
}

fn skyl(chunks: &[Bytes]) -> Seen {
    let mut seen = Seen::default();
    let mut decoder = Decoder::default();
    drain(source(chunks), |chunk| {
        let Ok(chunk) = chunk;
        let mut input = &chunk[..];
        while let Ok(Some(frame)) = decoder.next(&mut input) {
            if let Frame::Event(event) = frame {
                seen.add(event.name, event.data);
            }
        }
    });
    seen
}

fn eventsource(chunks: &[Bytes]) -> Seen {
    let mut seen = Seen::default();
    drain(EventStream::new(source(chunks)), |event| {
        if let Ok(event) = event {
            seen.add(&event.event, &event.data);
        }
    });
    seen
}

fn sse(chunks: &[Bytes]) -> Seen {
    let mut seen = Seen::default();
    drain(SseByteStream::new(source(chunks)), |event| {
        if let Ok(event) = event {
            seen.add(
                event.event.as_deref().unwrap_or("message"),
                event.data.as_deref().unwrap_or_default(),
            );
        }
    });
    seen
}

/// A body whose chunks have all arrived.
fn source(chunks: &[Bytes]) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::iter(chunks.iter().cloned().map(Ok))
}

fn drain<S: Stream>(stream: S, mut each: impl FnMut(S::Item)) {
    let mut stream = pin!(stream);
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = stream.as_mut().poll_next(&mut context) {
        each(item);
    }
}

/// 200 events of Chat Completions: role, 196 pieces of text, finish, usage, end mark.
pub(crate) fn chat_stream() -> Bytes {
    let head = r#"{"id":"chatcmpl-D4xvQ2wPz7uKfGh1","object":"chat.completion.chunk","created":1796083200,"model":"gpt-5.4-mini-2026-03-17","service_tier":"default","system_fingerprint":"fp_9c1f2a07b4""#;
    let mut text = String::new();
    let mut push = |rest: &str| text.extend(["data: ", head, rest, "}\n\n"]);
    push(
        r#","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null"#,
    );
    for word in WORDS.iter().cycle().take(196) {
        push(&format!(
            r#","choices":[{{"index":0,"delta":{{"content":"{word}"}},"logprobs":null,"finish_reason":null}}],"usage":null"#
        ));
    }
    push(
        r#","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null"#,
    );
    push(
        r#","choices":[],"usage":{"prompt_tokens":31,"completion_tokens":196,"total_tokens":227,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}"#,
    );
    text.push_str("data: [DONE]\n\n");
    text.into()
}

/// 200 events with names.
fn named_stream() -> Bytes {
    let mut text = String::new();
    for word in WORDS.iter().cycle().take(200) {
        text.extend([
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{\"type\":\"text_delta\",\"text\":\"",
            word,
            "\"}}\n\n",
        ]);
    }
    text.into()
}

/// One event with an image, as the image models' partial results are.
fn image_stream(bytes: usize) -> Bytes {
    let image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(bytes / 24);
    format!(
        "event: image_generation.partial_image\n\
         data: {{\"type\":\"image_generation.partial_image\",\"b64_json\":\"{image}\"}}\n\n"
    )
    .into()
}

fn cut(stream: &Bytes, size: usize) -> Vec<Bytes> {
    stream
        .chunks(size)
        .map(|chunk| stream.slice_ref(chunk))
        .collect()
}

pub(crate) fn by_event(stream: &Bytes) -> Vec<Bytes> {
    let mut rest = &stream[..];
    let mut chunks = Vec::new();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
        let (event, after) = rest.split_at(end + 2);
        chunks.push(stream.slice_ref(event));
        rest = after;
    }
    chunks
}

/// Words as models cut them, some of them not ASCII.
const WORDS: &[&str] = &[
    "The",
    " tide",
    " at",
    " Brest",
    " turns",
    " at",
    " 10",
    ":",
    "03",
    ",",
    " and",
    " the",
    " ebb",
    " runs",
    " for",
    " six",
    " hours",
    " —",
    " the",
    " Gou",
    "let",
    " is",
    " narrow",
    ".",
    "\\n\\n",
    "Caf\u{e9}",
    " \u{201c}",
    "quoted",
    "\u{201d}",
    " \u{1f30a}",
];

/// What a TCP segment carries over Ethernet, less TLS.
const SEGMENT: usize = 1400;

/// Read per round by each contender.
const ROUND_BYTES: u64 = 32 << 20;
