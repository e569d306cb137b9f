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
