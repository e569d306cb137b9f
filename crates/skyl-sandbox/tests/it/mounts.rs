//! Anthropic, Gemini and Responses over real sockets: each fault once, in each provider's own bytes.

use std::num::NonZeroU32;

use serde_json::{Value, json};
use skyl_sandbox::{Chaos, Sandbox};

use crate::support::{Answer, End, ask, connect, sandbox, scripted};

/// A provider, and how its streams are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Anthropic,
    GeminiEvents,
    GeminiArray,
    Responses,
}

use Dialect::{Anthropic, GeminiArray, GeminiEvents, Responses};

const ALL: [Dialect; 4] = [Anthropic, GeminiEvents, GeminiArray, Responses];

/// Each provider once.
const EACH: [Dialect; 3] = [Anthropic, GeminiEvents, Responses];

impl Dialect {
    fn catalogue(self) -> &'static str {
        match self {
            Anthropic => "claude-sonnet-5",
            GeminiEvents | GeminiArray => "gemini-3.6-flash",
            Responses => "gpt-5.6",
        }
    }

    /// A request with the prompt `a b`.
    fn request(self, model: &str, stream: bool) -> Vec<u8> {
        let contents = json!([{"role": "user", "parts": [{"text": "a b"}]}]);
        match self {
            Anthropic => {
                let messages = json!([{"role": "user", "content": "a b"}]);
                let body = json!({"model": model, "max_tokens": 99, "messages": messages, "stream": stream});
                self.raw("POST", "/anthropic/v1/messages", &body.to_string())
            }
            Responses => {
                let body = json!({"model": model, "input": "a b", "stream": stream});
                self.raw("POST", "/openai/v1/responses", &body.to_string())
            }
            GeminiEvents | GeminiArray => {
                let method = match (stream, self) {
                    (false, _) => "generateContent",
                    (true, GeminiEvents) => "streamGenerateContent?alt=sse",
                    (true, _) => "streamGenerateContent",
                };
                let path = format!("/gemini/v1beta/models/{model}:{method}");
                self.raw("POST", &path, &json!({"contents": contents}).to_string())
            }
        }
    }

    fn raw(self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let key = match self {
            Anthropic => "x-api-key: sandbox-key\r\nanthropic-version: 2023-06-01",
            GeminiEvents | GeminiArray => "x-goog-api-key: sandbox-key",
            Responses => "authorization: Bearer sandbox-key",
        };
        let length = body.len();
        format!(
            "{method} {path} HTTP/1.1\r\nhost: s\r\n{key}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// The documents of a stream; one that broke off has those that came.
    fn documents(self, answer: &Answer) -> Vec<Value> {
        let text = answer.text();
        match self {
            Anthropic | GeminiEvents | Responses => text
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .map(|data| serde_json::from_str(data).unwrap())
                .collect(),
            GeminiArray => {
                let mut text = text.trim().trim_start_matches('[').to_owned();
                if text.ends_with(']') {
                    text.pop();
                }
                serde_json::from_str(&format!("[{text}]")).unwrap()
            }
        }
    }

    fn text(self, answer: &Answer) -> String {
        let documents = self.documents(answer);
        let pieces = documents.iter().filter_map(|document| match self {
            Anthropic => document["delta"]["text"].as_str(),
            Responses => document["delta"].as_str(),
            GeminiEvents | GeminiArray => {
                document["candidates"][0]["content"]["parts"][0]["text"].as_str()
            }
        });
        pieces.collect()
    }

    /// The text of an answer that is no stream.
    fn whole_text(self, answer: &Answer) -> String {
        let body = answer.json();
        let text = match self {
            Anthropic => &body["content"][0]["text"],
            GeminiEvents | GeminiArray => &body["candidates"][0]["content"]["parts"][0]["text"],
            Responses => &body["output"][0]["content"][0]["text"],
        };
        text.as_str().unwrap().to_owned()
    }

    /// Whether the stream has the provider's own mark of its end.
    fn done(self, answer: &Answer) -> bool {
        self.documents(answer)
            .last()
            .is_some_and(|last| match self {
                Anthropic => last["type"] == "message_stop",
                Responses => last["type"] == "response.completed",
                GeminiEvents | GeminiArray => last["candidates"][0]["finishReason"].is_string(),
            })
    }

    /// What an error says of its kind, and its message.
    fn error(self, body: &Value) -> (String, String) {
        let error = &body["error"];
        let kind = match self {
            Anthropic | Responses => &error["type"],
            GeminiEvents | GeminiArray => &error["status"],
        };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(kind), text(&error["message"]))
    }

    fn overloaded(self) -> &'static str {
        match self {
            Anthropic => "overloaded_error",
            GeminiEvents | GeminiArray => "UNAVAILABLE",
            Responses => "service_unavailable_error",
        }
    }
}

#[tokio::test]
async fn complete_and_streamed_answers_say_the_same() {
    let sandbox = sandbox().await;
    for dialect in ALL {
        let model = dialect.catalogue();
        let whole = ask(&sandbox, &dialect.request(model, false)).await;
        assert_eq!(whole.status, 200);
        let streamed = ask(&sandbox, &dialect.request(model, true)).await;
        assert_eq!((streamed.status, streamed.end), (200, End::Whole));
        assert_eq!(dialect.text(&streamed), "You said: a b", "{dialect:?}");
        assert_eq!(dialect.whole_text(&whole), "You said: a b");
        assert!(dialect.done(&streamed));
        assert_eq!(
            dialect.documents(&streamed).len(),
            streamed.chunks.len(),
            "one chunk each"
        );
    }
}

#[tokio::test]
async fn every_status_comes_in_the_provider_s_shape() {
    let sandbox = sandbox().await;
    for dialect in EACH {
        let mut wire = connect(&sandbox).await;
        for status in 200..=599_u16 {
            let model = format!("sandbox-status-{status}");
            wire.send(&dialect.request(&model, true)).await;
            let answer = wire.answer().await.unwrap();
            assert_eq!((answer.status, answer.end), (status, End::Whole));
            if matches!(status, 204 | 205 | 304) {
                assert_eq!(answer.text(), "", "{status}");
            } else {
                let (_, message) = dialect.error(&answer.json());
                assert_eq!(message, format!("sandbox: injected status {model}"));
            }
            let hint = if status == 429 { vec!["1"] } else { Vec::new() };
            assert_eq!(answer.headers("retry-after"), hint, "{status}");
        }
    }
}

#[tokio::test]
async fn errors_that_no_status_tells_have_the_provider_s_own_words() {
    let sandbox = sandbox().await;
    for dialect in EACH {
        let body = |step: &'static str| {
            let request = dialect.request(&format!("sandbox-do-{step}"), false);
            let sandbox = &sandbox;
            async move { ask(sandbox, &request).await.json() }
        };
        let quota = body("429(body=quota)").await;
        let context = dialect.error(&body("400(body=context)").await).1;
        let overloaded = dialect.error(&body("529(body=overloaded)").await).0;
        assert_eq!(overloaded, dialect.overloaded());
        match dialect {
            Anthropic => {
                let code = &quota["error"]["details"]["error_code"];
                assert_eq!(code, "enforced_spend_limit_reached");
                assert!(context.starts_with("prompt is too long: "), "{context}");
            }
            Responses => {
                assert_eq!(quota["error"]["code"], "insufficient_quota");
                assert!(context.contains("sandbox: injected status"), "{context}");
            }
            GeminiEvents | GeminiArray => {
                let violation = &quota["error"]["details"][0]["violations"][0];
                assert!(violation["quotaId"].as_str().unwrap().contains("PerDay"));
                assert!(
                    context.contains("exceeds the maximum number of tokens"),
                    "{context}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_fault_by_name_needs_nothing_but_the_name() {
    let sandbox = sandbox().await;
    let requests = [
        "POST /anthropic/v1/messages HTTP/1.1\r\nhost: s\r\nx-api-key: sandbox-key\r\n\
         content-length: 30\r\n\r\n{\"model\":\"sandbox-status-503\"} ",
        "POST /gemini/v1beta/models/sandbox-status-503:generateContent?key=sandbox-key HTTP/1.1\r\n\
         host: s\r\ncontent-length: 0\r\n\r\n",
        "POST /openai/v1/responses HTTP/1.1\r\nhost: s\r\nauthorization: Bearer sandbox-key\r\n\
         content-length: 30\r\n\r\n{\"model\":\"sandbox-status-503\"} ",
    ];
    for request in requests {
        assert_eq!(ask(&sandbox, request.as_bytes()).await.status, 503);
    }
}

#[tokio::test]
async fn connections_end_before_any_byte() {
    let sandbox = sandbox().await;
    for dialect in ALL {
        for (step, end) in [
            ("reset", End::Rst),
            ("close", End::Fin),
            ("stall(1)+reset", End::Rst),
        ] {
            let mut wire = connect(&sandbox).await;
            wire.send(&dialect.request(&format!("sandbox-do-{step}"), true))
                .await;
            assert_eq!(wire.answer().await.unwrap_err(), end, "{dialect:?} {step}");
        }
    }
}

#[tokio::test]
async fn a_broken_stream_keeps_its_content_and_lacks_its_end() {
    let sandbox = sandbox().await;
    for dialect in ALL {
        for (step, end, expected) in [
            ("stream-truncate(0)", End::Whole, ""),
            ("stream-truncate(1)", End::Whole, "You "),
            ("stream-truncate(99)", End::Whole, "You said: a b"),
            ("close-mid", End::Fin, "You "),
            ("reset-mid", End::Rst, "You "),
            ("stream-reset(2)", End::Rst, "You said: "),
        ] {
            let request = dialect.request(&format!("sandbox-do-{step}"), true);
            let answer = ask(&sandbox, &request).await;
            assert_eq!(
                (answer.status, answer.end),
                (200, end),
                "{dialect:?} {step}"
            );
            assert_eq!(dialect.text(&answer), expected, "{dialect:?} {step}");
            assert!(!dialect.done(&answer), "{dialect:?} {step}");
        }
        let cut = ask(&sandbox, &dialect.request("sandbox-stream-truncate", true)).await;
        assert_eq!((dialect.text(&cut).as_str(), cut.end), ("You ", End::Whole));
    }
}

#[tokio::test]
async fn an_error_in_mid_stream_is_the_provider_s_overload_error() {
    let sandbox = sandbox().await;
    for dialect in ALL {
        for (model, expected) in [
            ("sandbox-stream-error", "You "),
            ("sandbox-do-stream-error(0)", ""),
            ("sandbox-do-stream-error(3)", "You said: a "),
            ("sandbox-do-first-error", ""),
        ] {
            let answer = ask(&sandbox, &dialect.request(model, true)).await;
            assert_eq!((answer.status, answer.end), (200, End::Whole), "{model}");
            assert_eq!(dialect.text(&answer), expected, "{dialect:?} {model}");
            let documents = dialect.documents(&answer);
            let (kind, _) = dialect.error(documents.last().unwrap());
            assert_eq!(kind, dialect.overloaded());
            if model == "sandbox-do-first-error" {
                assert_eq!(documents.len(), 1, "{dialect:?}");
            }
            if dialect == GeminiArray {
                assert!(answer.json().is_array(), "{model}: the array is closed");
            }
        }
    }
    let anthropic = ask(&sandbox, &Anthropic.request("sandbox-stream-error", true)).await;
    assert!(anthropic.text().contains("\n\nevent: error\ndata: {"));
}

#[tokio::test]
async fn without_streaming_in_band_errors_are_a_200_and_cuts_break_the_body() {
    let sandbox = sandbox().await;
    for dialect in EACH {
        for step in ["first-error", "stream-error(2)"] {
            let request = dialect.request(&format!("sandbox-do-{step}"), false);
            let answer = ask(&sandbox, &request).await;
            assert_eq!(answer.status, 200);
            assert_eq!(dialect.error(&answer.json()).0, dialect.overloaded());
        }
        for (step, end) in [
            ("close-mid", End::Fin),
            ("stream-truncate(1)", End::Fin),
            ("reset-mid", End::Rst),
        ] {
            let request = dialect.request(&format!("sandbox-do-{step}"), false);
            assert_eq!(ask(&sandbox, &request).await.end, end, "{step}");
        }
        let cut = ask(
            &sandbox,
            &dialect.request("sandbox-do-503(body=cut)", false),
        )
        .await;
        assert!(serde_json::from_str::<Value>(&cut.text()).is_err());
        let html = ask(
            &sandbox,
            &dialect.request("sandbox-do-502(body=html)", false),
        )
        .await;
        assert!(html.text().contains("<html>"));
    }
}

#[tokio::test]
async fn deliveries_lose_nothing() {
    let sandbox = sandbox().await;
    for dialect in ALL {
        for step in [
            "split(1)",
            "split(7)+slow(0)",
            "stall(1)",
            "stall-mid(1)",
            "stream-stall(2;1)",
            "comments(15)",
        ] {
            let request = dialect.request(&format!("sandbox-do-{step}"), true);
            let answer = ask(&sandbox, &request).await;
            assert_eq!(dialect.text(&answer), "You said: a b", "{dialect:?} {step}");
            assert!(dialect.done(&answer), "{dialect:?} {step}");
        }
    }
    let kept_alive = ask(
        &sandbox,
        &GeminiArray.request("sandbox-do-comments(15)", true),
    )
    .await;
    assert!(
        kept_alive.text().starts_with("\n\n["),
        "white space, no comments, in a document"
    );
}

#[tokio::test]
async fn hints_are_in_the_headers_alone() {
    let sandbox = sandbox().await;
    for dialect in EACH {
        let model = "sandbox-do-429(ra=2;ra-ms=1500;should-retry=true)";
        let told = ask(&sandbox, &dialect.request(model, false)).await;
        assert_eq!(told.headers("retry-after"), ["2"]);
        assert_eq!(told.headers("retry-after-ms"), ["1500"]);
        assert_eq!(told.headers("x-should-retry"), ["true"]);
        assert!(!told.text().contains("RetryInfo"));
    }
}

#[tokio::test]
async fn gemini_answers_under_both_of_its_versions() {
    let sandbox = sandbox().await;
    for version in ["v1", "v1beta"] {
        let path = format!("/gemini/{version}/models/gemini-3.6-pro");
        let answer = ask(&sandbox, &GeminiEvents.raw("GET", &path, "")).await;
        assert_eq!(answer.json()["name"], "models/gemini-3.6-pro");
    }
    assert!(
        sandbox
            .journal()
            .iter()
            .all(|entry| entry.mount == "gemini")
    );
    let other = GeminiEvents.raw("GET", "/gemini/v1alpha/models", "");
    assert_eq!(ask(&sandbox, &other).await.status, 404);
    assert_eq!(sandbox.journal().len(), 2);
}

#[tokio::test]
async fn every_answer_names_its_request_where_the_provider_does() {
    let sandbox = sandbox().await;
    let good = ask(&sandbox, &Anthropic.request("claude-opus-5", false)).await;
    assert_eq!(good.headers("request-id"), ["req_sandbox_1"]);
    assert!(good.json().get("request_id").is_none());
    let bad = ask(&sandbox, &Anthropic.request("sandbox-status-500", false)).await;
    assert_eq!(bad.headers("request-id"), ["req_sandbox_2"]);
    assert_eq!(bad.json()["request_id"], "req_sandbox_2");
    let unknown = ask(&sandbox, &Anthropic.request("claude-9", false)).await;
    assert_eq!(unknown.json()["request_id"], "req_sandbox_3");
    assert_eq!(unknown.headers("anthropic-organization-id").len(), 1);
    let gemini = ask(&sandbox, &GeminiEvents.request("gemini-9", false)).await;
    assert!(gemini.headers("request-id").is_empty());
}

#[tokio::test]
async fn the_journal_tells_mounts_models_and_steps_but_no_key() {
    let sandbox = sandbox().await;
    ask(&sandbox, &Anthropic.request("sandbox-do-503,ok", false)).await;
    ask(&sandbox, &GeminiEvents.request("sandbox-do-503,ok", true)).await;
    let again = Anthropic.request("sandbox-do-503,ok", false);
    ask(&sandbox, &again).await;
    let by_query = "GET /gemini/v1beta/models?key=sandbox-key HTTP/1.1\r\nhost: s\r\n\r\n";
    ask(&sandbox, by_query.as_bytes()).await;
    let journal = sandbox.journal();
    let seen: Vec<_> = journal
        .iter()
        .map(|entry| {
            (
                entry.mount,
                entry.model.as_deref(),
                entry.step,
                entry.status,
            )
        })
        .collect();
    let model = Some("sandbox-do-503,ok");
    // A run belongs to the name, whichever mount it is asked on.
    assert_eq!(
        seen,
        [
            ("anthropic", model, Some(0), Some(503)),
            ("gemini", model, Some(1), Some(200)),
            ("anthropic", model, Some(1), Some(200)),
            ("gemini", None, None, Some(200)),
        ]
    );
    let path = "/gemini/v1beta/models/sandbox-do-503,ok:streamGenerateContent";
    assert_eq!(journal[1].path, path, "without the query");
    assert!(!format!("{journal:?}").contains("sandbox-key"));
}

#[tokio::test]
async fn scripts_chaos_and_limits_serve_every_mount() {
    let script = scripted("429,ok").await;
    for expected in [429, 200] {
        let answer = ask(&script, &Anthropic.request("claude-opus-5", false)).await;
        assert_eq!(answer.status, expected);
    }

    let chaos = Chaos::new(1.0, 7).unwrap();
    let chaotic = Sandbox::builder().chaos(chaos).start().await.unwrap();
    let mut wire = connect(&chaotic).await;
    wire.send(&GeminiEvents.request("gemini-3.6-pro", false))
        .await;
    let met = wire.answer().await;
    assert!(!met.is_ok_and(|answer| answer.status == 200
        && answer.end == End::Whole
        && answer.json().get("error").is_none()));

    let one = NonZeroU32::new(1).unwrap();
    let limited = Sandbox::builder()
        .requests_per_minute(one)
        .start()
        .await
        .unwrap();
    let admitted = ask(&limited, &Anthropic.request("claude-opus-5", false)).await;
    assert_eq!(admitted.status, 200);
    assert_eq!(
        admitted.headers("anthropic-ratelimit-requests-remaining"),
        ["0"]
    );
    let reset = admitted.headers("anthropic-ratelimit-requests-reset")[0];
    assert!(reset.len() == 20 && reset.ends_with('Z'), "{reset}");
    let refused = ask(&limited, &GeminiEvents.request("gemini-3.6-pro", false)).await;
    assert_eq!(
        (refused.status, refused.headers("retry-after").len()),
        (429, 1)
    );
    assert_eq!(refused.json()["error"]["status"], "RESOURCE_EXHAUSTED");
}

#[tokio::test]
async fn a_model_asked_for_by_path_can_be_a_fault_too() {
    let sandbox = sandbox().await;
    for (dialect, path) in [
        (Anthropic, "/anthropic/v1/models"),
        (GeminiEvents, "/gemini/v1beta/models"),
    ] {
        let get = |name: &str| dialect.raw("GET", &format!("{path}/{name}"), "");
        assert_eq!(ask(&sandbox, &get(dialect.catalogue())).await.status, 200);
        assert_eq!(ask(&sandbox, &get("sandbox-status-503")).await.status, 503);
        let script = get("sandbox-do-429%28ra%3D1%29");
        assert_eq!(ask(&sandbox, &script).await.headers("retry-after"), ["1"]);
    }
}

#[tokio::test]
async fn an_error_among_the_events_of_responses_has_the_next_number() {
    let sandbox = sandbox().await;
    for (step, before) in [
        ("first-error", 0),
        ("stream-error(0)", 4),
        ("stream-error(2)", 6),
    ] {
        let request = Responses.request(&format!("sandbox-do-{step}"), true);
        let answer = ask(&sandbox, &request).await;
        let events = Responses.documents(&answer);
        assert_eq!(events.len(), before + 1, "{step}");
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["sequence_number"], number, "{step}");
        }
        assert_eq!(events[before]["type"], "error");
        assert_eq!(events[before]["error"]["code"], "server_is_overloaded");
        assert!(answer.text().contains("event: error\ndata: {"), "{step}");
    }
}

#[tokio::test]
async fn responses_are_journaled_under_openai_and_share_its_limits() {
    let one = NonZeroU32::new(1).unwrap();
    let limited = Sandbox::builder()
        .requests_per_minute(one)
        .start()
        .await
        .unwrap();
    let admitted = ask(&limited, &Responses.request("gpt-5.6", false)).await;
    assert_eq!(admitted.status, 200);
    assert_eq!(admitted.headers("x-ratelimit-remaining-requests"), ["0"]);
    assert_eq!(admitted.headers("x-request-id"), ["req_sandbox_1"]);
    let refused = ask(&limited, &Responses.request("gpt-5.6", true)).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["error"]["code"], "rate_limit_exceeded");
    let journal = limited.journal();
    let seen: Vec<_> = journal
        .iter()
        .map(|entry| (entry.mount, entry.path.as_str(), entry.status))
        .collect();
    let path = "/openai/v1/responses";
    assert_eq!(
        seen,
        [("openai", path, Some(200)), ("openai", path, Some(429))]
    );
}

#[tokio::test]
async fn what_only_begins_like_responses_is_another_path() {
    let sandbox = sandbox().await;
    for (method, path, status) in [
        ("GET", "/openai/v1/responses/resp_1", 404),
        ("DELETE", "/openai/v1/responses/resp_1", 404),
        ("POST", "/openai/v1/responses/resp_1/cancel", 404),
        ("POST", "/openai/v1/responses_of_mine", 404),
        ("GET", "/openai/v1/responses", 405),
        ("POST", "/compat/v1/responses", 404),
        ("GET", "/openai/v1/models", 200),
    ] {
        let answer = ask(&sandbox, &Responses.raw(method, path, "")).await;
        assert_eq!(answer.status, status, "{method} {path}");
        let error = answer.json()["error"]["message"].is_string();
        assert_eq!(error, status != 200, "{method} {path}");
    }
}
