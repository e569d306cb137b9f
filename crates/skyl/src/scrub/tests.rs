use std::fmt::Write;
use std::io;

use proptest::prelude::*;

use super::*;

fn scrubber(key: &str) -> Scrubber {
    Scrubber::new(Some(&ApiKey::new(key)))
}

#[track_caller]
fn check(key: &str, text: &str, expected: &str) {
    assert_eq!(scrubber(key).scrub(text), expected);
}

#[test]
fn a_key_is_found_in_every_spelling() {
    let key = "sk-a/b+c=\"d\"";
    check(key, "bad key sk-a/b+c=\"d\"!", "bad key [redacted]!");
    check(
        key,
        "bad key sk-a%2Fb%2bc%3D%22d%22!",
        "bad key [redacted]!",
    );
    check(key, r#"bad key sk-a\/b+c=\"d\"!"#, "bad key [redacted]!");
    check(
        key,
        r"bad key sk-a/b\u002bc=\u0022d\u0022!",
        "bad key [redacted]!",
    );
    check(
        key,
        r#"bad key sk-a%2fb\u002Bc=\"d%22!"#,
        "bad key [redacted]!",
    );
    check(
        r"sk\abcdefg",
        r"sk\\abcdefg sk\abcdefg",
        "[redacted] [redacted]",
    );
    check(
        r"sk\\abcde%25",
        r"sk\\abcde%25 sk\\\\abcde%2525",
        "[redacted] [redacted]",
    );
}

#[test]
fn every_occurrence_goes() {
    check(
        "12345678",
        "12345678,12345678 x 12345678",
        "[redacted],[redacted] x [redacted]",
    );
}

#[test]
fn other_text_stays_and_is_not_copied() {
    let clean = scrubber("sk-secret-1");
    let text = "sk-secret-2 ünïcode sk-secret.";
    assert!(matches!(clean.scrub(text), Cow::Borrowed(_)));
    assert!(matches!(Scrubber::default().scrub(text), Cow::Borrowed(_)));
}

#[test]
fn a_text_cut_within_the_key_keeps_none_of_it() {
    check("sk-secret-12", "key sk-secret", "key [redacted]");
    check("sk-secret-12", "key sk-se", "key sk-se");
}

#[test]
fn keys_under_eight_bytes_are_left_alone() {
    let mut clean = Scrubber::default();
    assert!(!clean.add("key"));
    assert!(!clean.add("1234567"));
    assert_eq!(clean.scrub("the key 1234567"), "the key 1234567");
    assert!(clean.add("12345678"));
}

#[test]
fn the_longest_of_several_secrets_goes_whole() {
    let mut clean = scrubber("12345678");
    clean.add("12345678-more");
    assert_eq!(clean.scrub("12345678-more"), "[redacted]");
}

#[test]
fn a_clean_source_stays_itself() {
    let source: BoxError = Box::new(io::Error::from(io::ErrorKind::ConnectionReset));
    let kept = scrubber("sk-secret-1").scrub_source(source);
    assert!(kept.downcast_ref::<io::Error>().is_some());
}

#[test]
fn a_source_that_shows_the_key_becomes_text() {
    let inner = io::Error::other("no route to https://x/?key=sk%2Dsecret-1");
    let source: BoxError = Box::new(io::Error::other(inner));
    let kept = scrubber("sk-secret-1").scrub_source(source);
    assert!(kept.downcast_ref::<io::Error>().is_none());
    assert_eq!(kept.to_string(), "no route to https://x/?key=[redacted]");
    assert!(!format!("{kept:?}").contains("secret"));
}

proptest! {
    #[test]
    fn no_mix_of_spellings_hides_the_key(
        key in "[!-~]{8,40}",
        spellings in proptest::collection::vec(0u8..4, 40),
        before in ".{0,20}",
        after in "[ a-z]{0,20}",
    ) {
        let mut text = before;
        for (byte, spelling) in key.bytes().zip(&spellings) {
            match (spelling, byte) {
                (1, _) => write!(text, "%{byte:02X}").unwrap(),
                (2, _) => write!(text, "\\u{byte:04x}").unwrap(),
                (3, b'"' | b'\\' | b'/') => { text.push('\\'); text.push(char::from(byte)); }
                _ => text.push(char::from(byte)),
            }
        }
        text.push_str(&after);
        let clean = scrubber(&key).scrub(&text).into_owned();
        prop_assert!(clean.contains(REDACTED), "{text} became {clean}");
        prop_assert!(!clean.contains(&key));
    }

    #[test]
    fn any_text_is_scrubbed_without_panic(key in ".{8,20}", text in ".{0,200}") {
        let clean = scrubber(&key);
        let once = clean.scrub(&text).into_owned();
        prop_assert!(once.len() <= text.len() * 10 + 10);
    }
}
