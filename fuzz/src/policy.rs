//! Policies in files: what is read is valid, and reads back as it is written.

use skyl_retry::{InvalidPolicy, RetryPolicy, RetryPolicyBuilder};

/// One policy file, as TOML and as JSON.
pub(crate) fn policy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    any_line(&text);
    if let Ok(builder) = toml::from_str::<RetryPolicyBuilder>(&text) {
        built(&text, builder, toml::from_str(&text).ok().as_ref());
    }
    if let Ok(builder) = serde_json::from_str::<RetryPolicyBuilder>(&text) {
        built(&text, builder, serde_json::from_str(&text).ok().as_ref());
    }
}

fn built(text: &str, builder: RetryPolicyBuilder, read: Option<&RetryPolicy>) {
    match builder.build() {
        Ok(policy) => {
            assert_eq!(read, Some(&policy), "read at once and in two steps");
            reads_back(&policy);
        }
        Err(invalid) => {
            assert_eq!(read, None, "{invalid}");
            in_the_text(&invalid, text);
        }
    }
}

fn reads_back(policy: &RetryPolicy) {
    let written = toml::to_string(policy).map_err(|error| error.to_string());
    let read = written.and_then(|text| {
        toml::from_str::<RetryPolicy>(&text).map_err(|error| format!("{error}\n{text}"))
    });
    assert_eq!(read.as_ref(), Ok(policy), "through TOML");
    let written = serde_json::to_string(policy).map_err(|error| error.to_string());
    let read = written.and_then(|text| {
        serde_json::from_str::<RetryPolicy>(&text).map_err(|error| format!("{error}\n{text}"))
    });
    assert_eq!(read.as_ref(), Ok(policy), "through JSON");
}

/// The line of a figure is looked for in any text, also in one that no reader takes.
fn any_line(text: &str) {
    let refused = RetryPolicy::builder()
        .initial_delay(std::time::Duration::from_secs(2))
        .max_delay(std::time::Duration::from_secs(1))
        .build();
    let invalid = refused.err();
    assert!(
        invalid.is_some(),
        "a ceiling below the first delay is refused"
    );
    if let Some(invalid) = invalid {
        in_the_text(&invalid, text);
    }
}

fn in_the_text(invalid: &InvalidPolicy, text: &str) {
    let lines = 1 + text.matches('\n').count();
    if let Some(line) = invalid.line_in(text) {
        assert!((1..=lines).contains(&line), "line {line} of {lines}");
    }
}
