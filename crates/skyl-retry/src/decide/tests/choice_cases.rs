use super::*;
use crate::failure::FailureClass::*;

const CLASSES: [FailureClass; 10] = [
    Throttled,
    Server,
    Permanent,
    Connect,
    ConnectionLost,
    Timeout,
    Certificate,
    Truncated,
    Decode,
    Unclassified,
];

fn retried(policy: &RetryPolicy, failure: Failure) -> bool {
    let choice = choose(policy, &failure);
    // What `choose` says is what `decide` does while nothing else stands in the way.
    let verdict = judge(policy, &failure, &Facts::new(0));
    assert_eq!(
        choice == Choice::Retry,
        verdict.retry_after().is_some(),
        "{failure:?}"
    );
    choice == Choice::Retry
}

#[track_caller]
fn classes_retried(
    policy: &RetryPolicy,
    change: impl Fn(Failure) -> Failure,
    expected: &[FailureClass],
) {
    let retried: Vec<_> = CLASSES
        .into_iter()
        .filter(|&class| retried(policy, change(Failure::new(class))))
        .collect();
    assert_eq!(retried, expected);
}

#[test]
fn by_kind_what_waiting_heals_is_retried() {
    let healed = [
        Throttled,
        Server,
        Connect,
        ConnectionLost,
        Timeout,
        Truncated,
    ];
    classes_retried(&RetryPolicy::chat(), |f| f, &healed);
    // The kind decides, whatever the status says.
    for status in [200, 302, 401, 404, 422, 429, 503] {
        classes_retried(&RetryPolicy::chat(), |f| f.with_status(status), &healed);
    }
}

#[test]
fn by_status_the_set_decides_whatever_the_kind() {
    let policy = RetryPolicy::system_one();
    for class in CLASSES.into_iter().filter(|&class| class != Certificate) {
        for status in [408, 429, 500, 503, 529, 599] {
            assert!(
                retried(&policy, Failure::new(class).with_status(status)),
                "{class} {status}"
            );
        }
        for status in [302, 400, 401, 403, 404, 409, 422, 425, 600] {
            assert!(
                !retried(&policy, Failure::new(class).with_status(status)),
                "{class} {status}"
            );
        }
    }
}

#[test]
fn by_status_a_failure_without_a_verdict_in_it_goes_by_kind() {
    let policy = RetryPolicy::system_one();
    let by_kind = [
        Throttled,
        Server,
        Connect,
        ConnectionLost,
        Timeout,
        Truncated,
    ];
    classes_retried(&policy, |f| f, &by_kind);
    // Lost while reading a 2xx body is a connection error; a whole body that does not decode is final.
    classes_retried(&policy, |f| f.with_status(200), &by_kind);
}

#[test]
fn by_status_the_set_can_be_chosen() {
    let strict = built(
        RetryPolicy::system_one()
            .to_builder()
            .retry_statuses("429, 503, 529".parse().unwrap()),
    );
    assert!(!retried(&strict, Failure::new(Server).with_status(500)));
    assert!(retried(&strict, Failure::new(Server).with_status(503)));
    let wide = built(
        RetryPolicy::system_one()
            .to_builder()
            .retry_statuses("404".parse().unwrap()),
    );
    assert!(retried(&wide, Failure::new(Permanent).with_status(404)));
    assert!(!retried(&wide, Failure::new(Throttled).with_status(429)));
}

#[test]
fn each_switch_turns_off_its_own_failures() {
    for preset in [RetryPolicy::chat(), RetryPolicy::system_one()] {
        let no_conn = built(preset.to_builder().retry_on_conn_err(false));
        classes_retried(&no_conn, |f| f, &[Throttled, Server, Timeout]);
        let no_timeout = built(preset.to_builder().retry_on_timeout(false));
        classes_retried(
            &no_timeout,
            |f| f,
            &[Throttled, Server, Connect, ConnectionLost, Truncated],
        );
    }
}

#[test]
fn with_both_switches_off_nothing_unanswered_is_sent_twice() {
    let builder = RetryPolicy::system_one()
        .to_builder()
        .retry_on_conn_err(false)
        .retry_on_timeout(false);
    let strict = built(builder.clone());
    for sent in [Sent::No, Sent::Maybe] {
        classes_retried(&strict, |f| f.with_sent(sent), &[Throttled, Server]);
    }
    // Answered statuses still follow their set, also where the body was lost.
    assert!(retried(
        &strict,
        Failure::new(ConnectionLost).with_status(503)
    ));
    assert!(!retried(
        &strict,
        Failure::new(ConnectionLost).with_status(200)
    ));

    let unsent = built(builder.retry_unsent(true));
    let provable = [
        Throttled,
        Server,
        Connect,
        ConnectionLost,
        Timeout,
        Truncated,
    ];
    classes_retried(&unsent, |f| f.with_sent(Sent::No), &provable);
    classes_retried(&unsent, |f| f.with_sent(Sent::Maybe), &[Throttled, Server]);
}

#[test]
fn the_servers_no_stops_everything_that_would_be_retried() {
    for class in CLASSES.into_iter().filter(|&class| class != Certificate) {
        let failure = Failure::new(class).with_server_word(false);
        stops(
            &RetryPolicy::chat(),
            &failure,
            &Facts::new(0),
            StopReason::ServerSaidNo,
        );
    }
}

#[test]
fn the_servers_yes_adds_only_answers_nobody_could_read() {
    let policy = RetryPolicy::chat();
    let yes = |f: Failure| f.with_server_word(true);
    let healed = [
        Throttled,
        Server,
        Connect,
        ConnectionLost,
        Timeout,
        Truncated,
        Decode,
    ];
    classes_retried(&policy, yes, &healed);
    assert!(retried(
        &policy,
        yes(Failure::new(Unclassified).with_status(302))
    ));
    for status in [400, 401, 429] {
        assert!(
            !retried(&policy, yes(Failure::new(Permanent).with_status(status))),
            "{status}"
        );
    }
}

#[test]
fn the_servers_word_is_not_read_where_the_policy_does_not_honor_it() {
    let policy = RetryPolicy::system_one();
    assert!(retried(&policy, server().with_server_word(false)));
    assert!(!retried(
        &policy,
        Failure::new(Unclassified)
            .with_status(302)
            .with_server_word(true)
    ));
}

#[test]
fn the_callers_choice_replaces_the_servers_word_and_the_table() {
    let asked = |failure: Failure, choice| {
        let mut rng = Rng::from_seed(1);
        decide(
            &RetryPolicy::chat(),
            &failure,
            &Facts::new(0),
            Some(choice),
            &mut rng,
            || true,
        )
        .stop()
    };
    let rejected = Failure::new(Permanent).with_status(422);
    assert_eq!(asked(rejected, Choice::Retry), None);
    assert_eq!(asked(server().with_server_word(false), Choice::Retry), None);
    assert_eq!(
        asked(server(), Choice::Stop),
        Some(StopReason::NotRetryable)
    );
    assert_eq!(
        asked(server().with_server_word(false), Choice::Stop),
        Some(StopReason::NotRetryable)
    );
}

#[test]
fn the_callers_choice_replaces_nothing_else() {
    let wishes = |failure: &Failure, facts: &Facts| {
        let mut rng = Rng::from_seed(1);
        decide(
            &RetryPolicy::chat(),
            failure,
            facts,
            Some(Choice::Retry),
            &mut rng,
            || true,
        )
        .stop()
    };
    let fresh = Facts::new(0);
    assert_eq!(
        wishes(&server(), &fresh.with_cancelled(true)),
        Some(StopReason::Cancelled)
    );
    assert_eq!(
        wishes(&server().with_delivered(true), &fresh),
        Some(StopReason::ContentDelivered)
    );
    assert_eq!(
        wishes(&Failure::new(Certificate), &fresh),
        Some(StopReason::NotRetryable)
    );
    assert_eq!(
        wishes(&server(), &Facts::new(3)),
        Some(StopReason::AttemptsExhausted)
    );
    assert_eq!(
        wishes(&server(), &fresh.with_remaining(Duration::ZERO)),
        Some(StopReason::Deadline)
    );
}

#[test]
fn certificates_are_never_retried() {
    for policy in [
        RetryPolicy::chat(),
        RetryPolicy::system_one(),
        RetryPolicy::fleet(),
    ] {
        for status in [None, Some(429), Some(503)] {
            for word in [None, Some(true)] {
                let failure = Failure::new(Certificate)
                    .with_status(status)
                    .with_server_word(word)
                    .with_sent(Sent::No);
                assert!(!retried(&policy, failure));
                stops(&policy, &failure, &Facts::new(0), StopReason::NotRetryable);
            }
        }
    }
}

#[test]
fn attempts_and_delivery_do_not_change_the_choice() {
    let delivered = server().with_delivered(true);
    assert_eq!(choose(&RetryPolicy::chat(), &delivered), Choice::Retry);
    stops(
        &RetryPolicy::chat(),
        &delivered,
        &Facts::new(0),
        StopReason::ContentDelivered,
    );
}
