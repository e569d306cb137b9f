//! What the author behind every mount says to a request, in no wire shape yet.

use serde_json::Value;

use super::{
    schema,
    words::{self, ToolCall, Wanted},
};

/// What the answer depends on, in every provider's request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) model: String,
    pub(crate) max_tokens: Option<u64>,
    /// Texts that end the answer before them.
    pub(crate) stops: Vec<String>,
    /// The text of the last user turn that has one.
    pub(crate) prompt: String,
    /// The text of the last tool result, if the conversation ends in one.
    pub(crate) tool_result: Option<String>,
    /// All words of the conversation, for counting.
    pub(crate) input: String,
    pub(crate) tools: Vec<String>,
    pub(crate) wanted: Wanted,
    /// Whether two tools may be called at once.
    pub(crate) parallel: bool,
    pub(crate) schema: Option<Value>,
}

impl Asked {
    /// Tokens of the conversation, without what [`Asked::cached`] adds.
    pub(crate) fn input_tokens(&self) -> u64 {
        words::tokens(&self.input)
    }

    /// The prompt's tokens beside its words: a prefix that was read from a cache or written to it.
    pub(crate) fn cached(&self) -> Cached {
        if self.model == "sandbox-cached" {
            CACHED
        } else {
            Cached {
                read: 0,
                written: 0,
            }
        }
    }
}

/// Tokens of a cached prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cached {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Cached {
    pub(crate) fn total(self) -> u64 {
        self.read + self.written
    }
}

/// What the assistant says.
#[derive(Debug)]
pub(crate) enum Says {
    Text {
        text: String,
        reasoning: Option<&'static str>,
        end: End,
    },
    /// With words, [`REFUSAL`].
    Refusal,
    /// Without any.
    Filtered,
    Calls {
        calls: Vec<ToolCall>,
        named: bool,
    },
}

/// Why a text is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Said,
    Limit,
    Stop(String),
}

impl Says {
    pub(crate) fn to(asked: &Asked) -> Self {
        match asked.model.as_str() {
            "sandbox-refusal" => return Self::Refusal,
            "sandbox-content-filter" => return Self::Filtered,
            _ => {}
        }
        if let Some(result) = &asked.tool_result {
            return Self::prose(asked, &words::tool_reply(result));
        }
        if let Some(tool) = words::tool(&asked.tools, &asked.wanted, &asked.prompt) {
            let both = asked.model == "sandbox-parallel-tools" && asked.parallel;
            let calls = (1..=if both { 2 } else { 1 }).map(|number| ToolCall::nth(number, tool));
            return Self::Calls {
                calls: calls.collect(),
                named: matches!(asked.wanted, Wanted::Named(_)),
            };
        }
        if let Some(document) = asked.schema.as_ref().and_then(schema::document) {
            return Self::Text {
                text: document.to_string(),
                reasoning: None,
                end: End::Said,
            };
        }
        Self::prose(asked, &words::reply(&asked.prompt))
    }

    fn prose(asked: &Asked, text: &str) -> Self {
        let stop = words::stopped(text, &asked.stops);
        let text = stop.map_or(text, |(at, _)| &text[..at]);
        let (text, cut) = words::limited(text, asked.max_tokens);
        let end = match stop {
            _ if cut => End::Limit,
            Some((_, stop)) => End::Stop(stop.to_owned()),
            None => End::Said,
        };
        Self::Text {
            text: text.to_owned(),
            reasoning: (asked.model == "sandbox-reasoning").then_some(REASONING),
            end,
        }
    }

    /// Output tokens, and how many of them went into reasoning.
    pub(crate) fn tokens(&self) -> (u64, u64) {
        match self {
            Self::Text {
                text, reasoning, ..
            } => {
                let thought = reasoning.map_or(0, words::tokens);
                (words::tokens(text) + thought, thought)
            }
            Self::Refusal => (words::tokens(REFUSAL), 0),
            Self::Filtered => (0, 0),
            Self::Calls { calls, .. } => (
                calls.iter().map(|call| words::tokens(call.arguments)).sum(),
                0,
            ),
        }
    }
}

/// Models that answer in an unusual way, every time, on every mount.
pub(crate) const ODDITIES: [&str; 7] = [
    "sandbox-refusal",
    "sandbox-content-filter",
    "sandbox-reasoning",
    "sandbox-parallel-tools",
    "sandbox-cached",
    "sandbox-empty",
    "sandbox-echo-key",
];

pub(crate) const REFUSAL: &str = "I'm sorry, I can't help with that.";
/// What the reasoning model thinks.
pub(crate) const REASONING: &str = "The question is simple.";

/// A prefix of the size providers begin to cache at, and a little that is new in it.
const CACHED: Cached = Cached {
    read: 1024,
    written: 256,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(prompt: &str) -> Asked {
        Asked {
            model: "m".to_owned(),
            max_tokens: None,
            stops: Vec::new(),
            prompt: prompt.to_owned(),
            tool_result: None,
            input: prompt.to_owned(),
            tools: Vec::new(),
            wanted: Wanted::Auto,
            parallel: true,
            schema: None,
        }
    }

    #[track_caller]
    fn check(asked: &Asked, expected: &str, expected_end: &End) {
        let Says::Text { text, end, .. } = Says::to(asked) else {
            panic!("no text")
        };
        assert_eq!((text.as_str(), &end), (expected, expected_end));
    }

    #[test]
    fn a_text_ends_at_the_first_stop_or_at_the_limit_whichever_is_sooner() {
        let mut asked = asked("one two three");
        check(&asked, "You said: one two three", &End::Said);
        asked.stops = vec!["three".to_owned(), "two".to_owned()];
        check(&asked, "You said: one ", &End::Stop("two".to_owned()));
        asked.max_tokens = Some(2);
        check(&asked, "You said:", &End::Limit);
        asked.max_tokens = Some(3);
        check(&asked, "You said: one ", &End::Stop("two".to_owned()));
    }

    #[test]
    fn only_the_cached_model_has_a_cached_prefix() {
        let mut asked = asked("x");
        assert_eq!(asked.cached().total(), 0);
        "sandbox-cached".clone_into(&mut asked.model);
        assert!(asked.cached().read > 0 && asked.cached().written > 0);
    }
}
