use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_pause_holds_its_own_host_and_model_until_it_passes() {
    let pause = SharedPause::new();
    assert_eq!(pause.remaining("a", "m", Duration::ZERO), None);
    pause.note("a", "m", 5 * SECOND, 10 * SECOND);
    assert_eq!(pause.remaining("a", "m", 5 * SECOND), Some(10 * SECOND));
    assert_eq!(pause.remaining("a", "m", 14 * SECOND), Some(SECOND));
    for now in [15 * SECOND, 16 * SECOND] {
        assert_eq!(pause.remaining("a", "m", now), None);
    }
    assert_eq!(pause.remaining("a", "other", 6 * SECOND), None);
    assert_eq!(pause.remaining("other", "m", 6 * SECOND), None);
    // It passes at its own end, also while another one still stands.
    pause.note("a", "other", 5 * SECOND, 60 * SECOND);
    assert_eq!(pause.remaining("a", "m", 15 * SECOND), None);
}

#[test]
fn the_later_end_stands() {
    let pause = SharedPause::new();
    pause.note("a", "m", Duration::ZERO, 10 * SECOND);
    pause.note("a", "m", SECOND, 2 * SECOND);
    assert_eq!(pause.remaining("a", "m", SECOND), Some(9 * SECOND));
    pause.note("a", "m", SECOND, 20 * SECOND);
    assert_eq!(pause.remaining("a", "m", SECOND), Some(20 * SECOND));
}

#[test]
fn a_wait_of_zero_is_no_pause() {
    let pause = SharedPause::new();
    pause.note("a", "m", SECOND, Duration::ZERO);
    assert_eq!(pause.remaining("a", "m", Duration::ZERO), None);
    assert_eq!(pause.lock().count, 0);
}

#[test]
fn a_pause_without_end_does_not_overflow() {
    let pause = SharedPause::new();
    pause.note("a", "m", SECOND, Duration::MAX);
    assert_eq!(
        pause.remaining("a", "m", SECOND),
        Duration::MAX.checked_sub(SECOND)
    );
    let spread = Spread {
        of_hint: 1.0,
        growth: 1.0,
        max: Duration::MAX,
    };
    assert!(
        pause
            .wait("a", "m", SECOND, Some(spread), &mut Rng::from_seed(1))
            .is_some()
    );
}

#[test]
fn each_waiter_leaves_at_a_moment_of_its_own() {
    let pause = SharedPause::new();
    pause.note("a", "m", Duration::ZERO, 8 * SECOND);
    let mut rng = Rng::from_seed(1);
    let mut waits = |spread| -> Vec<_> {
        (0..1000)
            .map(|_| {
                pause
                    .wait("a", "m", Duration::ZERO, spread, &mut rng)
                    .unwrap()
            })
            .collect()
    };
    // By default up to a quarter of what is left on top, never less than what is left.
    let default = waits(None);
    assert!(
        default
            .iter()
            .all(|&wait| (8 * SECOND..=10 * SECOND).contains(&wait))
    );
    assert!(default.iter().max().unwrap() > &(9 * SECOND));
    // The policy's spread where it has one; none at all where it says so.
    let wide = waits(Some(Spread {
        of_hint: 1.0,
        growth: 1.0,
        max: 30 * SECOND,
    }));
    assert!(wide.iter().max().unwrap() > &(15 * SECOND));
    let none = waits(Some(Spread {
        of_hint: 0.0,
        growth: 1.0,
        max: SECOND,
    }));
    assert!(none.iter().all(|&wait| wait == 8 * SECOND));
    // Nobody waits where there is no pause.
    assert_eq!(pause.wait("a", "m", 8 * SECOND, None, &mut rng), None);
}

#[test]
fn memory_is_bounded_and_passed_pauses_make_room() {
    let pause = SharedPause::new();
    for n in 0..MAX_PAUSES + 100 {
        pause.note("host", &n.to_string(), Duration::ZERO, SECOND);
    }
    assert_eq!(pause.lock().count, MAX_PAUSES);
    assert_eq!(pause.remaining("host", "5000", Duration::ZERO), None);
    // Those that were noted can still be lengthened.
    pause.note("host", "7", Duration::ZERO, 2 * SECOND);
    assert_eq!(pause.remaining("host", "7", SECOND), Some(SECOND));
    // Once they have passed, which they have at their very end, new ones are noted again.
    pause.note("other", "m", 2 * SECOND, SECOND);
    assert_eq!(pause.remaining("other", "m", 2 * SECOND), Some(SECOND));
    assert_eq!(pause.lock().count, 1);
}
