//! The real workspace keeps its own rules.

use std::{
    fs,
    path::{Path, PathBuf},
};

use xtask::{
    layout,
    metadata::{Metadata, Reach},
    python, sources,
};

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

#[test]
fn arrows_run_down_and_every_crate_is_laid_out_as_agreed() {
    let metadata = Metadata::load(&root(), Reach::Members).unwrap();
    assert_eq!(layout::check(&metadata).unwrap(), [""; 0]);
}

#[test]
fn the_crates_at_the_core_are_looked_at() {
    // The check above passes on an empty workspace too.
    let metadata = Metadata::load(&root(), Reach::Members).unwrap();
    for name in [
        "skyl-retry",
        "skyl-sse",
        "skyl",
        "skyl-sandbox",
        "skyl-cli",
        "bench",
        "xtask",
    ] {
        assert!(metadata.members().any(|m| m.name == name), "{name}");
    }
    let client = metadata.members().find(|m| m.name == "skyl").unwrap();
    assert!(
        client
            .dependencies
            .iter()
            .any(|d| d.name == "skyl-retry" && d.path.is_some())
    );
}

#[test]
fn the_sdks_are_pinned() {
    let text = fs::read_to_string(root().join(python::REQUIREMENTS)).unwrap();
    let pins = python::pins(&text).unwrap();
    for sdk in ["openai==", "pytest=="] {
        assert!(pins.iter().any(|pin| pin.starts_with(sdk)), "{sdk}");
    }
}

#[test]
fn no_source_file_is_too_long_or_marked_as_unfinished() {
    assert_eq!(sources::check(&root()).unwrap(), [""; 0]);
}
