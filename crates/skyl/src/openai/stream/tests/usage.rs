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
fn usage_is_read_under_the_names_of_newer_protocols_too() {
    let tokens = json!({"input_tokens": 7, "output_tokens": 2, "reasoning_tokens": 1});
    let last = json!({"choices": [], "usage": tokens});
    let told = told(&frames(&[said("a"), finish("stop"), last]));
    assert_eq!(figures(&told), (Some(7), Some(2)));
    assert_eq!(told.decoded.usage.reasoning_tokens, Some(1));
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
        json!({"choices": [{"delta": {"usage": tokens}, "finish_reason": "stop"}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}],
               "x_groq": {"id": "req_1", "usage": tokens}}),
    ] {
        let told = told(&frames(&[said("a"), last.clone()]));
        assert_eq!(figures(&told), (Some(7), Some(2)), "{last}");
        assert_eq!(told.decoded.usage.cache_read_tokens, Some(4));
        assert_eq!(told.decoded.usage.reasoning_tokens, Some(1));
    }
}
