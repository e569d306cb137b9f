use std::path::{Path, PathBuf};

use super::*;

fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
    Package {
        name: name.to_owned(),
        version: "0.1.0".to_owned(),
        folder: folder(name),
        licence: None,
        member: true,
        library: true,
        features: Vec::new(),
        dependencies,
    }
}

fn on(name: &str, kind: Kind) -> Dependency {
    Dependency {
        name: name.to_owned(),
        kind,
        path: Some(folder(name)),
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new("/w/crates").join(name)
}

fn found(packages: Vec<Package>) -> Vec<String> {
    problems(&Metadata {
        root: PathBuf::from("/w"),
        packages,
        ..Metadata::default()
    })
}

#[track_caller]
fn check_edge(from: &str, to: &str, kind: Kind, allowed: bool) {
    let problems = found(vec![
        package(from, vec![on(to, kind)]),
        package(to, Vec::new()),
    ]);
    assert_eq!(
        problems.is_empty(),
        allowed,
        "{from} -> {to} ({kind:?}): {problems:?}"
    );
    if !allowed {
        assert!(
            problems[0].contains(&format!("`{from}` has `{to}`")),
            "{problems:?}"
        );
    }
}

#[test]
fn arrows_run_down() {
    for kind in [Kind::Normal, Kind::Build, Kind::Dev] {
        check_edge("skyl", "skyl-retry", kind, true);
        check_edge("skyl", "skyl-sse", kind, true);
        check_edge("skyl-sim", "skyl-retry", kind, true);
        check_edge("skyl-cli", "skyl-sandbox", kind, true);
        check_edge("skyl-cli", "skyl-sim", kind, true);
        check_edge("bench", "skyl-cli", kind, true);
        check_edge("xtask", "skyl-sse", kind, true);
    }
}

#[test]
fn no_arrow_runs_up_or_sideways() {
    for kind in [Kind::Normal, Kind::Build, Kind::Dev] {
        check_edge("skyl-retry", "skyl", kind, false);
        check_edge("skyl-retry", "skyl-sse", kind, false);
        check_edge("skyl-sse", "skyl-retry", kind, false);
        check_edge("skyl-sandbox", "skyl", kind, false);
        check_edge("skyl-sandbox", "skyl-sse", kind, false);
        check_edge("skyl-sim", "skyl", kind, false);
        check_edge("skyl", "skyl-cli", kind, false);
        check_edge("skyl-cli", "bench", kind, false);
        check_edge("skyl-retry", "xtask", kind, false);
        check_edge("skyl-retry", "skyl-retry", kind, false);
    }
}

#[test]
fn the_client_may_use_the_sandbox_in_tests_alone() {
    check_edge("skyl", "skyl-sandbox", Kind::Dev, true);
    check_edge("skyl", "skyl-sandbox", Kind::Normal, false);
    check_edge("skyl", "skyl-sandbox", Kind::Build, false);
}

#[test]
fn a_published_copy_of_ours_is_the_same_arrow() {
    let copy = Dependency {
        path: None,
        ..on("skyl-retry", Kind::Normal)
    };
    assert_eq!(found(vec![package("skyl-sse", vec![copy])]).len(), 1);
}

#[test]
fn packages_of_others_are_no_arrows() {
    let theirs = Dependency {
        name: "tokio".to_owned(),
        kind: Kind::Normal,
        path: None,
    };
    assert_eq!(found(vec![package("skyl-retry", vec![theirs])]), [""; 0]);
}

#[test]
fn a_crate_without_a_layer_is_refused() {
    let problems = found(vec![package("skyl-extra", Vec::new())]);
    assert!(
        problems[0].contains("`skyl-extra` has no layer"),
        "{problems:?}"
    );
}

#[test]
fn a_folder_of_another_name_is_refused() {
    for place in [
        "/w/crates/retry",
        "/w/skyl-retry",
        "/w/crates/inner/skyl-retry",
    ] {
        let moved = Package {
            folder: place.into(),
            ..package("skyl-retry", Vec::new())
        };
        assert_eq!(found(vec![moved]).len(), 1, "{place}");
    }
}

#[test]
fn a_path_outside_crates_is_refused() {
    for place in [
        "/elsewhere/log",
        "/w/vendor/log",
        "/w/crates/skyl/log",
        "/w/crates",
    ] {
        let outside = Dependency {
            name: "log".to_owned(),
            kind: Kind::Dev,
            path: Some(place.into()),
        };
        let problems = found(vec![package("skyl-retry", vec![outside])]);
        assert!(
            problems[0].contains("outside crates/"),
            "{place}: {problems:?}"
        );
    }
}

#[test]
fn lints_are_inherited_by_either_spelling() {
    assert!(inherits_lints(
        "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"
    ));
    assert!(inherits_lints("[lints]\n# all of them\nworkspace=true"));
    assert!(inherits_lints("lints.workspace = true\n[package]\n"));
}

#[test]
fn lints_of_ones_own_or_none_are_noticed() {
    assert!(!inherits_lints("[package]\nname = \"a\"\n"));
    assert!(!inherits_lints("[lints]\nworkspace = false\n"));
    assert!(!inherits_lints("[lints.rust]\nunsafe_code = \"allow\"\n"));
    assert!(!inherits_lints("[dependencies.skyl]\nworkspace = true\n"));
    assert!(!inherits_lints("# [lints]\n# workspace = true\n"));
}
