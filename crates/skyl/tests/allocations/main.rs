//! A delta costs one allocation: the text that is handed out.
//!
//! Allocations are counted for the whole process, so these tests have a program of their own, and
//! in it one test. Each stream is decoded as the client does it, frames and all, and has two
//! lengths: what their difference costs is what deltas cost, without the start and the end.

use std::alloc::System;
use std::time::SystemTime;

use http::HeaderMap;
use skyl::anthropic::Anthropic;
use skyl::gemini::Gemini;
use skyl::openai::{OpenAi, OpenAiCompatible, Responses};
use skyl::{Dialect, Frame, Head, Sink};
use skyl_sse::Decoder;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATIONS: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A delta of a dialect; `{n}` stands for its number, in words and elsewhere.
struct Case {
    name: &'static str,
    dialect: Box<dyn Dialect>,
    start: &'static str,
    delta: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |name, dialect: Box<dyn Dialect>, start, delta| Case {
        name,
        dialect,
        start,
        delta,
    };
    let openai = || Box::new(OpenAi::new(KEY));
    let compatible = || Box::new(OpenAiCompatible::new("http://localhost/v1"));
    let responses = || Box::new(Responses::new(KEY));
    let anthropic = || Box::new(Anthropic::new(KEY));
    let gemini = || Box::new(Gemini::new(KEY));
    vec![
        case(
            "chat",
            openai(),
            "",
            r#"{"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":{"content":"word {n}"},"finish_reason":null}],"usage":null,"obfuscation":"{n}"}"#,
        ),
        case(
            "chat, every chunk another shape",
            openai(),
            "",
            r#"{"id":"chatcmpl-1","created":{n},"model":"m","choices":[{"index":0,"delta":{"content":"word {n}"},"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":{n}}}"#,
        ),
        case(
            "chat, escapes",
            openai(),
            "",
            r#"{"id":"chatcmpl-1","created":{n},"choices":[{"index":0,"delta":{"content":"\"word\"\n{n}"}}]}"#,
        ),
        case(
            "chat, reasoning",
            compatible(),
            "",
            r#"{"id":"chatcmpl-1","created":{n},"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"word {n}"}}]}"#,
        ),
        case(
            "chat, content in a list",
            compatible(),
            "",
            r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":[{"type":"text","text":"word {n}"}]}}]}"#,
        ),
        case(
            "chat, thinking in a list",
            compatible(),
            "",
            r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"word {n}"}]}]}}]}"#,
        ),
        case(
            "responses",
            responses(),
            r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
            r#"{"type":"response.output_text.delta","sequence_number":{n},"item_id":"msg_1","output_index":0,"content_index":0,"delta":"word {n}","logprobs":[],"obfuscation":"{n}"}"#,
        ),
        case(
            "responses, every event another shape",
            responses(),
            r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
            r#"{"type":"response.output_text.delta","at":{n},"item_id":"msg_1","output_index":0,"content_index":0,"delta":"word {n}"}"#,
        ),
        case(
            "anthropic",
            anthropic(),
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word {n}"}}"#,
        ),
        case(
            "anthropic, every event another shape",
            anthropic(),
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word {n}"},"p":{n}}"#,
        ),
        case(
            "anthropic, arguments",
            anthropic(),
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{n},\""}}"#,
        ),
        case(
            "gemini",
            gemini(),
            "",
            r#"{"candidates":[{"content":{"parts":[{"text":"word {n}"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":{n},"promptTokensDetails":[{"modality":"TEXT","tokenCount":4}]},"modelVersion":"m","responseId":"r"}"#,
        ),
        case(
            "gemini, thoughts",
            gemini(),
            "",
            r#"{"candidates":[{"content":{"parts":[{"text":"word {n}","thought":true}],"role":"model"},"index":0}]}"#,
        ),
    ]
}

/// A stream of this many deltas.
fn stream(case: &Case, deltas: usize) -> String {
    let deltas = (0..deltas).map(|n| case.delta.replace("{n}", &(FIRST + n).to_string()));
    let start = Some(case.start.to_owned()).filter(|start| !start.is_empty());
    let events = start.into_iter().chain(deltas);
    let parts = events.flat_map(|event| ["data: ".to_owned(), event, "\n\n".to_owned()]);
    parts.collect()
}

/// What decoding a stream allocates, growth of what is there included.
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a stream that cannot be read costs nothing that could be compared"
)]
fn allocations(case: &Case, stream: &str) -> usize {
    let headers = HeaderMap::new();
    let head = Head::new(200, &headers, SystemTime::UNIX_EPOCH);
    let mut dialect = case.dialect.stream_decoder(&head);
    let (mut frames, mut sink) = (Decoder::default(), Sink::new());
    let mut input = stream.as_bytes();
    let region = Region::new(ALLOCATIONS);
    while let Some(frame) = frames.next(&mut input).unwrap() {
        let skyl_sse::Frame::Event(event) = frame else {
            panic!("{}: no event", case.name)
        };
        let frame = Frame::Event {
            name: event.name,
            data: event.data,
            terminated: event.terminated,
        };
        let _flow = dialect.frame(frame, &mut sink).unwrap();
    }
    let counted = region.change();
    assert!(sink.has_content(), "{}", case.name);
    counted.allocations + counted.reallocations
}

#[test]
fn a_delta_costs_the_text_that_is_handed_out() {
    let mut dear = Vec::new();
    for case in cases() {
        let [short, long] = [SHORT, SHORT + DELTAS].map(|deltas| stream(&case, deltas));
        let cost = allocations(&case, &long) - allocations(&case, &short);
        // The text must come from somewhere: a count that is too low counts nothing.
        if !(DELTAS..=DELTAS + GROWTH).contains(&cost) {
            dear.push(format!("{}: {cost} allocations", case.name));
        }
    }
    assert!(dear.is_empty(), "for {DELTAS} deltas: {dear:#?}");
}

const KEY: &str = "sk-0123456789";
/// Numbers of one length, so that only digits change.
const FIRST: usize = 10_000;
const SHORT: usize = 1_000;
const DELTAS: usize = 4_000;
/// The queue and the answer double now and then.
const GROWTH: usize = 8;
