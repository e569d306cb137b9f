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
