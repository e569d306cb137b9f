use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::dialect::harness::{Told, stream_text};
use crate::kind::ErrorKind;
use crate::message::Part;
use crate::response::StopReason;

fn sse(chunks: &[Value]) -> String {
    chunks.iter().fold(String::new(), |mut text, chunk| {
        write!(text, "data: {chunk}\r\n\r\n").unwrap();
        text
    })
}

fn told(chunks: &[Value]) -> Told {
    stream_text(&gemini(), &sse(chunks))
}

#[track_caller]
fn whole(chunks: &[Value]) -> Told {
    let told = told(chunks);
    told.end.as_ref().expect("a whole answer");
    told
}

fn parts(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}], "responseId": "rs-1"})
}

fn text(words: &str) -> Value {
    parts(&json!([{"text": words}]))
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason}]})
}

// googleapis/python-genai PR#2584.
#[test]
fn a_space_after_the_colon_is_not_needed() {
    let told = stream_text(
        &gemini(),
        "data:{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}]}\n\n",
    );
    assert_eq!((told.text().as_str(), told.end.is_ok()), ("hi", true));
}

// jeremychone/rust-genai#173: only the last of several calls was kept.
#[test]
fn parallel_calls_in_one_chunk_or_in_several_are_all_kept() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    for chunks in [
        vec![parts(&json!([call("a"), call("b")])), finish("STOP")],
        vec![
            parts(&json!([call("a")])),
            parts(&json!([call("b")])),
            finish("STOP"),
        ],
    ] {
        let told = whole(&chunks);
        assert_eq!(
            told.tools(),
            [("call_rs-1_0", "a", "{}"), ("call_rs-1_1", "b", "{}")]
        );
        assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
    }
}

// jeremychone/rust-genai#161: a tail of usage alone was a decode error.
#[test]
fn a_chunk_of_usage_alone_updates_the_usage() {
    let tail = json!({"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 5}, "modelVersion": "m"});
    let told = whole(&[text("a"), finish("STOP"), tail]);
    assert_eq!(told.decoded.usage.input_tokens, Some(3));
    assert_eq!(told.decoded.model.as_deref(), Some("m"));
}

// pydantic/pydantic-ai#1736, PR#4056: summed over the chunks, or reset by a null.
#[test]
fn usage_is_a_running_total_and_null_takes_nothing_back() {
    let with = |usage: Value| json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": usage});
    let told = told(&[
        with(json!({"promptTokenCount": 14, "candidatesTokenCount": 1})),
        with(json!({"promptTokenCount": 14, "candidatesTokenCount": 2, "thoughtsTokenCount": 4})),
        with(json!(null)),
        with(json!({"candidatesTokenCount": null})),
    ]);
    assert_eq!(told.kind(), ErrorKind::Truncated);
    assert_eq!(told.decoded.usage.input_tokens, Some(14));
    assert_eq!(told.decoded.usage.output_tokens, Some(6));
}

// 0xPlaygrounds/rig#2328: the first of two finish reasons was taken as the end.
#[test]
fn a_finish_in_the_middle_is_not_the_end() {
    let told = whole(&[
        text("Let me compute. "),
        json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
            {"text": "hm", "thought": true},
            {"executableCode": {"language": "PYTHON", "code": "6*7"}},
        ]}}]}),
        parts(&json!([{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42"}}])),
        text("It is 42."),
        finish("STOP"),
    ]);
    assert_eq!(told.text(), "Let me compute. It is 42.");
    assert_eq!(told.decoded.stop_reason, StopReason::EndTurn);
    let Part::Reasoning(thought) = &told.decoded.parts[1] else {
        panic!()
    };
    assert_eq!(thought.text, "hm");
    assert_eq!(told.decoded.parts.len(), 4);
}

#[test]
fn a_call_after_the_finish_makes_it_tool_use() {
    let told = whole(&[
        finish("STOP"),
        parts(&json!([{"functionCall": {"name": "a"}}])),
    ]);
    assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
}

// vercel/ai#19165.
#[test]
fn an_end_without_a_reason_is_truncated() {
    assert_eq!(told(&[text("a")]).kind(), ErrorKind::Truncated);
    assert_eq!(told(&[]).kind(), ErrorKind::Truncated);
    let text = sse(&[text("a")]) + "data: [DONE]\n\n";
    assert_eq!(stream_text(&gemini(), &text).kind(), ErrorKind::Truncated);
}

#[test]
fn the_last_chunk_may_lack_its_blank_line_if_it_is_whole() {
    let text = sse(&[text("a"), finish("STOP")]);
    let text = text.trim_end();
    assert!(stream_text(&gemini(), text).end.is_ok());
    let told = stream_text(&gemini(), &text[..text.len() - 1]);
    assert_eq!(
        (told.kind(), told.text().as_str()),
        (ErrorKind::Truncated, "a")
    );
}

#[test]
fn a_signature_stays_with_the_part_it_came_on() {
    let told = whole(&[
        parts(&json!([{"text": "hm", "thought": true, "thoughtSignature": "r"}])),
        text("Spring "),
        text("tide."),
        parts(&json!([{"text": "", "thoughtSignature": "s"}])),
        parts(&json!([{"functionCall": {"name": "a"}, "thoughtSignature": "t"}])),
        parts(&json!([{"functionCall": {"name": "b"}}])),
        parts(&json!([{"thoughtSignature": "u"}])),
        finish("STOP"),
    ]);
    let signatures: Vec<_> = told
        .decoded
        .parts
        .iter()
        .map(|part| {
            let state = match part {
                Part::Text(text) => &text.state,
                Part::Reasoning(reasoning) => &reasoning.state,
                Part::ToolCall(call) => &call.state,
                _ => &None,
            };
            let raw = state.as_ref()?.for_provider("gemini")?;
            let state: Value = serde_json::from_str(raw.get()).ok()?;
            Some(state["thoughtSignature"].as_str()?.to_owned())
        })
        .collect();
    let expected = ["r", "s", "t", "", "u"].map(|s| Some(s.to_owned()).filter(|s| !s.is_empty()));
    assert_eq!(signatures, expected);
    assert_eq!(told.text(), "Spring tide.");
}

// googleapis/python-genai#2604, #1162; vercel/ai#5217.
#[test]
fn errors_in_the_stream_are_told_in_every_shape() {
    let error = json!({"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}});
    let pretty = serde_json::to_string_pretty(&error).unwrap();
    let array = serde_json::to_string_pretty(&json!([error])).unwrap();
    for text in [
        format!("data: {error}\r\n\r\n"),
        format!("data: [{error}]\r\n\r\n"),
        format!("event: error\ndata: {error}\n\n"),
        format!("{error}\n"),
        format!("{pretty}\n"),
        format!("{array}\n"),
        format!("data: {}\n\n", pretty.replace('\n', "\ndata: ")),
        format!("error: {error}\n\n"),
        "data: {\"code\":503,\"message\":\"m\",\"status\":\"UNAVAILABLE\"}\n\n".to_owned(),
    ] {
        let told = stream_text(&gemini(), &text);
        assert!(
            told.end.as_ref().is_err_and(Fault::is_overloaded),
            "{text}: {:?}",
            told.end
        );
        assert_eq!(told.fault().message(), Some("m"));
        let later = stream_text(
            &gemini(),
            &(sse(&[self::text("a"), finish("STOP")]) + &text),
        );
        assert!(
            later.end.is_err_and(|fault| fault.is_overloaded()),
            "{text}"
        );
        for at in 0..text.len() {
            let told = harness::stream(&gemini(), [&text.as_bytes()[..at], &text.as_bytes()[at..]]);
            assert!(
                told.end.is_err_and(|fault| fault.is_overloaded()),
                "{text}, cut at {at}"
            );
        }
    }
    let told =
        told(&[json!({"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}})]);
    assert_eq!(
        (told.kind(), told.fault().status()),
        (ErrorKind::RateLimit, Some(429))
    );
    assert!(told.events.is_empty());
}

#[test]
fn half_an_error_is_not_the_end_of_a_whole_answer() {
    let answer = sse(&[text("a"), finish("STOP")]);
    for half in ["{\n \"error\": {\"code\":", "[{\n \"error\": {"] {
        let told = stream_text(&gemini(), &format!("{answer}{half}"));
        assert_eq!(told.kind(), ErrorKind::Truncated, "{half}");
    }
    assert!(stream_text(&gemini(), &answer).end.is_ok());
}

#[test]
fn strays_are_read_skipped_or_refused_by_what_they_are() {
    let answer = sse(&[text("a"), finish("STOP")]);
    let told = stream_text(&gemini(), &format!("{}\n{answer}", text("z")));
    assert_eq!(told.text(), "za", "a chunk that lost its field name");
    let told = stream_text(&gemini(), &format!("Please hold the line!\n\n{answer}"));
    assert!(told.end.is_ok());
    assert_eq!(told.decoded.warnings.len(), 1);
    let told = stream_text(&gemini(), &format!("<html>502</html>\n\n{answer}"));
    assert_eq!(told.kind(), ErrorKind::Decode);
}

#[test]
fn undecodable_chunks_are_an_error_and_no_gap() {
    for text in [
        "data: {\"candidates\":[]}{\"candidates\":[]}\n\n",
        "data: not json\n\n",
        "data: 5\n\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[7]}}]}\n\n",
    ] {
        assert_eq!(
            stream_text(&gemini(), text).kind(),
            ErrorKind::Decode,
            "{text}"
        );
    }
}

#[test]
fn an_error_after_content_keeps_what_was_told_and_what_it_cost() {
    let told = told(&[
        json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": {"promptTokenCount": 14}}),
        json!({"error": {"code": 500, "message": "m", "status": "INTERNAL"}}),
    ]);
    assert_eq!(told.text(), "a");
    assert_eq!(
        told.fault().usage().and_then(|usage| usage.input_tokens),
        Some(14)
    );
}

#[test]
fn a_blocked_prompt_fails_the_stream_before_any_content() {
    let told = told(&[json!({
        "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5},
    })]);
    assert_eq!(
        (told.kind(), told.fault().code()),
        (ErrorKind::Refusal, Some("SAFETY"))
    );
    assert!(told.events.is_empty());
}

#[test]
fn a_filter_after_text_is_an_answer_with_that_reason() {
    let told = whole(&[text("a"), finish("SAFETY")]);
    assert_eq!(
        (told.text().as_str(), &told.decoded.stop_reason),
        ("a", &StopReason::Refusal)
    );
    assert_eq!(
        self::told(&[finish("MALFORMED_FUNCTION_CALL")]).kind(),
        ErrorKind::Server
    );
    assert!(self::told(&[finish("STOP")]).end.is_ok());
}

fn part() -> impl Strategy<Value = Value> {
    let words = "[a-z é🌊\"\\\\\n]{0,12}";
    let signature = prop::option::of("[a-z]{1,4}");
    prop_oneof![
        (words, prop::bool::ANY, signature.clone()).prop_map(|(text, thought, signature)| {
            let mut part = json!({"text": text});
            if thought {
                part["thought"] = json!(true);
            }
            if let Some(signature) = signature {
                part["thoughtSignature"] = json!(signature);
            }
            part
        }),
        (prop::option::of("[ab]"), words, signature).prop_map(|(id, arg, signature)| {
            let mut part = json!({"functionCall": {"name": "t", "args": {"x": arg}}});
            if let Some(id) = id {
                part["functionCall"]["id"] = json!(id);
            }
            if let Some(signature) = signature {
                part["thoughtSignature"] = json!(signature);
            }
            part
        }),
        Just(json!({"functionCall": {"name": "u"}})),
        Just(json!({"executableCode": {"code": "1"}})),
        Just(json!({"thoughtSignature": "z"})),
        Just(json!({})),
    ]
}

/// The stream a server would send for a whole answer: a part, or a piece of a text, per chunk.
fn streamed(content: &[Value], reason: &str, size: usize) -> Vec<Value> {
    let mut chunks = Vec::new();
    for part in content {
        let words: Vec<char> = part["text"].as_str().unwrap_or_default().chars().collect();
        let pieces = words.chunks(size).count();
        for (n, piece) in words.chunks(size).enumerate() {
            let mut piece_part = part.clone();
            piece_part["text"] = json!(piece.iter().collect::<String>());
            if n + 1 < pieces {
                piece_part
                    .as_object_mut()
                    .unwrap()
                    .remove("thoughtSignature");
            }
            chunks.push(parts(&json!([piece_part])));
        }
        if words.is_empty() {
            chunks.push(parts(&json!([part])));
        }
    }
    let mut last = finish(reason);
    last["usageMetadata"] = json!({"promptTokenCount": 5, "candidatesTokenCount": 8});
    last["responseId"] = json!("rs-1");
    chunks.push(last);
    chunks
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_answer_gives(
        content in prop::collection::vec(part(), 0..6),
        size in 1_usize..5,
        reason in prop::sample::select(vec!["STOP", "MAX_TOKENS", "SAFETY", "OTHER"]),
    ) {
        let answer = json!({
            "candidates": [{"content": {"parts": content}, "finishReason": reason}],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 8},
            "responseId": "rs-1",
        });
        let complete = harness::answer(&gemini(), answer.to_string().as_bytes());
        let told = told(&streamed(&content, reason, size));
        match (complete, told.end) {
            (Ok(complete), Ok(())) => {
                prop_assert_eq!(&told.decoded, &complete);
                let mut sink = crate::Sink::new();
                sink.whole(complete.clone());
                prop_assert_eq!(sink.partial(), complete);
            }
            (Err(complete), Err(streamed)) => {
                prop_assert_eq!(format!("{complete:?}"), format!("{streamed:?}"));
            }
            (complete, streamed) => prop_assert!(false, "{complete:?} and {streamed:?}"),
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), status in 0_u16..1000) {
        feed(&bytes, status);
    }

    #[test]
    fn no_damaged_answer_panics(at in 0_usize..2_000, byte: u8, cut in 0_usize..2_000) {
        for name in ["28-gemini-stream.sse", "29-gemini-stream-parallel-calls.sse",
                     "32-gemini-429-day-array.http"] {
            let mut bytes = harness::fixture(name);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(bytes.len() - cut % bytes.len());
            feed(&bytes, 429);
        }
    }
}

/// Puts bytes through everything that reads any.
fn feed(bytes: &[u8], status: u16) {
    let dialect = gemini();
    let headers = HeaderMap::new();
    let head = Head::new(status, &headers, harness::now());
    drop(dialect.decode(&head, bytes));
    drop(dialect.classify(&head, bytes));
    drop(dialect.decode_models(&head, bytes));
    drop(harness::stream(&dialect, [bytes]));
    let mut event = b"data: ".to_vec();
    event.extend_from_slice(bytes);
    event.extend_from_slice(b"\n\n");
    drop(harness::stream(&dialect, event.chunks(3)));
}

#[test]
fn deep_nesting_is_refused_and_no_crash() {
    feed("[".repeat(100_000).as_bytes(), 500);
    let part = format!("{{\"x\":{}{}}}", "[".repeat(110), "]".repeat(110));
    let body = format!("{{\"candidates\":[{{\"content\":{{\"parts\":[{part}]}}}}]}}");
    feed(body.as_bytes(), 200);
}

// jeremychone/rust-genai#187, librefang#3448: characters cut by the network were lost.
#[test]
fn characters_cut_by_the_network_arrive_whole() {
    let bytes = sse(&[text("朝 🌊"), finish("STOP")]).into_bytes();
    assert_eq!(harness::stream(&gemini(), bytes.chunks(1)).text(), "朝 🌊");
    for at in 0..bytes.len() {
        let told = harness::stream(&gemini(), [&bytes[..at], &bytes[at..]]);
        assert_eq!(told.text(), "朝 🌊");
    }
}

#[test]
fn a_reason_without_content_is_not_told_before_it_is_known_to_be_an_answer() {
    let stop = |reason: &str| {
        let headers = HeaderMap::new();
        let mut decoder = gemini().stream_decoder(&Head::new(200, &headers, harness::now()));
        let mut sink = crate::Sink::new();
        let data = finish(reason).to_string();
        let frame = crate::Frame::Event {
            name: "message",
            data: &data,
            terminated: true,
        };
        assert_eq!(decoder.frame(frame, &mut sink).unwrap(), crate::Flow::More);
        sink.stop().cloned()
    };
    assert_eq!(stop("STOP"), Some(StopReason::EndTurn));
    assert_eq!(stop("SAFETY"), Some(StopReason::Refusal));
    assert_eq!(stop("MALFORMED_FUNCTION_CALL"), None);
}
