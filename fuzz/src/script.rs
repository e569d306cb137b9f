//! The sandbox's fault scripts: what is printed reads back, and an error points into the text.

use skyl_sandbox::Script;

/// One script.
pub(crate) fn script(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Script>() {
        Ok(script) => {
            let printed = script.to_string();
            assert_eq!(
                printed.parse::<Script>().as_ref(),
                Ok(&script),
                "{printed:?}"
            );
        }
        Err(error) => {
            assert!(error.position() <= text.len(), "{error}");
            assert!(!error.expected().is_empty());
            let shown = error.to_string();
            assert!(!shown.contains(char::is_control), "{shown:?}");
        }
    }
}
