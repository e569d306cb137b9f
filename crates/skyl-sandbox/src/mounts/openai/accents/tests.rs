use http::{HeaderMap, HeaderValue, Method};

use super::*;
use crate::answer::{Answer, Call};
use crate::mounts::openai::OpenAi;
use crate::mounts::{Cause, House, Mount as _, Request};

const SERVERS: [(&str, Server); 13] = Server::ALL;

fn call(mount: &OpenAi, body: &Value) -> Call {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer k"));
    let request = Request {
        method: Method::POST,
        path: "/chat/completions".to_owned(),
        query: String::new(),
        headers,
        body: body.to_string().into(),
    };
    let house = House {
        key: "k".to_owned(),
        models: Vec::new(),
    };
    mount.read(&request, &house)
}

fn whole(model: &str) -> (u16, String) {
    let body = json!({"model": model, "messages": [{"role": "user", "content": "a b"}]});
    match call(&OpenAi::compatible(), &body).answer {
        Answer::Whole(whole) => (
            whole.status,
            String::from_utf8(whole.body.to_vec()).unwrap(),
        ),
        Answer::Stream { .. } => panic!("a stream"),
    }
}

fn frames(model: &str, more: &Value) -> Vec<Frame> {
    let mut body = json!({"model": model, "stream": true,
                          "messages": [{"role": "user", "content": "the weather"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    match call(&OpenAi::compatible(), &body).answer {
        Answer::Stream { frames, .. } => frames,
        Answer::Whole(whole) => panic!("{whole:?}"),
    }
}

/// The chunks of a stream; comments and the end mark are not among them.
fn chunks(frames: &[Frame]) -> Vec<Value> {
    let text: Vec<u8> = frames
        .iter()
        .flat_map(|frame| frame.bytes.to_vec())
        .collect();
    String::from_utf8(text)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

fn usage() -> Value {
    json!({"stream_options": {"include_usage": true}})
}

fn two_tools() -> Value {
    json!({"tools": [{"type": "function", "function": {"name": "weather", "parameters": {}}}]})
}

/// The pieces of the calls of a stream.
fn pieces(server: &str) -> Vec<Value> {
    let frames = frames(
        &format!("sandbox-parallel-tools@compat-{server}"),
        &two_tools(),
    );
    let deltas = chunks(&frames);
    let calls = deltas
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0));
    calls.cloned().collect()
}

#[test]
fn a_name_asks_for_an_accent_alone_or_behind_an_at_sign() {
    for (name, server) in SERVERS {
        assert_eq!(Server::of(name), Some((server, name)));
        let oddity = format!("sandbox-reasoning@{name}");
        assert_eq!(Server::of(&oddity), Some((server, "sandbox-reasoning")));
        let script = format!("sandbox-do-503,ok@{name}.t1");
        assert_eq!(Server::of(&script), Some((server, "sandbox-do-503,ok")));
    }
    for none in [
        "gpt-5.6",
        "compat-nobody",
        "compat-",
        "sandbox-do-ok@t1",
        "@",
        "compat-groq.t1",
    ] {
        assert_eq!(Server::of(none), None, "{none}");
    }
}

#[test]
fn only_the_compatible_mount_has_accents() {
    let body = json!({"model": "compat-groq", "messages": [{"role": "user", "content": "a"}]});
    let Answer::Whole(refused) = call(&OpenAi::official(), &body).answer else {
        panic!("a stream")
    };
    assert_eq!(refused.status, 404);
    assert!(OpenAi::official().voice("compat-groq").is_none());
    assert!(OpenAi::compatible().voice("gpt-5.6").is_none());
    assert_eq!(whole("compat-groq").0, 200);
    assert_eq!(whole("gpt-5.6@compat-groq").0, 200);
    assert_eq!(whole("gpt-7@compat-groq").0, 404);
}

#[test]
fn every_accent_says_the_same_words() {
    for (name, server) in SERVERS {
        let (status, text) = whole(name);
        assert_eq!(status, 200);
        let body: Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!(body["model"], name);
        assert_eq!(
            body["choices"][0]["message"]["content"], "You said: a b",
            "{name}"
        );
        let streamed: String = chunks(&frames(name, &usage()))
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
            .collect();
        assert_eq!(streamed, "You said: the weather", "{name}");
        let last = frames(name, &usage()).pop().unwrap();
        assert_eq!(last.bytes != "data: [DONE]\n\n", server == Server::Sloppy);
    }
}

#[test]
fn usage_stands_where_each_server_puts_it() {
    for (name, server) in SERVERS {
        let chunks = chunks(&frames(name, &usage()));
        let finish = chunks
            .iter()
            .find(|chunk| {
                chunk["choices"][0]["finish_reason"]
                    .as_str()
                    .is_some_and(|word| !word.is_empty())
            })
            .unwrap();
        let last = chunks.last().unwrap();
        let tokens = match server {
            Server::Groq => &finish["x_groq"]["usage"],
            Server::Moonshot => &finish["choices"][0]["usage"],
            Server::DeepSeek | Server::Mistral | Server::Sloppy | Server::Together => {
                &finish["usage"]
            }
            _ => &last["usage"],
        };
        assert_eq!(tokens["completion_tokens"], 4, "{name}: {chunks:?}");
    }
    let without = chunks(&frames("compat-ollama", &json!({})));
    assert!(
        without.iter().all(|chunk| chunk["usage"].is_null()),
        "only if asked"
    );
    let every = chunks(&frames("compat-vllm", &usage()));
    assert!(
        every
            .iter()
            .filter(|chunk| chunk["usage"]["prompt_tokens"].is_u64())
            .count()
            > 3
    );
}

#[test]
fn calls_have_the_defect_each_server_is_known_for() {
    let ollama = pieces("ollama");
    assert_eq!(ollama.len(), 2, "whole calls");
    assert!(ollama.iter().all(|piece| piece["index"] == 0));
    let azure = pieces("azure");
    let ids: Vec<_> = azure
        .iter()
        .filter_map(|piece| piece["id"].as_str())
        .collect();
    assert_eq!(ids, ["call_sandbox_1", "call_sandbox_1"]);
    let mistral = pieces("mistral");
    assert_eq!(mistral[0]["id"].as_str().map(str::len), Some(9));
    assert_eq!(mistral[1]["id"], "null");
    assert!(mistral.iter().all(|piece| piece.get("type").is_none()));
    let sloppy = pieces("sloppy");
    assert!(sloppy.iter().all(|piece| piece.get("index").is_none()));
    assert!(sloppy[0]["function"]["arguments"].is_object());
    assert_eq!(pieces("vllm").len(), 8, "by the book");
}

#[test]
fn the_finish_stands_beside_the_last_content_where_servers_put_it_there() {
    for server in ["mistral", "ollama"] {
        let chunks = chunks(&frames(&format!("compat-{server}"), &json!({})));
        let last = &chunks.last().unwrap()["choices"][0];
        assert_eq!(last["finish_reason"], "stop", "{server}");
        assert_eq!(last["delta"]["content"], "weather", "{server}");
    }
}

#[test]
fn servers_keep_a_waiting_client_company() {
    assert_eq!(
        frames("compat-deepseek", &json!({}))[0].bytes,
        ": keep-alive\n\n"
    );
    let first = &frames("compat-openrouter", &json!({}))[0];
    assert!(first.bytes.starts_with(b": OPENROUTER PROCESSING\n"));
    assert_eq!(first.role, Role::Lead);
    assert!(whole("compat-deepseek").1.starts_with("\n\n"));
    assert!(whole("compat-openrouter").1.starts_with("\n "));
}

#[test]
fn reasoning_goes_by_each_servers_name_for_it() {
    let delta = |server: &str| {
        let frames = frames(&format!("sandbox-reasoning@compat-{server}"), &json!({}));
        chunks(&frames)
            .into_iter()
            .map(|chunk| chunk["choices"][0]["delta"].clone())
            .find(|delta| {
                delta.as_object().is_some_and(|delta| {
                    delta.keys().any(|key| key.starts_with("reasoning"))
                        || delta.get("content").is_some_and(Value::is_array)
                })
            })
            .unwrap()
    };
    assert_eq!(delta("groq")["reasoning"], "The ");
    assert_eq!(delta("deepseek")["reasoning_content"], "The ");
    assert_eq!(
        delta("mistral")["content"][0]["thinking"][0]["text"],
        "The "
    );
    assert_eq!(delta("openrouter")["reasoning_details"][0]["text"], "The ");
}

#[test]
fn errors_are_in_each_servers_shape() {
    let error = |model: &str, status, cause| {
        let voice = OpenAi::compatible().voice(model).unwrap();
        let whole = voice.error(status, cause, "no");
        serde_json::from_slice::<Value>(&whole.body).unwrap()
    };
    let usual = |model: &str, status| error(model, status, Cause::Usual);
    assert_eq!(
        usual("compat-azure", 500)["error"],
        json!({"code": "500", "message": "no"})
    );
    assert_eq!(
        usual("compat-groq", 498)["error"]["code"],
        "capacity_exceeded"
    );
    assert_eq!(
        usual("compat-llamacpp", 503)["error"]["message"],
        "Loading model"
    );
    assert_eq!(
        error("compat-llamacpp", 400, Cause::Context)["error"]["n_ctx"],
        8192
    );
    assert_eq!(
        usual("compat-minimax", 429)["base_resp"]["status_code"],
        1002
    );
    assert!(usual("compat-mistral", 422)["message"]["detail"].is_array());
    assert_eq!(usual("compat-mistral", 429)["raw_status_code"], 429);
    assert_eq!(usual("compat-openrouter", 502)["error"]["code"], 502);
    assert_eq!(usual("compat-sloppy", 500), json!({"error": "no"}));
    assert_eq!(usual("compat-together", 500)["error"]["type"], Value::Null);
    assert_eq!(usual("compat-vllm", 404)["error"]["code"], 404);
    assert_eq!(
        usual("compat-xai", 429)["code"],
        "Some resource has been exhausted"
    );
}

#[test]
fn an_error_within_a_stream_ends_as_each_server_ends_it() {
    let frame = |model: &str| {
        let spot = crate::mounts::Spot {
            content_type: crate::answer::EVENT_STREAM,
            before: 0,
        };
        let voice = OpenAi::compatible().voice(model).unwrap();
        String::from_utf8(voice.overload_frame("busy", spot).to_vec()).unwrap()
    };
    for (model, done) in [
        ("compat-vllm", true),
        ("compat-openrouter", true),
        ("compat-deepseek", false),
    ] {
        assert_eq!(frame(model).ends_with("data: [DONE]\n\n"), done, "{model}");
    }
    assert!(frame("compat-openrouter").contains("\"finish_reason\":\"error\""));
    assert!(frame("compat-llamacpp").starts_with("error: {"));
    assert!(frame("compat-groq").contains("\"x_groq\":{\"error\":\"busy\"}"));
}
