//! The deterministic author behind every mount: texts, token counts, the tool it calls.
//!
//! Rules, not a model: the same prompt gives the same answer in every provider's shape, so that a
//! test can compare them.

/// What the sandbox says to a prompt.
pub(crate) fn reply(prompt: &str) -> String {
    if prompt.trim().is_empty() {
        "Hello from the skyl sandbox.".to_owned()
    } else if prompt.to_lowercase().contains("capital of france") {
        "Paris".to_owned()
    } else {
        format!("You said: {prompt}")
    }
}

/// What the sandbox says once a tool has answered.
pub(crate) fn tool_reply(result: &str) -> String {
    format!("The tool said: {result}")
}

/// Tokens of a text: its words, at least one.
pub(crate) fn tokens(text: &str) -> u64 {
    u64::try_from(text.split_whitespace().count())
        .unwrap_or(u64::MAX)
        .max(1)
}

/// The text up to its `max`-th word, byte for byte, and whether anything was cut.
pub(crate) fn limited(text: &str, max: Option<u64>) -> (&str, bool) {
    let Some(max) = max else { return (text, false) };
    let mut words = 0;
    let mut in_word = false;
    for (at, char) in text.char_indices() {
        if char.is_whitespace() {
            in_word = false;
        } else if !in_word {
            if words == max {
                return (text[..at].trim_end(), true);
            }
            in_word = true;
            words += 1;
        }
    }
    (text, false)
}

/// The first of the stop texts in a text, and where it begins; an empty one stops nothing.
pub(crate) fn stopped<'a>(text: &str, stops: &'a [String]) -> Option<(usize, &'a str)> {
    let found = stops.iter().filter(|stop| !stop.is_empty());
    found
        .filter_map(|stop| Some((text.find(stop.as_str())?, stop.as_str())))
        .min_by_key(|(at, _)| *at)
}

/// A key as an error may quote it: as it is, percent-encoded, JSON-escaped.
pub(crate) fn spellings(key: &str) -> [String; 3] {
    let percent = key
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    let escaped = key.encode_utf16().fold(String::new(), |escaped, unit| {
        escaped + &format!("\\u{unit:04x}")
    });
    [key.to_owned(), percent, escaped]
}

/// An object's JSON text with one more member, whose value stands in the bytes exactly as given.
pub(crate) fn with_raw_text(mut object: String, name: &str, raw: &str) -> String {
    // A serializer would undo the escapes.
    let end = object.rfind('}').unwrap_or(object.len());
    object.insert_str(end, &format!(",\"{name}\":\"{raw}\""));
    object
}

/// The text in stream-sized pieces that join to exactly the text.
///
/// A piece is a word with the white space behind it; long words are cut, at characters.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut after_space = false;
    for (at, char) in text.char_indices() {
        let word_begins = after_space && !char.is_whitespace();
        if at > start && (word_begins || at - start >= LONGEST_PIECE) {
            pieces.push(&text[start..at]);
            start = at;
        }
        after_space = char.is_whitespace();
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

/// A tool call the sandbox makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: &'static str,
}

impl ToolCall {
    pub(crate) fn nth(number: usize, name: &str) -> Self {
        Self {
            id: format!("call_sandbox_{number}"),
            name: name.to_owned(),
            arguments: ARGUMENTS,
        }
    }

    /// The arguments in three pieces, none of which is JSON of its own.
    pub(crate) fn fragments(&self) -> [&'static str; 3] {
        let (first, rest) = self.arguments.split_at(11);
        let (second, third) = rest.split_at(11);
        [first, second, third]
    }
}

/// Which tool the request's choice allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Auto,
    None,
    Required,
    Named(String),
}

/// The tool the sandbox calls: the named one, else one about the weather, else the first; and only
/// if it must, or the prompt asks for the weather.
pub(crate) fn tool<'a>(tools: &'a [String], wanted: &Wanted, prompt: &str) -> Option<&'a str> {
    let weather = |text: &str| text.to_lowercase().contains("weather");
    match wanted {
        Wanted::None => None,
        Wanted::Named(name) => tools.iter().find(|tool| *tool == name).map(String::as_str),
        Wanted::Auto | Wanted::Required => {
            let tool = tools
                .iter()
                .find(|tool| weather(tool))
                .or_else(|| tools.first())?;
            (*wanted == Wanted::Required || weather(prompt)).then_some(tool)
        }
    }
}

/// 35 bytes, cut at 11 and 22.
const ARGUMENTS: &str = r#"{"city":"Kampala","units":"metric"}"#;

/// Long enough for every ordinary word.
const LONGEST_PIECE: usize = 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_capital_of_france_is_known_and_all_else_is_echoed() {
        assert_eq!(reply("What is the Capital of France?"), "Paris");
        assert_eq!(reply(" \n"), "Hello from the skyl sandbox.");
        assert_eq!(reply("a  b\n"), "You said: a  b\n");
    }

    #[test]
    fn a_limit_counts_words_and_keeps_their_bytes() {
        assert_eq!(limited("a  b c", Some(2)), ("a  b", true));
        assert_eq!(limited("a  b c ", Some(3)), ("a  b c ", false));
        assert_eq!(limited("a b", None), ("a b", false));
        assert_eq!(limited("a b", Some(0)), ("", true));
    }

    #[test]
    fn the_stop_that_comes_first_counts() {
        let stops = ["three".to_owned(), String::new(), "two".to_owned()];
        assert_eq!(stopped("one two three", &stops), Some((4, "two")));
        assert_eq!(stopped("one", &stops), None);
    }

    #[test]
    fn arguments_come_in_eleven_eleven_and_thirteen_bytes() {
        let lengths = ToolCall::nth(1, "t").fragments().map(str::len);
        assert_eq!(lengths, [11, 11, 13]);
    }

    #[test]
    fn a_tool_is_called_when_it_must_be_or_the_weather_is_asked_for() {
        let tools = ["clock".to_owned(), "get_weather".to_owned()];
        assert_eq!(
            tool(&tools, &Wanted::Auto, "the weather?"),
            Some("get_weather")
        );
        assert_eq!(tool(&tools, &Wanted::Auto, "the time?"), None);
        assert_eq!(
            tool(&tools, &Wanted::Required, "the time?"),
            Some("get_weather")
        );
        assert_eq!(tool(&tools, &Wanted::None, "the weather?"), None);
        assert_eq!(
            tool(&tools, &Wanted::Named("clock".into()), "x"),
            Some("clock")
        );
        assert_eq!(tool(&tools, &Wanted::Named("other".into()), "x"), None);
        assert_eq!(tool(&[], &Wanted::Required, "weather"), None);
    }

    proptest! {
        #[test]
        fn pieces_join_to_the_text(text in "\\PC{0,200}|[a-z \\n\\t]{0,200}") {
            prop_assert_eq!(pieces(&text).concat(), text.clone());
            prop_assert!(pieces(&text).iter().all(|piece| !piece.is_empty()));
        }

        #[test]
        fn a_limited_text_is_a_beginning_of_the_text(text in "\\PC{0,100}", max in 0_u64..20) {
            let (short, cut) = limited(&text, Some(max));
            prop_assert!(text.starts_with(short));
            prop_assert!(cut || short == text);
        }
    }
}
