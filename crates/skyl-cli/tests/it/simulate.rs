//! `skyl simulate`.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Ran, Scratch, skyl};

const HEADER: &str = "scenario,policy,clients,calls_mean,calls_sd,time_ms_mean,time_ms_sd,\
calls_per_success,p50_ms,p95_ms,p99_ms,peak_over_mean,goodput,recovery_ms";

#[track_caller]
fn refused<const N: usize>(args: [&str; N]) -> String {
    let ran = skyl(["simulate"]).args(args).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    ran.stderr
}

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{}-{name}", std::process::id()));
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// What lies in it, by name.
    fn files(&self) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let text = std::fs::read_to_string(entry.path()).unwrap();
                (entry.file_name().into_string().unwrap(), text)
            })
            .collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0).is_err();
    }
}

fn csv(ran: &Ran) -> Vec<Vec<String>> {
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut lines = ran.stdout.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let fields = |line: &str| line.split(',').map(str::to_owned).collect();
    lines.map(fields).collect()
}

#[test]
fn a_table_for_people() {
    let ran = skyl(["simulate", "metastable", "--policy", "exponential"])
        .args(["--policy", "fleet"])
        .run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn one_row_per_policy_and_fleet_size() {
    let ran = skyl(["simulate", "shared-retry-after", "--csv", "-"])
        .args(["--policy", "fleet", "--policy", "official-sdk"])
        .args(["--clients", "20,100"])
        .run();
    let rows = csv(&ran);
    let keys: Vec<String> = rows.iter().map(|row| row[..3].join(" ")).collect();
    assert_eq!(
        keys,
        [
            "shared-retry-after fleet 20",
            "shared-retry-after official-sdk 20",
            "shared-retry-after fleet 100",
            "shared-retry-after official-sdk 100",
        ]
    );
    // Without an outage there is nothing to recover from.
    assert!(rows.iter().all(|row| row[13].is_empty()), "{rows:?}");
}

#[test]
fn what_does_not_come_back_says_never() {
    let ran = skyl(["simulate", "metastable", "--csv", "-"])
        .args(["--policy", "exponential", "--policy", "fleet"])
        .run();
    let rows = csv(&ran);
    assert_eq!(rows[0][13], "never");
    assert!(rows[1][13].parse::<f64>().unwrap() > 0.0, "{rows:?}");
}

#[test]
fn the_same_seed_writes_the_same_bytes_and_another_does_not() {
    let (one, other) = (Folder::new("one"), Folder::new("other"));
    let written = |folder: &Folder, seed: &str| {
        let table = format!("{}/all.csv", folder.path());
        let page = format!("{}/all.html", folder.path());
        let ran = skyl(["simulate", "blip", "shared-retry-after", "--seed", seed])
            .args(["--clients", "60", "--svg", folder.path()])
            .args(["--csv", &table, "--html", &page])
            .run();
        assert_eq!(ran.code, 0, "{ran:?}");
        folder.files()
    };
    let first = written(&one, "7");
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "all.csv",
            "all.html",
            "blip-completion.svg",
            "blip-requests.svg",
            "shared-retry-after-completion.svg",
            "shared-retry-after-requests.svg",
        ]
    );
    assert_eq!(first, written(&other, "7"));
    assert_ne!(first, written(&other, "8"));
}

#[test]
fn one_object_with_the_rows_of_the_csv() {
    let object = skyl(["simulate", "budget", "--json", "--clients", "2000"])
        .args(["--policy", "token-bucket"])
        .run()
        .object();
    let rows = object["rows"].as_array().unwrap();
    assert_eq!((&object["seed"], rows.len()), (&Value::from(1), 9));
    let last = &rows[8];
    assert_eq!(
        (&last["scenario"], &last["failure_rate"]),
        (&"budget p=1".into(), &1.into())
    );
    assert_eq!(
        (&last["calls_mean"], &last["goodput"]),
        (&2000.into(), &0.into())
    );
    assert_eq!(last["calls_per_success"], Value::Null);
    assert_eq!(last["ends"]["stopped"]["retry_budget"], 2000, "{last}");
    assert_eq!(rows[0]["recovery_ms"], Value::Null);
}

#[test]
fn scenarios_and_policies_come_from_files_too() {
    let scenario = Scratch::new(
        "monday.toml",
        b"policies = [\"chat\"]\n[fleet]\nclients = 5\n[server]\nfailure_rate = 1\n",
    );
    let policy = Scratch::new("patient.toml", b"max_retries = 6\n");
    let ran = skyl(["simulate", scenario.path(), "--csv", "-"])
        .args(["--policy", "none", "--policy", policy.path()])
        .run();
    let rows = csv(&ran);
    assert!(
        rows[1][0].ends_with("monday") && rows[1][1].ends_with("patient"),
        "{rows:?}"
    );
    assert_eq!((rows[0][3].as_str(), rows[1][3].as_str()), ("20", "35"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (args, expected) in [
        (
            ["blop", "--seed", "1"],
            "blop: no file, and no scenario of this name; there are blip,",
        ),
        (
            ["blip", "--policy", "best"],
            "--policy best: no file, and no policy of this name; there are chat,",
        ),
        (["blip", "--clients", "0"], "--clients"),
        (
            ["blip", "--clients", "60000000"],
            "a fleet of 60000000 cannot be run",
        ),
        (["blip", "--seeds", "0"], "--seeds"),
        (
            ["blip", "blip", "--seed=1"],
            "two scenarios are called blip",
        ),
        (
            ["blip", "--policy=chat", "--policy=chat"],
            "two policies are called chat",
        ),
    ] {
        let stderr = refused(args);
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
    let file = Scratch::new("bad.toml", b"[fleet]\nclients = 1\ncleints = 2\n");
    let stderr = refused([file.path()]);
    assert!(
        stderr.contains("bad.toml: line 3: unknown key `fleet.cleints`"),
        "{stderr}"
    );
    let file = Scratch::new("bad.toml", b"\nmax_retries = -1\n");
    let stderr = refused(["blip", "--policy", file.path()]);
    assert!(
        stderr.contains("bad.toml: line 2: max_retries = -1"),
        "{stderr}"
    );
}

#[test]
fn standard_output_is_for_one_of_the_two() {
    let ran = skyl(["simulate", "blip", "--json", "--csv", "-"]).run();
    assert_eq!(ran.code, 1);
    assert_eq!(ran.object()["error"]["kind"], "usage");
}

#[test]
fn a_file_that_cannot_be_written_is_no_success() {
    let stderr = refused(["blip", "--csv", "/no/such/folder/a.csv"]);
    assert!(
        stderr.contains("cannot write /no/such/folder/a.csv"),
        "{stderr}"
    );
}

// Linux shows the threads of another process.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_a_long_run() {
    // Minutes of work, of which it sees a moment; the file that follows is never written.
    let folder = Folder::new("interrupted");
    std::fs::create_dir(&folder.0).unwrap();
    let table = format!("{}/a.csv", folder.path());
    let running = skyl(["simulate", "blip", "metastable", "--clients", "200000"])
        .args(["--seeds", "1000", "--csv", &table])
        .start();
    // Only a program that listens already can be interrupted; its own threads say so.
    let tasks = format!("/proc/{}/task", running.id());
    while std::fs::read_dir(&tasks).is_ok_and(|tasks| tasks.count() < 3) {
        std::thread::yield_now();
    }
    let ran = running.signal("INT");
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(folder.files().is_empty());
}

#[test]
fn the_picture_of_the_readme_is_the_programs_own() {
    let folder = Folder::new("herd");
    let ran = skyl(["simulate", "shared-retry-after"])
        .args(["--policy", "official-sdk", "--policy", "fleet"])
        .args(["--svg", folder.path()])
        .run();
    assert_eq!(ran.code, 0, "{ran:?}");
    let files = folder.files();
    let drawn = files
        .iter()
        .find(|(name, _)| name == "shared-retry-after-requests.svg");
    let committed = std::fs::read_to_string(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/herd.svg"),
    );
    assert_eq!(drawn.unwrap().1, committed.unwrap());
}
