use serde_json::{Value, json};

use super::*;
use crate::kind::ErrorKind;
use crate::message::Part;
use crate::response::{StopReason, Usage};

fn answer(parts: &Value, reason: &str) -> Value {
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7},
        "modelVersion": "gemini-3-pro", "responseId": "rs-1",
    })
}

#[track_caller]
fn decoded(body: &Value) -> Decoded {
    harness::answer(&gemini(), body.to_string().as_bytes()).expect("an answer")
}

#[track_caller]
fn fault(body: &str) -> Fault {
    harness::answer(&gemini(), body.as_bytes()).expect_err("no answer")
}

fn warnings(decoded: &Decoded) -> Vec<String> {
    decoded.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn an_answer_comes_with_all_its_parts() {
    let answer = decoded(&answer(
        &json!([
            {"text": "hm", "thought": true},
            {"text": "a"},
            {"functionCall": {"name": "tide", "args": {"port": "Brest"}}, "thoughtSignature": "s"},
            {"functionCall": {"name": "moon"}},
        ]),
        "STOP",
    ));
    assert_eq!(answer.id.as_deref(), Some("rs-1"));
    assert_eq!(answer.model.as_deref(), Some("gemini-3-pro"));
    assert_eq!(answer.stop_reason, StopReason::ToolUse);
    assert_eq!(
        harness::tools(&answer),
        [
            ("call_rs-1_0", "tide", r#"{"port":"Brest"}"#),
            ("call_rs-1_1", "moon", "{}")
        ]
    );
    assert_eq!(answer.parts[1], Part::text("a"));
    assert_eq!(answer.warnings, []);
}

#[test]
fn an_answer_goes_back_as_it_came() {
    let parts = json!([
        {"text": "hm", "thought": true, "thoughtSignature": "r"},
        {"text": "a", "thoughtSignature": "s"},
        {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "x"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"text": "", "thoughtSignature": "t"},
        {"functionCall": {"id": "fc_1", "name": "tide", "args": {"port": "Brest"}}, "thoughtSignature": "u"},
        {"functionCall": {"name": "moon", "args": {}}},
    ]);
    let answer = decoded(&answer(&parts, "STOP"));
    let ids: Vec<_> = harness::tools(&answer)
        .iter()
        .map(|(id, _, _)| (*id).to_owned())
        .collect();
    let request = Request::new("m")
        .user("q")
        .message(crate::Message::new(
            crate::Role::Assistant,
            answer.parts.clone(),
        ))
        .message(crate::Message::tool_result(&ids[1], "{}"))
        .message(crate::Message::tool_result(&ids[0], "{}"));
    request.validate().unwrap();
    let encoded = gemini().encode(&request, Mode::Complete).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["contents"][1]["parts"], parts);
    assert_eq!(encoded.warnings, []);
    assert_eq!(
        warnings(&answer),
        [
            "content: `executableCode` is kept, but has no part of its own",
            "content: `codeExecutionResult` is kept, but has no part of its own",
        ]
    );
}

#[test]
fn each_finish_reason_has_its_name() {
    for (word, expected) in [
        ("STOP", StopReason::EndTurn),
        ("MAX_TOKENS", StopReason::MaxTokens),
        ("SAFETY", StopReason::Refusal),
        ("RECITATION", StopReason::Refusal),
        ("LANGUAGE", StopReason::Refusal),
        ("BLOCKLIST", StopReason::Refusal),
        ("PROHIBITED_CONTENT", StopReason::Refusal),
        ("SPII", StopReason::Refusal),
        ("MODEL_ARMOR", StopReason::Refusal),
        ("IMAGE_SAFETY", StopReason::Refusal),
        ("IMAGE_OTHER", StopReason::Other("IMAGE_OTHER".into())),
        (
            "MALFORMED_FUNCTION_CALL",
            StopReason::Other("MALFORMED_FUNCTION_CALL".into()),
        ),
        ("BRAND_NEW", StopReason::Other("BRAND_NEW".into())),
    ] {
        assert_eq!(
            decoded(&answer(&json!([{"text": "a"}]), word)).stop_reason,
            expected
        );
    }
}

#[test]
fn calls_make_a_plain_stop_tool_use_and_no_other() {
    let call = json!([{"functionCall": {"name": "t", "args": {}}}]);
    for (word, expected) in [
        ("STOP", StopReason::ToolUse),
        ("", StopReason::ToolUse),
        ("MAX_TOKENS", StopReason::MaxTokens),
        (
            "MALFORMED_FUNCTION_CALL",
            StopReason::Other("MALFORMED_FUNCTION_CALL".into()),
        ),
    ] {
        assert_eq!(
            decoded(&answer(&call, word)).stop_reason,
            expected,
            "{word}"
        );
    }
}

#[test]
fn a_filtered_answer_without_text_is_a_refusal() {
    let mut body = answer(&json!([]), "SAFETY");
    let plain = fault(&body.to_string());
    assert_eq!(
        (plain.kind(), plain.code()),
        (ErrorKind::Refusal, Some("SAFETY"))
    );
    assert_eq!(plain.message(), Some("no content: SAFETY"));
    assert_eq!(plain.usage().and_then(|usage| usage.output_tokens), Some(7));
    body["candidates"][0]["finishMessage"] = json!("It was about knives.");
    assert_eq!(
        fault(&body.to_string()).message(),
        Some("It was about knives.")
    );
    body["candidates"][0]
        .as_object_mut()
        .unwrap()
        .remove("content");
    assert_eq!(fault(&body.to_string()).kind(), ErrorKind::Refusal);
}

#[test]
fn a_blocked_prompt_is_a_refusal() {
    let mut body = json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 5},
    });
    let plain = fault(&body.to_string());
    assert_eq!(
        (plain.kind(), plain.code()),
        (ErrorKind::Refusal, Some("PROHIBITED_CONTENT"))
    );
    assert_eq!(plain.usage().and_then(|usage| usage.input_tokens), Some(5));
    body["promptFeedback"]["blockReasonMessage"] = json!("Not here.");
    assert_eq!(fault(&body.to_string()).message(), Some("Not here."));
    let fine = json!({"promptFeedback": {"safetyRatings": []}, "candidates": [
        {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"},
    ]});
    assert_eq!(decoded(&fine).parts, [Part::text("a")]);
}

#[test]
fn a_fault_of_the_model_without_content_is_worth_another_attempt() {
    for word in [
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "OTHER",
        "NEW",
    ] {
        let fault = fault(&answer(&json!([]), word).to_string());
        assert_eq!(
            (fault.kind(), fault.code()),
            (ErrorKind::Server, Some(word))
        );
    }
}

// 0xPlaygrounds/rig#2332: a reply of thoughts alone, cut by the limit, became an error.
#[test]
fn a_stop_or_a_limit_without_text_is_an_answer() {
    for word in ["STOP", "MAX_TOKENS"] {
        assert_eq!(decoded(&answer(&json!([]), word)).parts, []);
    }
    let thoughts = json!([{"text": "hm", "thought": true}]);
    assert_eq!(
        decoded(&answer(&thoughts, "MAX_TOKENS")).stop_reason,
        StopReason::MaxTokens
    );
}

#[test]
fn usage_counts_thoughts_as_output_and_tool_feedback_as_input() {
    let mut body = answer(&json!([{"text": "a"}]), "STOP");
    body["usageMetadata"] = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 6,
        "thoughtsTokenCount": 9, "toolUsePromptTokenCount": 20, "totalTokenCount": 135,
    });
    let expected = Usage {
        input_tokens: Some(120),
        output_tokens: Some(15),
        cache_read_tokens: Some(60),
        cache_write_tokens: None,
        reasoning_tokens: Some(9),
    };
    assert_eq!(decoded(&body).usage, expected);
    for odd in [
        json!({}),
        json!(null),
        json!("x"),
        json!({"promptTokenCount": null}),
    ] {
        body["usageMetadata"] = odd;
        assert_eq!(decoded(&body).usage, Usage::default());
    }
}

#[test]
fn only_the_first_candidate_is_read_and_the_others_are_named() {
    let body = json!({"candidates": [
        {"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "MAX_TOKENS"},
        {"index": 0, "content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"},
        {"index": 2, "content": {"parts": [{"text": "no"}]}},
    ]});
    let answer = decoded(&body);
    assert_eq!(
        (answer.parts.clone(), answer.stop_reason.clone()),
        (vec![Part::text("a")], StopReason::EndTurn)
    );
    assert_eq!(
        warnings(&answer),
        ["content: `candidates` beyond the first are left out"]
    );
}

#[test]
fn ids_are_kept_made_unique_or_made() {
    let call = |id: &str| json!({"functionCall": {"id": id, "name": "t", "args": {}}});
    let given = decoded(&answer(&json!([call("x"), call("x"), call("")]), "STOP"));
    let ids: Vec<_> = harness::tools(&given)
        .into_iter()
        .map(|(id, _, _)| id)
        .collect();
    assert_eq!(ids, ["x", "call_rs-1_1", "call_rs-1_2"]);
    assert_eq!(warnings(&given).len(), 1);
    let mut body = answer(&json!([call(""), call("")]), "STOP");
    for (response, other) in [("rs-1", "rs-2"), ("", "x")] {
        body["responseId"] = json!(response);
        let one = decoded(&body);
        body["responseId"] = json!(other);
        let two = decoded(&body);
        let mut all: Vec<_> = harness::tools(&one);
        all.extend(harness::tools(&two));
        let unique: std::collections::HashSet<_> = all.iter().map(|(id, _, _)| *id).collect();
        assert_eq!(unique.len(), 4);
        assert!(
            unique
                .iter()
                .all(|id| id.len() <= 40 && !id.contains(['.', ':'])),
            "{unique:?}"
        );
    }
    body["responseId"] = json!("é:".repeat(99));
    assert!(harness::tools(&decoded(&body))[0].0.is_ascii());
}

#[test]
fn arguments_may_be_missing_null_or_text() {
    let mut found = Vec::new();
    for args in [
        json!(null),
        json!({}),
        json!("{\"a\":1}"),
        json!({"a": 1.50}),
    ] {
        let parts = json!([{"functionCall": {"name": "t", "args": args}}]);
        found.push(
            harness::tools(&decoded(&answer(&parts, "STOP")))[0]
                .2
                .to_owned(),
        );
    }
    assert_eq!(found, ["{}", "{}", "{\"a\":1}", "{\"a\":1.5}"]);
}

#[test]
fn an_array_of_chunks_is_one_answer() {
    let chunk = |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}}]});
    let body = json!([
        chunk("a"),
        chunk("b"),
        answer(&json!([{"text": "c"}]), "STOP")
    ]);
    assert_eq!(decoded(&body).parts, [Part::text("abc")]);
    let cut = json!([chunk("a"), {"error": {"code": 503, "status": "UNAVAILABLE"}}]);
    assert!(fault(&cut.to_string()).is_overloaded());
}

#[test]
fn neither_an_answer_nor_an_error_is_a_failure_of_the_provider() {
    for body in [
        "",
        " \n",
        "{}",
        "[]",
        r#"{"candidates":[]}"#,
        r#"{"candidates":null,"error":null}"#,
        r#"{"candidates":[{"index":0}]}"#,
        r#"{"candidates":[{"content":{"parts":[]}}],"modelVersion":"m"}"#,
    ] {
        assert_eq!(fault(body).kind(), ErrorKind::Server, "{body}");
    }
}

#[test]
fn what_cannot_be_read_is_told_apart() {
    for body in [
        "<html></html>",
        "5",
        "[5]",
        "{\"candidates\":[{\"content\":{\"pa",
        r#"{"candidates":[{"content":{"parts":[5]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":5}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":"a"}}]}"#,
    ] {
        assert_eq!(fault(body).kind(), ErrorKind::Decode, "{body}");
    }
    let head = HeaderMap::new();
    let fault = gemini()
        .decode(&Head::new(200, &head, harness::now()), &[0xff])
        .unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::Decode);
}

fn page(body: &str) -> Result<ModelsPage, Fault> {
    let head = HeaderMap::new();
    gemini().decode_models(&Head::new(200, &head, harness::now()), body.as_bytes())
}

#[test]
fn models_come_page_by_page() {
    let body = json!({
        "models": [
            {"name": "models/gemini-3-pro", "displayName": "Gemini 3 Pro",
             "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536},
            {"displayName": "nameless"},
            {"name": "tunedModels/mine"},
        ],
        "nextPageToken": "next",
    });
    let models = page(&body.to_string()).unwrap();
    assert_eq!(models.next.as_deref(), Some("next"));
    assert_eq!(models.models.len(), 2);
    assert_eq!(models.models[0].id, "gemini-3-pro");
    assert_eq!(
        models.models[0].display_name.as_deref(),
        Some("Gemini 3 Pro")
    );
    assert_eq!(models.models[0].context_window, Some(1_048_576));
    assert_eq!(models.models[0].max_output_tokens, Some(65_536));
    assert_eq!(models.models[1].id, "tunedModels/mine");
    for last in [
        r#"{"models":[]}"#,
        r#"{"models":[],"nextPageToken":""}"#,
        "{}",
    ] {
        assert_eq!(page(last).unwrap(), ModelsPage::default(), "{last}");
    }
}

#[test]
fn a_page_that_is_an_error_or_nothing_is_told() {
    let error = r#"{"error":{"code":503,"status":"UNAVAILABLE"}}"#;
    assert!(page(error).unwrap_err().is_overloaded());
    assert!(page(&format!("[{error}]")).unwrap_err().is_overloaded());
    assert_eq!(
        page(r#"{"data":[]}"#).unwrap_err().kind(),
        ErrorKind::Server
    );
    assert_eq!(page("[]").unwrap_err().kind(), ErrorKind::Decode);
    assert_eq!(page("").unwrap_err().kind(), ErrorKind::Decode);
}

#[test]
fn a_refusal_with_a_call_is_an_answer() {
    let body = answer(&json!([{"functionCall": {"name": "t"}}]), "SAFETY");
    assert_eq!(decoded(&body).stop_reason, StopReason::Refusal);
}
