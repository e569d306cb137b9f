//! Compatible servers as they are: each preset against that server's accent in the sandbox.

use std::collections::HashSet;

use serde_json::{Value, json};
use skyl::openai::OpenAiCompatible;
use skyl::{
    CallOptions, Client, ErrorKind, Message, Part, Request, Response, RetryPolicy, Role,
    StopReason, Tool,
};
use skyl_retry::ManualClock;
use skyl_sandbox::{DEFAULT_KEY, Sandbox};

/// The accents, each with the preset of its server.
const SERVERS: [&str; 13] = [
    "azure",
    "deepseek",
    "groq",
    "llamacpp",
    "minimax",
    "mistral",
    "moonshot",
    "ollama",
    "openrouter",
    "sloppy",
    "together",
    "vllm",
    "xai",
];

fn client(sandbox: &Sandbox, server: &str, key: &str) -> Client {
    let url = sandbox.base_url("/compat/v1");
    let dialect = match server {
        "azure" => OpenAiCompatible::azure_v1(url, key),
        name => OpenAiCompatible::preset(name)
            .unwrap_or_else(|| OpenAiCompatible::new(""))
            .base_url(url)
            .key(key),
    };
    of(dialect)
}

fn of(dialect: OpenAiCompatible) -> Client {
    Client::builder(dialect)
        .clock(ManualClock::skipping())
        .seed(7)
        .build()
        .unwrap()
}

/// An answer, which must be the same complete and streamed.
async fn ask(client: &Client, request: &Request) -> Response {
    let complete = client.complete(request).await.unwrap();
    let stream = client.stream(request).await.unwrap();
    let mut streamed = stream.into_response().await.unwrap();
    streamed.raw = complete.raw.clone();
    streamed.request_id.clone_from(&complete.request_id);
    assert_eq!(streamed, complete, "{}", request.model);
    complete
}

fn request(model: &str) -> Request {
    Request::new(model).user("a  b,\nnaïve 🚀")
}

fn weather(model: &str) -> Request {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    Request::new(model)
        .user("How is the weather?")
        .tool(Tool::new("weather", schema))
}

#[tokio::test]
async fn every_servers_text_and_usage_are_read_alike_complete_and_streamed() {
    let sandbox = Sandbox::start().await.unwrap();
    let official = {
        let url = sandbox.base_url("/openai/v1");
        let dialect = OpenAiCompatible::new(url).key(DEFAULT_KEY);
        ask(&of(dialect), &request("gpt-5.6")).await
    };
    for server in SERVERS {
        let client = client(&sandbox, server, DEFAULT_KEY);
        let answer = ask(&client, &request(&format!("compat-{server}"))).await;
        assert_eq!(answer.text(), "You said: a  b,\nnaïve 🚀", "{server}");
        assert_eq!(answer.stop_reason, StopReason::EndTurn, "{server}");
        assert_eq!(answer.warnings, [], "{server}");
        assert!(answer.request_id.is_some(), "{server}");
        let (usage, expected) = (answer.usage, official.usage);
        assert_eq!(usage.input_tokens, expected.input_tokens, "{server}");
        assert_eq!(usage.output_tokens, expected.output_tokens, "{server}");
    }
}

#[tokio::test]
async fn every_servers_parallel_calls_are_put_together_and_their_results_go_back() {
    let sandbox = Sandbox::start().await.unwrap();
    for server in SERVERS {
        let client = client(&sandbox, server, DEFAULT_KEY);
        let asked = weather(&format!("sandbox-parallel-tools@compat-{server}"));
        let answer = ask(&client, &asked).await;
        let calls: Vec<_> = answer.message.tool_calls().cloned().collect();
        let ids: HashSet<_> = calls.iter().map(|call| call.id.clone()).collect();
        assert_eq!((calls.len(), ids.len()), (2, 2), "{server}: {calls:?}");
        assert_eq!(answer.stop_reason, StopReason::ToolUse, "{server}");
        for call in &calls {
            assert_eq!(call.name, "weather", "{server}");
            let arguments = call.parse_arguments().unwrap();
            assert_eq!(arguments["city"], "Kampala", "{server}");
        }
        let results = calls.iter().fold(asked, |request, call| {
            let said = request.messages.last().unwrap().role;
            let request = if said == Role::User {
                request.message(answer.message.clone())
            } else {
                request
            };
            request.message(Message::tool_result(&*call.id, "rain"))
        });
        let next = ask(&client, &results).await;
        assert_eq!(next.text(), "The tool said: rain", "{server}");
    }
}

#[tokio::test]
async fn every_servers_reasoning_is_kept_apart_from_its_text() {
    let sandbox = Sandbox::start().await.unwrap();
    for server in SERVERS {
        let client = client(&sandbox, server, DEFAULT_KEY);
        let asked = request(&format!("sandbox-reasoning@compat-{server}"));
        let answer = ask(&client, &asked).await;
        let thought: String = answer
            .message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Reasoning(reasoning) => Some(&*reasoning.text),
                _ => None,
            })
            .collect();
        assert_eq!(thought, "The question is simple.", "{server}");
        assert_eq!(answer.text(), "You said: a  b,\nnaïve 🚀", "{server}");

        // OpenRouter's goes back with all that came with it.
        let next = asked.message(answer.message).user("and now?");
        let answer = ask(&client, &next).await;
        let seq = sandbox.journal().last().unwrap().seq;
        let sent: Value = serde_json::from_slice(&sandbox.body(seq).unwrap()).unwrap();
        let back = &sent["messages"][1]["reasoning_details"];
        let kept = server == "openrouter";
        assert_eq!(
            back[0]["type"] == "reasoning.text",
            kept,
            "{server}: {back}"
        );
        assert_eq!(answer.warnings.is_empty(), kept, "{server}");
    }
}

#[tokio::test]
async fn every_servers_errors_are_known_and_retried_by_their_kind() {
    let sandbox = Sandbox::start().await.unwrap();
    for server in SERVERS {
        let client = client(&sandbox, server, DEFAULT_KEY);
        let script =
            |steps: &str, run: u32| request(&format!("sandbox-do-{steps}@compat-{server}.{run}"));
        let answer = client.complete(&script("429,503,500,ok", 1)).await.unwrap();
        let kinds: Vec<_> = answer
            .attempts()
            .iter()
            .map(|attempt| attempt.kind)
            .collect();
        let (limit, broken) = (Some(ErrorKind::RateLimit), Some(ErrorKind::Server));
        assert_eq!(kinds, [limit, broken, broken, None], "{server}");

        for (steps, kind) in [
            ("400", ErrorKind::BadRequest),
            ("422", ErrorKind::BadRequest),
            ("400(body=context)", ErrorKind::ContextLength),
            ("402", ErrorKind::QuotaExhausted),
            ("403", ErrorKind::Auth),
        ] {
            let error = client.complete(&script(steps, 2)).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{server} {steps}: {error}");
            assert_eq!(error.attempts().len(), 1, "{server} {steps}");
        }
        let error = client
            .complete(&script("429(body=quota)", 3))
            .await
            .unwrap_err();
        // One that says nothing but its words has no word for it.
        let quota = if server == "sloppy" {
            ErrorKind::RateLimit
        } else {
            ErrorKind::QuotaExhausted
        };
        assert_eq!(error.kind(), quota, "{server}: {error}");
    }
    let groq = client(&sandbox, "groq", DEFAULT_KEY);
    let full = request("sandbox-do-498,ok@compat-groq");
    let answer = groq.complete(&full).await.unwrap();
    assert_eq!(answer.attempts()[0].kind, Some(ErrorKind::RateLimit));
    let llama = client(&sandbox, "llama_cpp", DEFAULT_KEY);
    let loading = request("sandbox-do-503@compat-llamacpp");
    let options = CallOptions::new().policy(RetryPolicy::builder().max_retries(0).build().unwrap());
    let error = llama.complete_with(&loading, options).await.unwrap_err();
    assert!(
        error.is_overloaded() && error.message() == Some("Loading model"),
        "{error}"
    );
}

#[tokio::test]
async fn no_servers_error_or_cut_within_a_200_is_ever_a_success() {
    let sandbox = Sandbox::start().await.unwrap();
    let once = || CallOptions::new().policy(RetryPolicy::builder().max_retries(0).build().unwrap());
    for server in SERVERS {
        let client = client(&sandbox, server, DEFAULT_KEY);
        let model = |steps: &str| request(&format!("sandbox-do-{steps}@compat-{server}"));
        for steps in ["200", "first-error"] {
            let error = client
                .complete_with(&model(steps), once())
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Server, "{server} {steps}: {error}");
            let error = client
                .stream_with(&model(steps), once())
                .await
                .err()
                .unwrap();
            assert_eq!(error.kind(), ErrorKind::Server, "{server} {steps}: {error}");
            assert!(!error.delivered(), "{server} {steps}");
        }
        for (steps, kind) in [
            ("stream-error(2)", ErrorKind::Server),
            ("stream-truncate(2)", ErrorKind::Truncated),
        ] {
            let stream = client.stream_with(&model(steps), once()).await.unwrap();
            let error = stream.into_response().await.unwrap_err();
            assert_eq!(error.kind(), kind, "{server} {steps}: {error}");
            assert!(error.delivered(), "{server} {steps}");
        }
        // Before any content it is one failed attempt.
        let stream = client.stream(&model("first-error,ok")).await.unwrap();
        let answer = stream.into_response().await.unwrap();
        assert_eq!(answer.attempts().len(), 2, "{server}");
    }
}

#[tokio::test]
async fn every_servers_word_for_a_wrong_key_is_one() {
    let sandbox = Sandbox::start().await.unwrap();
    for server in SERVERS {
        let client = client(&sandbox, server, "not-the-key-at-all");
        let error = client
            .complete(&request(&format!("compat-{server}")))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Auth, "{server}: {error}");
        let status = if server == "xai" { 400 } else { 401 };
        assert_eq!(error.http_status(), Some(status), "{server}");
    }
}

#[tokio::test]
async fn an_azure_deployment_is_asked_under_its_own_path_and_version() {
    let sandbox = Sandbox::start().await.unwrap();
    let endpoint = sandbox.base_url("/compat/v1");
    let azure = |deployment: &str, version: &str| {
        let dialect = OpenAiCompatible::azure(&*endpoint, deployment, version, DEFAULT_KEY);
        of(dialect)
    };
    let answer = ask(&azure("compat-azure", "2024-10-21"), &request("whatever")).await;
    assert_eq!(answer.text(), "You said: a  b,\nnaïve 🚀");
    let entry = &sandbox.journal()[0];
    assert!(
        entry
            .path
            .ends_with("/openai/deployments/compat-azure/chat/completions")
    );
    assert_eq!(entry.model.as_deref(), Some("compat-azure"));
    let error = azure("compat-azure", "2024-10-21")
        .models()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let missing = azure("compat-azure", "").complete(&request("m")).await;
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn comments_ahead_of_an_answer_are_signs_of_life_and_no_content() {
    let sandbox = Sandbox::start().await.unwrap();
    for server in ["deepseek", "openrouter"] {
        let client = client(&sandbox, server, DEFAULT_KEY);
        let slow = request(&format!("sandbox-do-comments(30)@compat-{server}"));
        let answer = ask(&client, &slow).await;
        assert_eq!(answer.attempts().len(), 1, "{server}");
    }
}
