use http::HeaderMap;
use serde_json::{Value, json};

use super::*;
use crate::dialect::Dialect as _;
use crate::dialect::harness::{Told, now, stream, stream_text};
use crate::kind::ErrorKind;
use crate::openai::OpenAiCompatible;
use crate::response::{StopReason, StreamEvent, Usage};

fn dialect() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost/v1")
}

fn told(text: &str) -> Told {
    stream_text(&dialect(), text)
}

/// A stream of these chunks, without an end mark.
fn frames(chunks: &[Value]) -> String {
    chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect()
}

fn delta(delta: &Value) -> Value {
    json!({"id": "a", "choices": [{"index": 0, "delta": delta}]})
}

fn said(text: &str) -> Value {
    delta(&json!({"content": text}))
}

fn finish(word: &str) -> Value {
    json!({"id": "a", "choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

/// The calls that come of these pieces, one piece per chunk, ended by `finish_reason: tool_calls`.
fn pieces(pieces: &[Value]) -> Told {
    let chunks: Vec<_> = pieces
        .iter()
        .map(|piece| delta(&json!({"tool_calls": [piece]})))
        .collect();
    told(&(frames(&chunks) + &frames(&[finish("tool_calls")]) + "data: [DONE]\n\n"))
}

fn piece(index: usize, id: &str, name: &str, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function",
           "function": {"name": name, "arguments": arguments}})
}

fn fragment(index: usize, arguments: &str) -> Value {
    json!({"index": index, "function": {"arguments": arguments}})
}

const BREST: &str = r#"{"port":"Brest"}"#;

mod bytes {
    use super::*;

    // jeremychone/rust-genai#187, graniet/llm#57, librefang#3448
    #[test]
    fn characters_cut_by_the_network_arrive_whole() {
        let text = frames(&[said("Ünïcødé 朝 🌊"), finish("stop")]);
        for size in 1..8 {
            let told = stream(&dialect(), text.as_bytes().chunks(size));
            assert_eq!(told.text(), "Ünïcødé 朝 🌊", "chunks of {size}");
        }
    }

    // openai/openai-node#757, codex-lb#1010, langgenius/dify#39008
    #[test]
    fn unicode_line_separators_are_text() {
        let told = told(&frames(&[said("a\u{2028}b\u{85}c"), finish("stop")]));
        assert_eq!(told.text(), "a\u{2028}b\u{85}c");
    }

    // openai/openai-python#663
    #[test]
    fn two_objects_in_one_event_are_an_error_and_no_gap() {
        let one = said("a");
        let told = told(&format!("data: {one}{one}\n\ndata: [DONE]\n\n"));
        assert_eq!(told.kind(), ErrorKind::Decode);
        assert_eq!(
            told.fault().message(),
            Some("more than one JSON value, from line 1 column 59 on")
        );
        assert_eq!(told.text(), "");
    }

    #[test]
    fn an_event_that_is_no_json_is_an_error_and_no_gap() {
        for data in [
            "Internal Server Error",
            "{\"choices\":",
            "17",
            "\"text\"",
            "[1]",
            "{}}",
        ] {
            let told = told(&format!("data: {data}\n\ndata: [DONE]\n\n"));
            assert_eq!(told.kind(), ErrorKind::Decode, "{data}");
            let message = told.fault().message().unwrap();
            assert!(
                !message.contains("Internal"),
                "the event is not quoted: {message}"
            );
        }
    }

    // vercel/ai#383, 64bit/async-openai#522
    #[test]
    fn pings_and_keepalives_are_life_and_no_content() {
        let mut decoder = dialect().stream_decoder(&Head::new(200, &HeaderMap::new(), now()));
        let mut sink = Sink::new();
        for (name, data) in [
            ("ping", r#"{"type":"ping"}"#),
            ("keepalive", "x"),
            ("message", r#"{"type":"keepalive","sequence_number":3}"#),
            ("message", ""),
            ("message", "  "),
        ] {
            let frame = Frame::Event {
                name,
                data,
                terminated: true,
            };
            assert_eq!(
                decoder.frame(frame, &mut sink).unwrap(),
                Flow::Life,
                "{name} {data}"
            );
        }
        assert!(!sink.has_content());
    }

    #[test]
    fn role_frames_are_no_content() {
        let first = delta(&json!({"role": "assistant", "content": "", "refusal": null}));
        let mut decoder = dialect().stream_decoder(&Head::new(200, &HeaderMap::new(), now()));
        let mut sink = Sink::new();
        let data = first.to_string();
        let frame = Frame::Event {
            name: "message",
            data: &data,
            terminated: true,
        };
        assert_eq!(decoder.frame(frame, &mut sink).unwrap(), Flow::More);
        assert!(!sink.has_content());
    }

    #[test]
    fn one_event_per_delta_and_its_words_unchanged() {
        let told = told(&frames(&[
            said("a\n"),
            said(""),
            said("\"b\" \\ "),
            finish("stop"),
        ]));
        let text = |text: &str| StreamEvent::Text(text.to_owned());
        assert_eq!(told.events, [text("a\n"), text("\"b\" \\ ")]);
        assert_eq!(told.text(), "a\n\"b\" \\ ");
    }
}

mod ends {
    use super::*;

    // 64bit/async-openai#110, #74
    #[test]
    fn done_ends_the_stream_at_once() {
        let mut decoder = dialect().stream_decoder(&Head::new(200, &HeaderMap::new(), now()));
        for data in [
            "[DONE]",
            " [DONE] ",
            "[DONE]\r",
            "[done]",
            "\"[DONE]\"",
            "[DONE] ",
        ] {
            let frame = Frame::Event {
                name: "message",
                data,
                terminated: true,
            };
            assert_eq!(
                decoder.frame(frame, &mut Sink::new()).unwrap(),
                Flow::Done,
                "{data:?}"
            );
        }
        assert!(decoder.is_whole());
    }

    // vercel/ai#19165, vercel/ai#20179, can1357/oh-my-pi#9433
    #[test]
    fn a_finish_reason_or_done_makes_a_stream_whole_and_nothing_else_does() {
        let text = frames(&[said("a")]);
        assert_eq!(told(&text).kind(), ErrorKind::Truncated);
        let by_finish = told(&(text.clone() + &frames(&[finish("stop")])));
        assert!(by_finish.end.is_ok());
        assert_eq!(by_finish.decoded.stop_reason, StopReason::EndTurn);
        let by_done = told(&(text + "data: [DONE]\n\n"));
        assert!(by_done.end.is_ok());
        assert_eq!(
            by_done.decoded.stop_reason,
            StopReason::Other(String::new())
        );
    }

    // jeremychone/rust-genai#164
    #[test]
    fn text_beside_the_finish_reason_is_delivered() {
        let last = json!({"choices": [{"index": 0, "delta": {"content": "end."},
                                       "finish_reason": "stop"}]});
        let told = told(&frames(&[last]));
        assert_eq!(told.text(), "end.");
        assert!(told.end.is_ok());
    }

    #[test]
    fn an_empty_finish_reason_is_none() {
        let empty = json!({"choices": [{"index": 0, "delta": {"content": "a"},
                                        "finish_reason": ""}]});
        assert_eq!(told(&frames(&[empty])).kind(), ErrorKind::Truncated);
    }

    #[test]
    fn two_finish_reasons_are_one_end() {
        let told = told(&frames(&[said("a"), finish("length"), finish("stop")]));
        assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
    }

    // 0xPlaygrounds/rig#2332
    #[test]
    fn a_reply_of_reasoning_alone_that_met_its_limit_is_an_answer() {
        let thought = delta(&json!({"reasoning_content": "Hm."}));
        let told = told(&frames(&[thought, finish("length")]));
        assert!(told.end.is_ok());
        assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
        assert_eq!(told.text(), "");
    }

    #[test]
    fn a_stream_with_nothing_in_it_is_a_failure_of_the_provider() {
        for text in [
            "data: [DONE]\n\n".to_owned(),
            frames(&[delta(&json!({"role": "assistant"}))]) + "data: [DONE]\n\n",
        ] {
            let told = told(&text);
            assert_eq!(told.kind(), ErrorKind::Server, "{text}");
            assert!(
                told.fault()
                    .message()
                    .unwrap()
                    .starts_with("empty response")
            );
        }
        assert!(
            told(&frames(&[finish("stop")])).end.is_ok(),
            "an empty answer that says it is one"
        );
    }

    // anomalyco/opencode#40454, agentjido/req_llm#462
    #[test]
    fn a_last_event_without_its_blank_line_counts_if_it_is_whole() {
        let text = frames(&[said("a")]);
        let told_with = |last: &str| told(&(text.clone() + last));
        assert!(told_with("data: [DONE]").end.is_ok());
        assert!(told_with(&format!("data: {}", finish("stop"))).end.is_ok());
        assert_eq!(
            told_with("data: {\"choices\":[{").kind(),
            ErrorKind::Truncated
        );
        assert_eq!(told_with("data: [DO").kind(), ErrorKind::Truncated);
        let error = told_with("data: {\"error\":{\"code\":502}}");
        assert_eq!(error.kind(), ErrorKind::Server);
    }

    #[test]
    fn a_whole_message_at_the_end_is_not_told_twice() {
        let last = json!({"object": "chat.completion", "choices": [{
            "index": 0, "message": {"role": "assistant", "content": "ab"},
            "finish_reason": "stop"}]});
        assert_eq!(
            told(&frames(&[said("a"), said("b"), last.clone()])).text(),
            "ab"
        );
        assert_eq!(
            told(&frames(&[last])).text(),
            "ab",
            "a server that streams one whole message"
        );
    }

    #[test]
    fn refusals_are_events_of_their_own_and_the_reason() {
        let told = told(&frames(&[
            delta(&json!({"refusal": "I can't "})),
            delta(&json!({"refusal": "do that."})),
            finish("stop"),
        ]));
        assert_eq!(told.decoded.refusal.as_deref(), Some("I can't do that."));
        assert_eq!(told.decoded.stop_reason, StopReason::Refusal);
        assert_eq!(told.events.len(), 2);
        assert!(matches!(&told.events[0], StreamEvent::Refusal(text) if text == "I can't "));
    }
}

mod errors {
    use super::*;

    const BOOM: &str = r#"{"message":"boom","type":"server_error"}"#;

    #[track_caller]
    fn check(text: &str, kind: ErrorKind, message: &str) {
        for (place, before) in [("first", String::new()), ("later", frames(&[said("a")]))] {
            // Whether `[DONE]` follows must not matter: vLLM writes it, others do not.
            for after in ["", "data: [DONE]\n\n"] {
                let told = told(&format!("{before}{text}{after}"));
                assert_eq!(told.kind(), kind, "{place}, then {after:?}");
                assert_eq!(told.fault().message(), Some(message), "{place}");
            }
        }
    }

    // jeremychone/rust-genai#245, #159, block/goose#8027, envoyproxy/ai-gateway#2279
    #[test]
    fn an_error_in_a_data_frame_is_that_error() {
        check(
            &format!("data: {{\"error\":{BOOM}}}\n\n"),
            ErrorKind::Server,
            "boom",
        );
        check("data: {\"error\":\"boom\"}\n\n", ErrorKind::Server, "boom");
        check(
            "data: {\"error\":{\"message\":\"Provider returned error\",\"code\":502}}\n\n",
            ErrorKind::Server,
            "Provider returned error",
        );
    }

    // openai/openai-python#2796
    #[test]
    fn an_event_named_error_is_an_error_whatever_it_holds() {
        check(
            &format!("event: error\ndata: {{\"error\":{BOOM}}}\n\n"),
            ErrorKind::Server,
            "boom",
        );
        check(
            &format!("event: error\ndata: {BOOM}\n\n"),
            ErrorKind::Server,
            "boom",
        );
        check("event: error\ndata: boom\n\n", ErrorKind::Server, "boom");
    }

    // openai/openai-python#649, #650
    #[test]
    fn an_error_over_several_lines_is_one_error_with_and_without_data_fields() {
        check(
            "data: {\ndata:  \"error\": {\"message\": \"overloaded\"}\ndata: }\n\n",
            ErrorKind::Server,
            "overloaded",
        );
        check(
            "{\n  \"error\": {\"message\": \"overloaded\"}\n}\n\n",
            ErrorKind::Server,
            "overloaded",
        );
        check(
            "[{\n  \"error\": {\"message\": \"overloaded\"}\n}]\n\n",
            ErrorKind::Server,
            "overloaded",
        );
    }

    #[test]
    fn a_line_named_error_as_llama_cpp_writes_it_is_an_error() {
        check(
            "error: {\"code\":500,\"message\":\"boom\",\"type\":\"server_error\"}\n\n",
            ErrorKind::Server,
            "boom",
        );
    }

    // UKGovernmentBEIS/inspect_ai#5110
    #[test]
    fn an_error_without_a_status_is_known_by_its_type() {
        let kind = |error: Value| told(&frames(&[json!({"error": error})])).kind();
        assert_eq!(
            kind(json!({"type": "server_error", "code": null})),
            ErrorKind::Server
        );
        assert_eq!(
            kind(json!({"code": "rate_limit_exceeded"})),
            ErrorKind::RateLimit
        );
        assert_eq!(
            kind(json!({"type": "authentication_error"})),
            ErrorKind::Auth
        );
        assert_eq!(
            kind(json!({"type": "invalid_request_error"})),
            ErrorKind::BadRequest
        );
        assert_eq!(
            kind(json!({"code": "context_length_exceeded"})),
            ErrorKind::ContextLength
        );
        assert_eq!(
            kind(json!({"type": "who_knows", "message": "x"})),
            ErrorKind::Server
        );
    }

    // openai/codex#6340, googleapis/python-genai#2604
    #[test]
    fn a_numeric_code_is_taken_as_the_status_and_a_quota_stays_a_quota() {
        let told = told(&frames(&[
            json!({"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}),
        ]));
        assert_eq!(told.kind(), ErrorKind::RateLimit);
        assert_eq!(told.fault().status(), Some(429));
        assert_eq!(told.fault().code(), Some("429"));
        let told = super::told(&frames(&[json!({"error": {"code": "insufficient_quota"}})]));
        assert_eq!(told.kind(), ErrorKind::QuotaExhausted);
    }

    #[test]
    fn an_error_beside_choices_or_in_one_is_that_error_and_its_delta_no_content() {
        let error = json!({"code": 502, "message": "boom"});
        let beside = json!({"choices": [{"index": 0, "delta": {"content": "x"},
                             "finish_reason": "error"}], "error": error});
        check(&frames(&[beside.clone()]), ErrorKind::Server, "boom");
        assert_eq!(
            told(&frames(&[beside])).text(),
            "",
            "what comes with an error is not content"
        );
        let inside = json!({"choices": [{"index": 0, "delta": {}, "error": error,
                             "finish_reason": "error"}]});
        check(&frames(&[inside]), ErrorKind::Server, "boom");
        let groq = json!({"choices": [], "x_groq": {"id": "r", "error": "boom"}});
        check(&frames(&[groq]), ErrorKind::Server, "boom");
    }

    #[test]
    fn a_finish_that_says_error_is_a_failure_and_no_success() {
        check(
            &frames(&[finish("error")]),
            ErrorKind::Server,
            "the provider broke off the answer",
        );
        let told = told(&frames(&[finish("insufficient_system_resource")]));
        assert!(told.fault().is_overloaded());
    }

    #[test]
    fn flat_errors_are_errors_and_notices_are_not() {
        check(
            "data: {\"object\":\"error\",\"message\":\"boom\",\"type\":\"BadRequestError\",\"code\":400}\n\n",
            ErrorKind::BadRequest,
            "boom",
        );
        check("data: {\"detail\":\"boom\"}\n\n", ErrorKind::Server, "boom");
        let notice = "data: {\"type\":\"status\",\"message\":\"third in the queue\"}\n\n";
        assert!(
            told(&(notice.to_owned() + &frames(&[said("a"), finish("stop")])))
                .end
                .is_ok()
        );
    }

    #[test]
    fn an_error_that_is_null_or_empty_is_none() {
        for error in [json!(null), json!({}), json!(""), json!(false)] {
            let chunk = json!({"error": error, "choices": [{"index": 0, "delta": {"content": "a"},
                                "finish_reason": "stop"}]});
            assert_eq!(told(&frames(&[chunk])).text(), "a", "{error}");
        }
    }

    #[test]
    fn a_page_in_the_middle_of_a_stream_is_unreadable_and_other_strays_are_told() {
        let page = told(&(frames(&[said("a")]) + "<html>\n<body>502</body>\n</html>\n\n"));
        assert_eq!(page.kind(), ErrorKind::Decode);
        let prose = told(
            &(frames(&[said("a")]) + "(no healthy upstream)\n\n" + &frames(&[finish("stop")])),
        );
        assert!(prose.end.is_ok());
        assert_eq!(prose.decoded.warnings.len(), 1);
        assert_eq!(prose.decoded.warnings[0].field, "stream");
    }

    #[test]
    fn waits_inside_an_error_are_read_against_the_replys_own_date() {
        let mut headers = HeaderMap::new();
        headers.insert("date", "Tue, 01 Dec 2026 00:00:00 GMT".parse().unwrap());
        let reset = "1796083207000";
        let data = json!({"error": {"code": 429, "metadata": {"headers": {
            "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}}}})
        .to_string();
        let wait = |headers: &HeaderMap| {
            let mut decoder = dialect().stream_decoder(&Head::new(200, headers, now()));
            let frame = Frame::Event {
                name: "message",
                data: &data,
                terminated: true,
            };
            decoder.frame(frame, &mut Sink::new()).unwrap_err().hint()
        };
        assert_eq!(wait(&headers), Hint::Wait(Duration::from_secs(7)));
        assert_eq!(
            wait(&HeaderMap::new()),
            Hint::Unusable,
            "without a date no date can be read"
        );
    }
}

mod calls {
    use super::*;

    // ollama/ollama#15457, BerriAI/litellm#21331
    #[test]
    fn whole_calls_that_all_have_index_zero_stay_apart() {
        let told = pieces(&[piece(0, "c1", "tide", BREST), piece(0, "c2", "moon", "{}")]);
        assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
    }

    #[test]
    fn whole_calls_of_one_tool_at_one_index_stay_apart_even_without_ids() {
        for id in ["", "null"] {
            let told = pieces(&[
                piece(0, id, "tide", BREST),
                piece(0, id, "tide", "{\"port\":1}"),
            ]);
            let arguments: Vec<_> = told.tools().iter().map(|tool| tool.2.to_owned()).collect();
            assert_eq!(arguments, [BREST, "{\"port\":1}"]);
            assert_ne!(
                told.tools()[0].0,
                told.tools()[1].0,
                "each has an id of its own"
            );
        }
    }

    // jeremychone/rust-genai#199
    #[test]
    fn calls_without_index_in_one_chunk_with_the_finish_stay_apart() {
        let chunk = json!({"choices": [{"delta": {"tool_calls": [
            {"id": "c1", "function": {"name": "tide", "arguments": BREST}},
            {"function": {"name": "moon", "arguments": null}},
            {"function": {"name": "moon", "arguments": null}},
        ]}, "finish_reason": "tool_calls"}]});
        let told = told(&frames(&[chunk]));
        let tools: Vec<_> = told.tools().iter().map(|tool| (tool.1, tool.2)).collect();
        assert_eq!(tools, [("tide", BREST), ("moon", "{}"), ("moon", "{}")]);
    }

    #[test]
    fn fragments_without_index_go_to_the_last_call() {
        let told = pieces(&[
            json!({"id": "c1", "function": {"name": "tide", "arguments": "{\"port\":"}}),
            json!({"function": {"arguments": "\"Brest\"}"}}),
            json!({"id": "c2", "function": {"name": "moon"}}),
            json!({"function": {"arguments": "{}"}}),
        ]);
        assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
    }

    // langchain4j/langchain4j#2385, anthropics/anthropic-sdk-go#350
    #[test]
    fn interleaved_fragments_go_by_their_index() {
        let told = pieces(&[
            piece(0, "c1", "tide", ""),
            piece(1, "c2", "moon", ""),
            fragment(0, "{\"port\":"),
            fragment(1, "{"),
            fragment(0, "\"Brest\"}"),
            fragment(1, "}"),
        ]);
        assert_eq!(told.tools(), [("c1", "tide", BREST), ("c2", "moon", "{}")]);
    }

    // langchain-ai/langchainjs#11373
    #[test]
    fn a_later_id_of_null_or_nothing_does_not_replace_the_real_one() {
        let told = pieces(&[
            piece(0, "c1", "tide", "{\"port\":"),
            json!({"index": 0, "id": "null", "function": {"arguments": "\"Br"}}),
            json!({"index": 0, "id": "", "function": {"arguments": "est\"}"}}),
        ]);
        assert_eq!(told.tools(), [("c1", "tide", BREST)]);
    }

    #[test]
    fn an_id_that_changes_with_every_piece_makes_no_new_calls() {
        let told = pieces(&[
            piece(0, "r1", "tide", ""),
            json!({"index": 0, "id": "r2", "function": {"arguments": "{\"port\":"}}),
            json!({"index": 0, "id": "r3", "function": {"name": null, "arguments": "\"Brest\"}"}}),
        ]);
        assert_eq!(told.tools(), [("r1", "tide", BREST)]);
    }

    #[test]
    fn a_name_repeated_with_every_piece_makes_no_new_calls() {
        let told = pieces(&[
            piece(0, "c1", "tide", "{\"port\":"),
            piece(0, "c1", "tide", "\"Brest\"}"),
            piece(0, "", "tide", ""),
        ]);
        assert_eq!(told.tools(), [("c1", "tide", BREST)]);
    }

    // vercel/ai#4936
    #[test]
    fn repeated_ids_are_made_unique_with_a_warning() {
        let told = pieces(&[piece(0, "x", "tide", BREST), piece(1, "x", "tide", "{}")]);
        let tools = told.tools();
        assert_eq!(tools.len(), 2);
        assert_eq!((tools[0].0, tools[0].2), ("x", BREST));
        assert_ne!(tools[1].0, "x");
        assert_eq!(told.decoded.warnings.len(), 1);
        assert_eq!(told.decoded.warnings[0].field, "tool_calls");
    }

    // 0xPlaygrounds/rig#1814, #1786
    #[test]
    fn a_function_of_null_and_arguments_of_null_are_taken() {
        let told = pieces(&[
            json!({"index": 0, "id": "c", "function": null}),
            json!({"index": 0, "function": {"name": "moon", "arguments": null}}),
        ]);
        assert_eq!(told.tools(), [("c", "moon", "{}")]);
    }

    #[test]
    fn arguments_as_an_object_are_taken_as_its_text() {
        let told = pieces(&[
            json!({"index": 0, "id": "c", "function": {"name": "tide", "arguments": {"port": "Brest"}}}),
        ]);
        assert_eq!(told.tools(), [("c", "tide", BREST)]);
    }

    #[test]
    fn an_id_that_is_a_number_is_taken_as_its_text() {
        let told = pieces(&[
            json!({"index": 0, "id": 17, "function": {"name": "moon", "arguments": "{}"}}),
        ]);
        assert_eq!(told.tools(), [("17", "moon", "{}")]);
    }

    #[test]
    fn missing_ids_are_made_here() {
        let told = pieces(&[json!({"index": 0, "function": {"name": "moon", "arguments": "{}"}})]);
        let (id, name, _) = told.tools()[0];
        assert_eq!(name, "moon");
        assert!(id.starts_with("call_") && id.len() <= 40, "{id}");
        assert!(told.decoded.warnings.is_empty());
    }

    #[test]
    fn an_id_that_comes_after_the_name_is_still_taken() {
        let told = pieces(&[
            json!({"index": 0, "function": {"name": "moon"}}),
            json!({"index": 0, "id": "c1", "function": {"arguments": "{}"}}),
        ]);
        assert_eq!(told.tools(), [("c1", "moon", "{}")]);
    }

    // jeremychone/rust-genai#264
    #[test]
    fn broken_arguments_stay_as_they_are_and_concern_their_call_alone() {
        let broken = "{\"port\": Brest}";
        let told = pieces(&[piece(0, "c1", "tide", broken), piece(1, "c2", "moon", "{}")]);
        assert_eq!(told.tools(), [("c1", "tide", broken), ("c2", "moon", "{}")]);
        assert_eq!(told.decoded.warnings.len(), 1);
        assert!(told.events.iter().any(
            |event| matches!(event, StreamEvent::ToolCall(call) if !call.is_whole() && call.id == "c1")
        ));
    }

    // 0xPlaygrounds/rig#2359
    #[test]
    fn arguments_cut_by_the_token_limit_lose_neither_text_nor_usage() {
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9}});
        let told = told(&frames(&[
            said("Let me see."),
            delta(&json!({"tool_calls": [piece(0, "c", "tide", "{\"port\":\"Br")]})),
            finish("length"),
            usage,
        ]));
        assert!(told.end.is_ok());
        assert_eq!(told.text(), "Let me see.");
        assert_eq!(told.decoded.stop_reason, StopReason::MaxTokens);
        assert_eq!(told.decoded.usage.output_tokens, Some(9));
        assert_eq!(told.tools(), [("c", "tide", "{\"port\":\"Br")]);
        assert_eq!(told.decoded.warnings.len(), 1, "the call is marked");
    }

    #[test]
    fn a_stream_cut_within_a_call_hands_out_no_half_call() {
        let text = frames(&[
            delta(&json!({"tool_calls": [piece(0, "c1", "tide", BREST)]})),
            delta(&json!({"tool_calls": [piece(1, "c2", "moon", "{")]})),
        ]);
        let told = told(&text);
        assert_eq!(told.kind(), ErrorKind::Truncated);
        assert!(told.tools().is_empty());
        assert!(
            !told
                .events
                .iter()
                .any(|event| matches!(event, StreamEvent::ToolCall(_)))
        );
    }

    #[test]
    fn a_call_without_a_name_is_left_out_with_a_warning() {
        let told = pieces(&[fragment(0, "{}")]);
        assert!(told.tools().is_empty());
        assert_eq!(told.decoded.warnings.len(), 1);
    }

    #[test]
    fn a_call_that_ends_with_stop_is_still_a_call() {
        let told = told(&frames(&[
            delta(&json!({"tool_calls": [piece(0, "c", "moon", "{}")]})),
            finish("stop"),
        ]));
        assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
    }

    #[test]
    fn the_first_form_of_calls_is_taken_too() {
        let told = told(&frames(&[
            delta(&json!({"function_call": {"name": "tide", "arguments": "{\"port\":"}})),
            delta(&json!({"function_call": {"arguments": "\"Brest\"}"}})),
            finish("function_call"),
        ]));
        let tools = told.tools();
        assert_eq!((tools[0].1, tools[0].2), ("tide", BREST));
        assert_eq!(told.decoded.stop_reason, StopReason::ToolUse);
    }

    #[test]
    fn five_hundred_and_twelve_fragments_make_one_event_each_and_one_call() {
        let body: String = (0..511).map(|n| format!("{:064},", n % 10)).collect();
        let whole = format!("{{\"a\":\"{body}\"}}");
        let mut all = vec![piece(0, "c", "tide", "")];
        let size = whole.len().div_ceil(512);
        all.extend(
            whole
                .as_bytes()
                .chunks(size)
                .map(|bytes| fragment(0, str::from_utf8(bytes).unwrap())),
        );
        let told = pieces(&all);
        assert_eq!(told.tools(), [("c", "tide", &*whole)]);
        let fragments = told
            .events
            .iter()
            .filter(|e| matches!(e, StreamEvent::ToolCallArguments { .. }));
        assert_eq!(fragments.count(), all.len() - 1);
    }
}

mod usage {
    use super::*;

    fn usage(input: u64, output: u64) -> Value {
        json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}})
    }

    fn figures(told: &Told) -> (Option<u64>, Option<u64>) {
        (
            told.decoded.usage.input_tokens,
            told.decoded.usage.output_tokens,
        )
    }

    // deepset-ai/haystack#8507, vercel/ai#7417
    #[test]
    fn a_chunk_of_usage_alone_is_fine_with_and_without_choices() {
        let mut without = usage(6, 3);
        without.as_object_mut().unwrap().remove("choices");
        for chunk in [usage(6, 3), without] {
            let told = told(&frames(&[said("a"), finish("stop"), chunk]));
            assert!(told.end.is_ok());
            assert_eq!(figures(&told), (Some(6), Some(3)));
        }
    }

    // pydantic/pydantic-ai#4056, #5260, camel-ai/camel#4257
    #[test]
    fn running_totals_replace_and_a_null_or_a_cut_resets_nothing() {
        let null = json!({"choices": [{"index": 0, "delta": {"content": "b"}}], "usage": null});
        let told = told(&frames(&[usage(11, 1), said("a"), usage(11, 2), null]));
        assert_eq!(told.kind(), ErrorKind::Truncated);
        assert_eq!(figures(&told), (Some(11), Some(2)));
    }

    // zed-industries/zed#42893
    #[test]
    fn usage_that_says_nothing_is_none() {
        for usage in [
            json!({}),
            json!(null),
            json!([]),
            json!("?"),
            json!({"prompt_tokens": -1}),
        ] {
            let chunk = json!({"choices": [], "usage": usage});
            let told = told(&frames(&[said("a"), chunk, finish("stop")]));
            assert_eq!(told.decoded.usage, Usage::default(), "{usage}");
            assert!(told.end.is_ok());
        }
    }

    #[test]
    fn usage_is_found_wherever_servers_put_it() {
        let tokens = json!({"prompt_tokens": 7, "completion_tokens": 2,
            "prompt_cache_hit_tokens": 4,
            "prompt_tokens_details": null,
            "completion_tokens_details": {"reasoning_tokens": 1}});
        for last in [
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": tokens}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": tokens}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}],
                   "x_groq": {"id": "req_1", "usage": tokens}}),
        ] {
            let told = told(&frames(&[said("a"), last.clone()]));
            assert_eq!(figures(&told), (Some(7), Some(2)), "{last}");
            assert_eq!(told.decoded.usage.cache_read_tokens, Some(4));
            assert_eq!(told.decoded.usage.reasoning_tokens, Some(1));
        }
    }
}

mod shapes {
    use super::*;

    // 0xPlaygrounds/rig#2337
    #[test]
    fn chunks_of_other_choices_are_left_out_with_one_warning() {
        let other = json!({"choices": [{"index": 1, "delta": {"content": "X"}}]});
        let both = json!({"choices": [{"index": 1, "delta": {"content": "X"}},
                                      {"index": 0, "delta": {"content": "b"}}]});
        let told = told(&frames(&[
            said("a"),
            other.clone(),
            both,
            other,
            finish("stop"),
        ]));
        assert_eq!(told.text(), "ab");
        assert_eq!(told.decoded.warnings.len(), 1);
        assert_eq!(told.decoded.warnings[0].field, "choices");
    }

    // microsoft/autogen#6465, openai/openai-node#1015
    #[test]
    fn a_choice_without_a_delta_is_skipped() {
        let filter = json!({"choices": [{"index": 0, "finish_reason": null,
                             "content_filter_offsets": {"check_offset": 1}}]});
        let told = told(&frames(&[said("a"), filter, finish("stop")]));
        assert_eq!(told.text(), "a");
        assert!(told.decoded.warnings.is_empty());
    }

    // agentjido/req_llm#742, simonw/llm-mistral#38, vercel/ai#4820
    #[test]
    fn content_lists_give_text_and_thinking_apart() {
        let told = told(&frames(&[
            delta(&json!({"content": [{"type": "thinking",
                          "thinking": [{"type": "text", "text": "Add "}, {"type": "text", "text": "them."}]}]})),
            delta(&json!({"content": [{"type": "text", "text": "Seven."}, "!"]})),
            delta(&json!({"content": [{"type": "reference", "reference_ids": [1]}]})),
            delta(&json!({"content": [{"type": "reference", "reference_ids": [2]}]})),
            finish("stop"),
        ]));
        assert_eq!(told.text(), "Seven.!");
        assert!(matches!(&told.events[0], StreamEvent::Reasoning(text) if text == "Add them."));
        assert_eq!(told.decoded.warnings.len(), 1, "told once");
    }

    #[test]
    fn reasoning_under_two_names_is_told_once() {
        let both = delta(&json!({"reasoning": "Hm.", "reasoning_content": "Hm."}));
        let told = told(&frames(&[both, finish("stop")]));
        assert_eq!(told.events.len(), 1);
    }

    // 64bit/async-openai#457, #283, #352, pydantic/pydantic-ai#1094
    #[test]
    fn missing_null_and_unheard_of_fields_are_taken() {
        let told = told(&frames(&[
            json!({"choices": [{"delta": {"content": "a", "role": null}, "index": null}]}),
            json!({"id": 17, "created": null, "model": null, "object": null,
                   "service_tier": "on_demand", "system_fingerprint": null, "brand_new": {"x": []},
                   "choices": [{"delta": {"content": "b", "tool_calls": null},
                                "finish_reason": "stop"}]}),
        ]));
        assert_eq!(told.text(), "ab");
        assert_eq!(told.decoded.id.as_deref(), Some("17"));
    }

    #[test]
    fn the_id_the_model_and_the_request_id_are_kept() {
        let chunk = json!({"id": "chatcmpl-1", "model": "m-2026", "x_groq": {"id": "req_1"},
                           "choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
        let told = told(&frames(&[
            json!({"id": "", "model": "", "choices": []}),
            chunk,
        ]));
        assert_eq!(told.decoded.id.as_deref(), Some("chatcmpl-1"));
        assert_eq!(told.decoded.model.as_deref(), Some("m-2026"));
        assert_eq!(told.decoded.request_id.as_deref(), Some("req_1"));
    }
}
