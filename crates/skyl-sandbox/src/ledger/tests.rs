use super::*;

fn ledger(keep: usize) -> Ledger {
    Ledger::new(NonZeroUsize::new(keep).unwrap(), None)
}

fn request(ledger: &Ledger, name: &str, script: &Script) -> usize {
    ledger.record(&Bytes::from_static(b"body"), |place| {
        let (step, _) = place.step_of(script, name);
        let entry = JournalEntry {
            seq: place.seq,
            time_ms: 0,
            connection: 1,
            method: "POST".into(),
            path: "/".into(),
            mount: "openai",
            model: Some(name.into()),
            step: Some(step),
            status: Some(200),
            body_sha256: String::new(),
            body_bytes: 4,
            headers: Vec::new(),
        };
        (entry, step)
    })
}

#[test]
fn each_full_name_is_a_run_of_its_own() {
    let (ledger, script) = (ledger(10), "429,ok".parse().unwrap());
    assert_eq!(request(&ledger, "a", &script), 0);
    assert_eq!(request(&ledger, "b", &script), 0);
    assert_eq!(request(&ledger, "a", &script), 1);
    ledger.clear_scripts();
    assert_eq!(request(&ledger, "a", &script), 0);
}

#[test]
fn the_oldest_entries_and_runs_are_dropped_and_counted() {
    let (ledger, script) = (ledger(2), "429,ok".parse().unwrap());
    for name in ["a", "b", "c"] {
        assert_eq!(request(&ledger, name, &script), 0);
    }
    let seqs: Vec<_> = ledger
        .entries(0, usize::MAX)
        .iter()
        .map(|entry| entry.seq)
        .collect();
    assert_eq!(seqs, [2, 3]);
    assert_eq!(request(&ledger, "a", &script), 0, "its run was forgotten");
    let mut stats = Stats::default();
    ledger.count(&mut stats);
    assert_eq!(
        (stats.requests, stats.journal_entries, stats.journal_dropped),
        (4, 2, 2)
    );
    assert_eq!((stats.scripts, stats.scripts_dropped), (2, 2));
}

#[test]
fn a_page_begins_after_its_mark_and_sequence_numbers_go_on() {
    let (ledger, script) = (ledger(10), "ok".parse().unwrap());
    for _ in 0..4 {
        request(&ledger, "a", &script);
    }
    let page = |after, limit| {
        ledger
            .entries(after, limit)
            .iter()
            .map(|entry| entry.seq)
            .collect::<Vec<_>>()
    };
    assert_eq!(page(0, usize::MAX), [1, 2, 3, 4]);
    assert_eq!(page(2, usize::MAX), [3, 4]);
    assert_eq!(page(1, 2), [2, 3]);
    assert_eq!(page(4, 9), [0_u64; 0]);
    ledger.clear_journal();
    request(&ledger, "a", &script);
    assert_eq!(page(0, usize::MAX), [5]);
}

#[test]
fn bodies_are_kept_within_their_bounds() {
    let mut bodies = Bodies::default();
    for seq in 1..=2000 {
        bodies.push(seq, Bytes::from_static(b"x"));
    }
    assert_eq!(bodies.find(2000), Some(Bytes::from_static(b"x")));
    assert_eq!(bodies.find(2000 - 1024), None);
    let big = Bytes::from(vec![0; MAX_BODY_BYTES / 2 + 1]);
    bodies.push(2001, big.clone());
    bodies.push(2002, big);
    assert_eq!(bodies.find(2001), None);
    assert!(bodies.find(2002).is_some());
}
