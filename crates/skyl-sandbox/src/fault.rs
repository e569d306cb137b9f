//! Faults by model name: nothing to set up, any language.

use crate::script::{MAX_NAME_BYTES, Outcome, Script, ScriptError, StatusFault, Step};

/// What a model name asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// No fault: the catalogue, or an unknown model.
    Plain,
    /// The same step on every request.
    Always(Step),
    /// One step per request of this name.
    Script(Script),
    /// `sandbox-do-` with a script that does not parse.
    Broken(ScriptError),
}

impl Named {
    /// Reads a fault out of a model name, `sandbox-stream-truncate` for example.
    pub(crate) fn of(model: &str) -> Self {
        if let Some(text) = model.strip_prefix("sandbox-do-") {
            // The whole name counts, since the name is what is kept per run.
            let parsed = if model.len() > MAX_NAME_BYTES {
                Err(ScriptError::too_long(
                    MAX_NAME_BYTES - (model.len() - text.len()),
                ))
            } else {
                Script::parse_tagged(text)
            };
            return parsed.map_or_else(Self::Broken, Self::Script);
        }
        if let Some(code) = model.strip_prefix("sandbox-status-").and_then(status) {
            let mut fault = StatusFault {
                code,
                ..StatusFault::default()
            };
            // Scripted statuses give no hint unless told; this form is the one that does.
            if code == 429 {
                fault.retry_after = Some(1_u32.into());
            }
            return Self::Always(Step::of(Outcome::Status(fault)));
        }
        match model {
            "sandbox-stream-truncate" => Self::Always(Step::of(Outcome::StreamTruncate(1))),
            "sandbox-stream-error" => Self::Always(Step::of(Outcome::StreamError(1))),
            _ => Self::Plain,
        }
    }
}

/// Exactly three digits from 200 to 599.
fn status(suffix: &str) -> Option<u16> {
    let digits = suffix.len() == 3 && suffix.bytes().all(|byte| byte.is_ascii_digit());
    suffix
        .parse()
        .ok()
        .filter(|code| digits && (200..=599).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(model: &str) -> Option<(u16, Option<String>)> {
        match Named::of(model) {
            Named::Always(Step {
                outcome: Outcome::Status(fault),
                ..
            }) => Some((
                fault.code,
                fault.retry_after.map(|value| value.as_str().to_owned()),
            )),
            _ => None,
        }
    }

    #[test]
    fn a_status_by_name_hints_only_on_429() {
        assert_eq!(
            code("sandbox-status-429"),
            Some((429, Some("1".to_owned())))
        );
        assert_eq!(code("sandbox-status-503"), Some((503, None)));
        assert_eq!(code("sandbox-status-200"), Some((200, None)));
        assert_eq!(code("sandbox-status-599"), Some((599, None)));
    }

    #[test]
    fn other_suffixes_are_ordinary_names() {
        for suffix in [
            "",
            "199",
            "600",
            "0429",
            "42",
            "429abc",
            "+29",
            "4.9",
            "４２９",
        ] {
            assert_eq!(
                Named::of(&format!("sandbox-status-{suffix}")),
                Named::Plain,
                "{suffix}"
            );
        }
        for name in [
            "gpt-5.6",
            "sandbox-stream",
            "sandbox-do",
            "Sandbox-Status-429",
            "",
        ] {
            assert_eq!(Named::of(name), Named::Plain, "{name}");
        }
    }

    #[test]
    fn a_name_of_eight_kibibytes_is_the_longest() {
        let name = |ones: usize| format!("sandbox-do-429(ra-raw={})", "1".repeat(ones));
        let around = name(0).len();
        assert!(matches!(
            Named::of(&name(MAX_NAME_BYTES - around)),
            Named::Script(_)
        ));
        let Named::Broken(error) = Named::of(&name(MAX_NAME_BYTES - around + 1)) else {
            panic!("a name of 8 KiB and a byte was taken");
        };
        assert_eq!(error.position(), MAX_NAME_BYTES - "sandbox-do-".len());
    }
}
