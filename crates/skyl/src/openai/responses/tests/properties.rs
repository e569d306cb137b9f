use proptest::prelude::*;

use super::*;

fn words() -> impl Strategy<Value = String> {
    "[a-zé🌊 \n\"]{1,8}"
}

fn item(at: usize) -> impl Strategy<Value = Value> {
    let id = format!("item_{at}");
    let [a, b, c, d] = std::array::from_fn(|_| id.clone());
    prop_oneof![
        words().prop_map(move |text| message(&a, &text)),
        words().prop_map(move |text| refusal(&b, &text)),
        (proptest::collection::vec(words(), 0..3), "[a-z]{0,3}").prop_map(
            move |(summary, sealed)| {
                let summary: Vec<_> = summary.iter().map(String::as_str).collect();
                reasoning(&c, &summary, &sealed)
            }
        ),
        words().prop_map(move |text| {
            call(
                &d,
                &format!("call_{at}"),
                &json!({"text": text}).to_string(),
            )
        }),
    ]
}

fn output() -> impl Strategy<Value = Vec<Value>> {
    (1_usize..5).prop_flat_map(|n| (0..n).map(item).collect::<Vec<_>>())
}

/// JSON of the protocol's own words in any order.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((proptest::sample::select(WORDS), inner), 0..6).prop_map(
                |members| members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            ),
        ]
    })
}

const WORDS: &[&str] = &[
    "type",
    "response",
    "item",
    "item_id",
    "output_index",
    "content_index",
    "delta",
    "text",
    "error",
    "status",
    "output",
    "content",
    "summary",
    "message",
    "reasoning",
    "function_call",
    "call_id",
    "name",
    "arguments",
    "completed",
    "incomplete",
    "failed",
    "id",
    "usage",
    "response.completed",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "",
];

proptest! {
    #[test]
    fn a_streamed_answer_is_the_whole_answer(output in output()) {
        let told = whole(&events(&output));
        prop_assert_eq!(&told.decoded, &decoded(&answer(&json!(output))));
        // And so it is where nothing but the beginnings and the ends come.
        let mut events = events(&output);
        events.retain(|event| !event["type"].as_str().unwrap().contains("delta"));
        prop_assert_eq!(&whole(&events).decoded, &told.decoded);
    }

    #[test]
    fn no_json_panics_and_no_cut_changes_what_it_is(values in proptest::collection::vec(any_json(), 0..8)) {
        let text = sse(&values);
        let whole = stream_text(&responses(), &text);
        let by_byte = harness::stream(&responses(), text.as_bytes().chunks(1));
        prop_assert_eq!(whole.events, by_byte.events);
        prop_assert_eq!(whole.decoded, by_byte.decoded);
        for value in values {
            let body = value.to_string();
            drop(harness::answer(&responses(), body.as_bytes()));
            harness::refused(&responses(), 400, &body);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
        harness::stream(&responses(), [&*bytes]);
        drop(harness::answer(&responses(), &bytes));
    }

    #[test]
    fn no_damaged_answer_panics(output in output(), at in any::<proptest::sample::Index>(), with in any::<u8>()) {
        let mut bytes = sse(&events(&output)).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = with;
        harness::stream(&responses(), [&*bytes]);
        let mut body = answer(&json!(output)).to_string().into_bytes();
        let at = at % body.len();
        body[at] = with;
        drop(harness::answer(&responses(), &body));
    }
}
