//! Why the model stopped, from a word that servers spell freely.

use crate::dialect::Fault;
use crate::kind::ErrorKind;
use crate::response::StopReason;

/// The reason, from the word and from what the answer holds.
///
/// The word alone is not enough: a call by a named tool choice ends with `stop`, and so does a
/// refusal in words.
pub(super) fn reason(word: Option<&str>, refused: bool, called: bool) -> StopReason {
    let is = |names: &[&str]| {
        word.is_some_and(|word| names.iter().any(|name| word.eq_ignore_ascii_case(name)))
    };
    let reason = if is(&["stop", "end_turn", "eos", "eos_token", "complete"]) {
        StopReason::EndTurn
    } else if is(&["length", "max_tokens", "model_length"]) {
        StopReason::MaxTokens
    } else if is(&["tool_calls", "tool_call", "tool_use", "function_call"]) {
        StopReason::ToolUse
    } else if is(&["stop_sequence"]) {
        StopReason::StopSequence
    // The last one is Z.ai's.
    } else if is(&["content_filter", "refusal", "sensitive"]) {
        StopReason::Refusal
    } else {
        StopReason::Other(word.unwrap_or_default().to_owned())
    };
    match reason {
        StopReason::EndTurn | StopReason::Other(_) if refused => StopReason::Refusal,
        StopReason::EndTurn | StopReason::Other(_) if called => StopReason::ToolUse,
        other => other,
    }
}

/// The failure a word stands for, where the answer was broken off.
pub(super) fn failure(word: &str) -> Option<Fault> {
    let (message, overloaded) = match word {
        // The second one is Z.ai's.
        "error" | "network_error" => ("the provider broke off the answer", false),
        // DeepSeek, when it runs out of room in mid-answer.
        "insufficient_system_resource" => ("the provider ran out of room for the answer", true),
        _ => return None,
    };
    let fault = Fault::new(ErrorKind::Server)
        .with_code(word)
        .with_message(message);
    Some(fault.with_overloaded(overloaded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_is_one_reason() {
        for (word, expected) in [
            ("stop", StopReason::EndTurn),
            ("eos", StopReason::EndTurn),
            ("length", StopReason::MaxTokens),
            ("model_length", StopReason::MaxTokens),
            ("tool_calls", StopReason::ToolUse),
            ("function_call", StopReason::ToolUse),
            ("content_filter", StopReason::Refusal),
            ("eos_token", StopReason::EndTurn),
            ("tool_call", StopReason::ToolUse),
            ("STOP", StopReason::EndTurn),
            ("MAX_TOKENS", StopReason::MaxTokens),
            ("sensitive", StopReason::Refusal),
            ("brand_new", StopReason::Other("brand_new".into())),
        ] {
            assert_eq!(reason(Some(word), false, false), expected, "{word}");
        }
        assert_eq!(reason(None, false, false), StopReason::Other(String::new()));
    }

    #[test]
    fn what_the_answer_holds_beats_a_plain_stop() {
        assert_eq!(reason(Some("stop"), false, true), StopReason::ToolUse);
        assert_eq!(reason(None, false, true), StopReason::ToolUse);
        assert_eq!(reason(Some("stop"), true, false), StopReason::Refusal);
    }

    #[test]
    fn a_limit_or_a_filter_stays_what_it_is() {
        assert_eq!(reason(Some("length"), false, true), StopReason::MaxTokens);
        assert_eq!(reason(Some("length"), true, false), StopReason::MaxTokens);
        assert_eq!(
            reason(Some("content_filter"), false, true),
            StopReason::Refusal
        );
    }

    #[test]
    fn an_answer_broken_off_is_a_failure() {
        assert!(!failure("error").unwrap().is_overloaded());
        assert!(
            failure("insufficient_system_resource")
                .unwrap()
                .is_overloaded()
        );
        assert!(failure("network_error").is_some());
        assert!(failure("stop").is_none());
    }
}
