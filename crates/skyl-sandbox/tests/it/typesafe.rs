//! TypeSafe over real sockets: faults, journal and limits in its own shapes, and coded bodies.

use std::num::NonZeroU32;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use skyl_sandbox::{Chaos, Sandbox};

use crate::support::{Answer, End, ask, connect, request, sandbox, scripted};

const PATH: &str = "/typesafe/v1/systemone";

fn body(model: &str) -> Value {
    json!({
        "state": "The kettle leaks.",
        "model": model,
        "questions": {"defect": {"type": "noul", "instructions": "Is it a defect?"}},
    })
}

fn post(model: &str) -> Vec<u8> {
    request("POST", PATH, &body(model).to_string())
}

async fn of_model(sandbox: &Sandbox, model: &str) -> Answer {
    ask(sandbox, &post(model)).await
}

/// The bytes of a request with another body and more headers.
fn raw(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: s\r\nauthorization: Bearer sandbox-key\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[tokio::test]
async fn an_answer_names_its_request_and_its_version() {
    let sandbox = sandbox().await;
    let answer = of_model(&sandbox, "jev-latest").await;
    assert_eq!((answer.status, answer.end), (200, End::Whole));
    assert_eq!(answer.headers("content-type"), ["application/json"]);
    let id = "req_00000000000000000000000000000001";
    assert_eq!(answer.headers("x-typesafe-request-id"), [id]);
    assert_eq!(answer.json()["model"], "jev-1.13.0");
    let again = of_model(&sandbox, "jev-latest").await;
    assert_eq!(again.json(), answer.json());
    assert_ne!(again.headers("x-typesafe-request-id"), [id]);
}

#[tokio::test]
async fn every_status_comes_in_a_shape_of_detail_with_a_request_id() {
    let sandbox = sandbox().await;
    let mut wire = connect(&sandbox).await;
    for status in 200..=599_u16 {
        let model = format!("sandbox-status-{status}");
        wire.send(&post(&model)).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!((answer.status, answer.end), (status, End::Whole));
        assert_eq!(answer.headers("x-typesafe-request-id").len(), 1);
        if matches!(status, 204 | 205 | 304) {
            assert_eq!(answer.text(), "", "{status}");
        } else {
            let detail = answer.json()["detail"].take();
            let message = match &detail {
                Value::String(text) => text,
                Value::Array(issues) => issues[0]["msg"].as_str().unwrap(),
                object => object["message"].as_str().unwrap(),
            };
            assert_eq!(message, format!("sandbox: injected status {model}"));
        }
        let hint = if status == 429 { vec!["1"] } else { Vec::new() };
        assert_eq!(answer.headers("retry-after"), hint, "{status}");
    }
}

#[tokio::test]
async fn refusals_come_with_a_request_id_and_no_fault() {
    let script = scripted("503").await;
    for (asked, status) in [
        ("GET /typesafe/v1/models HTTP/1.1\r\nhost: s\r\n\r\n", 403),
        (
            "GET /typesafe/v1/models HTTP/1.1\r\nhost: s\r\nauthorization: Bearer no\r\n\r\n",
            401,
        ),
        (
            "GET /typesafe/v1/none HTTP/1.1\r\nhost: s\r\nauthorization: Bearer sandbox-key\r\n\r\n",
            404,
        ),
        (
            "GET /typesafe/v1/systemone HTTP/1.1\r\nhost: s\r\nauthorization: Bearer sandbox-key\r\n\r\n",
            405,
        ),
    ] {
        let answer = ask(&script, asked.as_bytes()).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers("x-typesafe-request-id").len(), 1);
    }
    let list = ask(&script, &request("GET", "/typesafe/v1/models", "")).await;
    assert_eq!(list.status, 503, "the list is no refusal");
}

#[tokio::test]
async fn errors_that_no_status_tells_have_the_provider_s_own_words() {
    let sandbox = sandbox().await;
    let detail = async |step: &str| {
        let answer = of_model(&sandbox, &format!("sandbox-do-{step}")).await;
        answer.json()["detail"].take()
    };
    let quota = detail("429(body=quota)").await;
    assert_eq!(quota["error_type"], "insufficient_quota");
    let context = detail("400(body=context)").await;
    assert_eq!(context, json!({"error_type": "max_tokens_exceeded"}));
    let overloaded = detail("503(body=overloaded)").await;
    assert_eq!(overloaded["error_type"], "overloaded_error");
    for step in [
        "502(body=html)",
        "500(body=empty)",
        "503(body=cut)",
        "200(body=cut)",
    ] {
        let answer = of_model(&sandbox, &format!("sandbox-do-{step}")).await;
        assert!(
            serde_json::from_str::<Value>(&answer.text()).is_err(),
            "{step}"
        );
        assert_eq!(answer.headers("x-typesafe-request-id").len(), 1);
    }
}

#[tokio::test]
async fn connections_end_before_any_byte_and_in_the_middle() {
    let sandbox = sandbox().await;
    for (step, end) in [("reset", End::Rst), ("close", End::Fin)] {
        let mut wire = connect(&sandbox).await;
        wire.send(&post(&format!("sandbox-do-{step}"))).await;
        assert_eq!(wire.answer().await.unwrap_err(), end, "{step}");
    }
    for (step, end) in [
        ("close-mid", End::Fin),
        ("reset-mid", End::Rst),
        ("stream-truncate(1)", End::Fin),
        ("stream-reset(2)", End::Rst),
    ] {
        let answer = of_model(&sandbox, &format!("sandbox-do-{step}")).await;
        assert_eq!((answer.status, answer.end), (200, end), "{step}");
        assert!(answer.text().starts_with("{\"model\":"), "{step}");
    }
    assert_eq!(
        of_model(&sandbox, "sandbox-stream-truncate").await.end,
        End::Fin
    );
}

#[tokio::test]
async fn without_streams_an_error_in_band_is_a_200() {
    let sandbox = sandbox().await;
    for model in [
        "sandbox-stream-error",
        "sandbox-do-first-error",
        "sandbox-do-stream-error(3)",
    ] {
        let answer = of_model(&sandbox, model).await;
        assert_eq!(answer.status, 200);
        let detail = answer.json()["detail"].take();
        assert_eq!(detail["error_type"], "overloaded_error", "{model}");
    }
}

#[tokio::test]
async fn deliveries_lose_nothing() {
    let sandbox = sandbox().await;
    let expected = of_model(&sandbox, "jev-latest").await.json();
    for step in [
        "split(1)",
        "split(7)+slow(0)",
        "stall(1)",
        "stall-mid(1)",
        "stream-stall(2;1)",
        "comments(15)",
        "ok",
    ] {
        let answer = of_model(&sandbox, &format!("sandbox-do-{step}")).await;
        assert_eq!(answer.json(), expected, "{step}");
    }
}

#[tokio::test]
async fn hints_are_in_the_headers_alone() {
    let sandbox = sandbox().await;
    let told = of_model(&sandbox, "sandbox-do-529(ra=2;ra-ms=1500)").await;
    assert_eq!(told.headers("retry-after"), ["2"]);
    assert_eq!(told.headers("retry-after-ms"), ["1500"]);
    let detail = told.json()["detail"].take();
    assert_eq!(detail.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn a_script_that_does_not_parse_is_a_bad_request_with_its_place() {
    let sandbox = sandbox().await;
    let answer = of_model(&sandbox, "sandbox-do-503,nope").await;
    assert_eq!(answer.status, 400);
    let detail = answer.json()["detail"].take();
    assert_eq!(detail["error_type"], "api_usage_error");
    let message = detail["message"].as_str().unwrap();
    assert!(
        message.starts_with("sandbox: bad script at byte 4: "),
        "{message}"
    );
}

#[tokio::test]
async fn the_journal_has_the_bytes_as_they_were_sent() {
    let sandbox = sandbox().await;
    let plain = body("sandbox-do-503,ok@z").to_string();
    let packed = compress_to_vec(plain.as_bytes(), CompressionLevel::Fastest);
    for status in [503, 200] {
        let coded = raw(
            "content-encoding: zstd\r\nx-typesafe-retry-count: 1\r\n",
            &packed,
        );
        assert_eq!(ask(&sandbox, &coded).await.status, status);
    }
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
    let model = Some("sandbox-do-503,ok@z");
    assert_eq!(
        seen,
        [
            ("typesafe", model, Some(0), Some(503)),
            ("typesafe", model, Some(1), Some(200)),
        ]
    );
    for entry in &journal {
        assert_eq!(entry.path, PATH);
        assert_eq!(entry.body_sha256, hex(&Sha256::digest(&packed)));
        assert_eq!(entry.body_bytes, u64::try_from(packed.len()).unwrap());
        assert_eq!(entry.header("x-typesafe-retry-count"), Some("1"));
        assert_eq!(entry.header("authorization"), Some("[redacted]"));
        assert_eq!(sandbox.body(entry.seq).unwrap(), packed);
    }
}

#[tokio::test]
async fn a_form_with_an_image_is_answered() {
    let sandbox = sandbox().await;
    let envelope = json!({
        "state": "<image:1>",
        "model": "jev-preview",
        "questions": {"dog": {"type": "box", "instructions": "The dog"}},
        "assets": {"<image:1>": {"type": "image", "part": "asset-0"}},
    });
    let form = [
        format!("--b\r\nContent-Disposition: form-data; name=\"request\"\r\nContent-Type: application/json\r\n\r\n{envelope}\r\n").as_bytes(),
        b"--b\r\nContent-Disposition: form-data; name=\"asset-0\"; filename=\"asset-0\"\r\nContent-Type: image/png\r\n\r\n",
        b"\x89PNG\r\n\x1a\n\r\n--\r\n",
        b"--b--\r\n",
    ]
    .concat();
    let content_type = "content-type: multipart/form-data; boundary=b\r\n";
    let refused = ask(&sandbox, &raw(content_type, &form)).await;
    assert_eq!(refused.status, 400, "not without the header");
    let headers = format!("{content_type}typesafe-danger-zone-images: true\r\n");
    let answer = ask(&sandbox, &raw(&headers, &form)).await;
    assert_eq!(answer.json()["answers"]["dog"]["type"], "box");
    assert_eq!(sandbox.journal()[1].model.as_deref(), Some("jev-preview"));
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused_in_the_provider_s_shape() {
    let sandbox = sandbox().await;
    let large = vec![b' '; 32 * 1024 * 1024 + 1];
    let answer = ask(&sandbox, &raw("", &large)).await;
    assert_eq!(answer.status, 413);
    assert!(answer.json()["detail"]["message"].is_string());
}

#[tokio::test]
async fn scripts_chaos_and_limits_serve_this_mount_too() {
    let script = scripted("529(ra-ms=1),ok").await;
    for expected in [529, 200] {
        assert_eq!(of_model(&script, "jev-latest").await.status, expected);
    }

    let chaos = Chaos::new(1.0, 7).unwrap();
    let chaotic = Sandbox::builder().chaos(chaos).start().await.unwrap();
    let mut wire = connect(&chaotic).await;
    wire.send(&post("jev-latest")).await;
    let met = wire.answer().await;
    assert!(!met.is_ok_and(|answer| answer.status == 200
        && answer.end == End::Whole
        && answer.json().get("detail").is_none()));

    let limit = |requests: Option<u32>, tokens: Option<u32>| async move {
        let mut builder = Sandbox::builder();
        if let Some(limit) = requests.and_then(NonZeroU32::new) {
            builder = builder.requests_per_minute(limit);
        }
        if let Some(limit) = tokens.and_then(NonZeroU32::new) {
            builder = builder.tokens_per_minute(limit);
        }
        builder.start().await.unwrap()
    };
    let one = of_model(&sandbox().await, "jev-latest").await.json()["usage"].take();
    let one = u32::try_from(one["input_tokens"].as_u64().unwrap() + 20).unwrap();
    // A minute's worth of requests, or of tokens, for one request alone.
    for limited in [limit(Some(1), None).await, limit(None, Some(one)).await] {
        assert_eq!(of_model(&limited, "jev-latest").await.status, 200);
        let refused = of_model(&limited, "jev-latest").await;
        assert_eq!(refused.status, 429);
        assert_eq!(refused.json()["detail"]["error_type"], "rate_limit_error");
        assert_eq!(refused.headers("retry-after").len(), 1);
        assert_eq!(refused.headers("retry-after-ms").len(), 1);
        let faulty = of_model(&limited, "sandbox-status-500").await;
        assert_eq!(
            faulty.status, 500,
            "a fault by name goes before the limiter"
        );
    }
    let small = limit(None, Some(one - 1)).await;
    let refused = of_model(&small, "jev-latest").await;
    assert_eq!(refused.headers("x-should-retry"), ["false"]);
}
