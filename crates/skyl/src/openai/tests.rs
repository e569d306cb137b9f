//! Recorded answers of OpenAI and of those who speak as it does.

use super::*;
use crate::dialect::harness;

fn openai() -> OpenAi {
    OpenAi::new("sk-test-0123456789")
}

fn compatible() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost:8000/v1")
}

#[test]
fn every_recorded_answer_decodes_whole_byte_by_byte_and_cut_anywhere() {
    for name in [
        "02-openai-chat-response.json",
        "04-openai-chat-stream-parallel-tools.sse",
        "05-openai-chat-refusal.json",
        "07-openai-429-quota.http",
        "08-openai-400-context.http",
        "53-openai-truncated-no-done.sse",
    ] {
        harness::check(&openai(), name);
    }
    for name in [
        "10-vllm-midstream-error-then-done.sse",
        "34-openrouter-comments-error.sse",
        "35-openrouter-200-error.http",
        "37-compat-tools-no-index.sse",
        "40-groq-stream.sse",
        "41-azure-stream.sse",
        "43-mistral-response.json",
        "44-mistral-422.http",
        "46-llamacpp-400-context.http",
        "47-xai-429-string-error.http",
        "49-compat-sloppy.sse",
        "52-usage-before-and-after.sse",
        "55-compat-usage-chunk-without-choices.sse",
        "56-openrouter-null-choices.json",
    ] {
        harness::check(&compatible(), name);
    }
}

mod properties {
    use std::time::SystemTime;

    use http::HeaderMap;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    use super::*;
    use crate::dialect::Head;

    /// JSON of the words that mean something here, in every wrong place.
    fn json() -> impl Strategy<Value = Value> {
        let words = select(vec![
            "",
            "null",
            "stop",
            "error",
            "ping",
            "a",
            "0",
            "429",
            "[DONE]",
            "server_error",
            "{\"error\":1}",
            "insufficient_quota",
            "thinking",
            "text",
            "{}",
            "1796083212000",
            "34.5s",
            "\u{1f30a}",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1.0e9..1.0e9).prop_map(|number: f64| json!(number)),
            words.prop_map(Value::from),
        ];
        let names = select(vec![
            "id",
            "model",
            "object",
            "type",
            "choices",
            "usage",
            "x_groq",
            "error",
            "index",
            "delta",
            "message",
            "finish_reason",
            "content",
            "refusal",
            "reasoning",
            "reasoning_content",
            "reasoning_details",
            "base_resp",
            "status_code",
            "summary",
            "tool_calls",
            "function_call",
            "function",
            "custom",
            "name",
            "arguments",
            "input",
            "text",
            "thinking",
            "prompt_tokens",
            "prompt_tokens_details",
            "cached_tokens",
            "code",
            "status",
            "detail",
            "msg",
            "loc",
            "metadata",
            "headers",
            "raw",
            "details",
            "retryDelay",
            "data",
            "x-ratelimit-reset",
            "retry-after",
            "errors",
            "innererror",
            "violations",
            "quotaId",
        ]);
        leaf.prop_recursive(6, 48, 6, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                vec((names.clone(), inner), 0..6).prop_map(|members| Value::Object(
                    members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect()
                )),
            ]
        })
    }

    /// Reads the same bytes in every way there is; nothing may panic.
    fn read_everywhere(bytes: &[u8]) {
        read_by(&compatible(), bytes);
        // The one that keeps reasoning details.
        read_by(&OpenAiCompatible::openrouter("test-0123456789"), bytes);
    }

    fn read_by(dialect: &OpenAiCompatible, bytes: &[u8]) {
        let headers = HeaderMap::new();
        for status in [200, 302, 400, 429, 503] {
            let head = Head::new(status, &headers, SystemTime::UNIX_EPOCH);
            drop(dialect.decode(&head, bytes));
            drop(dialect.decode_models(&head, bytes));
            drop(dialect.classify(&head, bytes));
        }
        let data = String::from_utf8_lossy(bytes).replace(['\r', '\n'], " ");
        let event = format!("data: {data}\n\nevent: error\ndata: {data}");
        for text in [bytes, event.as_bytes(), data.as_bytes()] {
            let whole = harness::stream(dialect, [text]);
            let split = harness::stream(dialect, text.chunks(3));
            assert_eq!(whole.events, split.events);
            assert_eq!(whole.decoded, split.decoded);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
            read_everywhere(&bytes);
        }

        #[test]
        fn no_json_panics(value in json()) {
            read_everywhere(value.to_string().as_bytes());
        }

        #[test]
        fn no_damaged_answer_panics(
            name in select(vec![
                "04-openai-chat-stream-parallel-tools.sse",
                "34-openrouter-comments-error.sse",
                "43-mistral-response.json",
                "44-mistral-422.http",
            ]),
            damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut bytes = harness::fixture(name);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            read_everywhere(&bytes);
        }

        #[test]
        fn a_streamed_answer_is_the_whole_answer(answer in answer()) {
            let whole = harness::answer(&compatible(), answer.whole().to_string().as_bytes());
            let told = harness::stream_text(&compatible(), &answer.streamed());
            match (whole, told.end) {
                (Ok(whole), Ok(())) => prop_assert_eq!(whole, told.decoded),
                (Err(whole), Err(streamed)) => prop_assert_eq!(whole.kind(), streamed.kind()),
                (whole, streamed) => prop_assert!(false, "{:?} against {:?}", whole, streamed),
            }
        }
    }

    #[derive(Clone, Debug)]
    struct Composed {
        id: Option<String>,
        reasoning: String,
        text: String,
        refusal: String,
        calls: Vec<(Option<&'static str>, &'static str, String)>,
        finish: Option<&'static str>,
        usage: Option<(u32, u32)>,
        /// Bytes of a piece, at least; pieces end at characters.
        piece: usize,
        /// Whether pieces of calls come in turns.
        in_turns: bool,
    }

    fn answer() -> impl Strategy<Value = Composed> {
        let arguments = prop_oneof![
            Just(String::new()),
            Just("{}".to_owned()),
            ("[a-z]{0,8}", "\\PC{0,20}").prop_map(|(name, value)| json!({name: value}).to_string()),
            Just("{\"port\":\"Br".to_owned()),
        ];
        let id = option::of(select(vec!["c1", "c2", "c3"]));
        let calls = vec((id, select(vec!["tide", "moon"]), arguments), 0..4);
        let words = "\\PC{0,30}|[\n\"\\\\🌊é]{0,12}";
        (
            option::of("[a-z]{1,6}"),
            (
                words,
                words,
                prop_oneof![Just(String::new()), words.boxed()],
            ),
            calls,
            option::of(select(vec![
                "stop",
                "length",
                "tool_calls",
                "content_filter",
                "new",
            ])),
            option::of((0..1000_u32, 0..1000_u32)),
            (1..20_usize, any::<bool>()),
        )
            .prop_map(
                |(id, (reasoning, text, refusal), calls, finish, usage, (piece, in_turns))| {
                    Composed {
                        id,
                        reasoning,
                        text,
                        refusal,
                        calls,
                        finish,
                        usage,
                        piece,
                        in_turns,
                    }
                },
            )
    }

    impl Composed {
        fn whole(&self) -> Value {
            let calls: Vec<_> = self
                .calls
                .iter()
                .map(|(id, name, arguments)| {
                    json!({"id": id, "type": "function",
                           "function": {"name": name, "arguments": arguments}})
                })
                .collect();
            json!({"id": self.id, "model": "m", "usage": self.usage(), "choices": [{"index": 0,
                "message": {"role": "assistant", "content": self.text, "refusal": self.refusal,
                            "reasoning_content": self.reasoning, "tool_calls": calls},
                "finish_reason": self.finish}]})
        }

        fn streamed(&self) -> String {
            let mut chunks = vec![self.chunk(&json!({"role": "assistant", "content": ""}))];
            for (name, words) in [
                ("reasoning_content", &self.reasoning),
                ("content", &self.text),
                ("refusal", &self.refusal),
            ] {
                chunks.extend(
                    self.split(words)
                        .iter()
                        .map(|piece| self.chunk(&json!({name: piece}))),
                );
            }
            chunks.extend(
                self.pieces()
                    .iter()
                    .map(|piece| self.chunk(&json!({"tool_calls": [piece]}))),
            );
            let mut last = self.chunk(&json!({}));
            last["choices"][0]["finish_reason"] = json!(self.finish);
            chunks.push(last);
            chunks.push(json!({"id": self.id, "model": "m", "choices": [], "usage": self.usage()}));
            let frame = |chunk: &Value| format!("data: {chunk}\n\n");
            chunks
                .iter()
                .map(frame)
                .chain(["data: [DONE]\n\n".to_owned()])
                .collect()
        }

        fn pieces(&self) -> Vec<Value> {
            let mut turns = Vec::new();
            for (index, (id, name, arguments)) in self.calls.iter().enumerate() {
                let first = json!({"index": index, "id": id, "type": "function",
                                   "function": {"name": name, "arguments": ""}});
                // Begun one by one, as the whole answer lists them.
                turns.push((0, index, first));
                turns.extend(self.split(arguments).iter().enumerate().map(|(n, piece)| {
                    (
                        n + 1,
                        index,
                        json!({"index": index, "function": {"arguments": piece}}),
                    )
                }));
            }
            if self.in_turns {
                turns.sort_by_key(|(turn, index, _)| (*turn, *index));
            }
            turns.into_iter().map(|(_, _, piece)| piece).collect()
        }

        fn split<'a>(&self, text: &'a str) -> Vec<&'a str> {
            let mut pieces = Vec::new();
            let mut rest = text;
            while !rest.is_empty() {
                let end = (self.piece..rest.len()).find(|end| rest.is_char_boundary(*end));
                let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces
        }

        fn chunk(&self, delta: &Value) -> Value {
            json!({"id": self.id, "model": "m", "usage": null, "choices": [
                {"index": 0, "delta": delta, "finish_reason": null}]})
        }

        fn usage(&self) -> Value {
            self.usage.map_or(
                Value::Null,
                |(input, output)| json!({"prompt_tokens": input, "completion_tokens": output}),
            )
        }
    }
}
