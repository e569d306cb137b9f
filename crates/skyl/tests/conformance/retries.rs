//! Retries before content: what is sent again, after which wait, and how it ends.

use std::time::Duration;

use skyl::{ErrorKind, Operation, RetryStop};

use crate::stage::{Case, MODES, Mode, Stage, defaults, echo, retries, script, secs};

/// Runs the script, which must end in the answer, and gives the statuses of its attempts.
async fn survived(stage: &Stage, steps: &str, mode: Mode) -> Vec<Option<u16>> {
    stage.clear();
    let answer = stage.try_ask(&script(steps, mode), mode, defaults()).await;
    let answer = answer.unwrap_or_else(|e| panic!("{} {mode:?} {steps}: {e}", stage.case));
    assert_eq!(answer.text(), echo(), "{} {mode:?} {steps}", stage.case);
    let ends = usize::from(mode == Mode::Stream);
    assert_eq!(stage.events.ends(), vec![true; ends], "{}", stage.case);
    stage.agreed(answer.attempts())
}

/// The wait before the one retry of a script.
async fn waited(stage: &Stage, steps: &str, mode: Mode) -> Duration {
    survived(stage, steps, mode).await;
    stage.events.all()[0].wait.unwrap()
}

pub(crate) async fn what_is_transient_is_retried_and_nothing_else(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            let statuses = survived(&stage, &format!("{status},ok"), mode).await;
            assert_eq!(statuses, [Some(status), Some(200)], "{}", case.name);
        }
        for status in [301, 400, 401, 402, 403, 404, 407, 413, 418, 422] {
            stage.clear();
            let asked = script(&format!("{status},ok"), mode);
            let error = stage.fail(&asked, mode, defaults()).await;
            let statuses = stage.agreed(error.attempts());
            assert_eq!(statuses, [Some(status)], "{} {mode:?}", case.name);
            assert!(!error.retryable(), "{}: {error}", case.name);
        }
    }
}

pub(crate) async fn the_servers_wait_is_waited(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        for (steps, wait) in [
            ("429(ra=7),ok", secs(7)),
            ("503(ra=7.5),ok", Duration::from_millis(7500)),
            ("429(ra-ms=7250),ok", Duration::from_millis(7250)),
        ] {
            let told = format!("{} {mode:?} {steps}", case.name);
            assert_eq!(waited(&stage, steps, mode).await, wait, "{told}");
            assert!(stage.clock.sleeps().contains(&wait), "{told}");
        }
        stage.set_date();
        let wait = waited(&stage, "429(ra-date=40),ok", mode).await;
        assert!(
            (secs(30)..=secs(41)).contains(&wait),
            "{} {wait:?}",
            case.name
        );
    }
}

pub(crate) async fn a_wait_that_is_unusable_leaves_the_own_backoff(case: &Case) {
    let stage = Stage::new(case).await;
    stage.set_date();
    for mode in MODES {
        for hint in ["ra-raw=soon", "ra-raw=-5", "ra=0", "ra-date=-3000"] {
            let wait = waited(&stage, &format!("429({hint}),ok"), mode).await;
            let told = format!("{} {mode:?} {hint}: {wait:?}", case.name);
            assert!(wait > Duration::ZERO && wait <= secs(2), "{told}");
        }
    }
}

pub(crate) async fn the_servers_word_is_obeyed(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        let statuses = survived(&stage, "302(should-retry=true),ok", mode).await;
        assert_eq!(statuses, [Some(302), Some(200)], "{}", case.name);
        // Neither a retry of what is never retried, nor against the server's word.
        for (steps, status) in [
            ("503(should-retry=false),ok", 503),
            ("429(should-retry=false;ra=1),ok", 429),
            ("400(should-retry=true),ok", 400),
        ] {
            stage.clear();
            let error = stage.fail(&script(steps, mode), mode, defaults()).await;
            assert!(!error.retryable(), "{} {steps}", case.name);
            let statuses = stage.agreed(error.attempts());
            assert_eq!(statuses, [Some(status)], "{} {steps}", case.name);
        }
    }
}

pub(crate) async fn every_way_to_lose_a_whole_answer_is_retried(case: &Case) {
    let stage = Stage::new(case).await;
    for (steps, status) in [
        ("reset,ok", None),
        ("close,ok", None),
        ("reset-mid,ok", Some(200)),
        ("close-mid,ok", Some(200)),
        ("stream-truncate(1),ok", Some(200)),
        ("stream-reset(2),ok", Some(200)),
        ("split(5)+close-mid,ok", Some(200)),
    ] {
        let statuses = survived(&stage, steps, Mode::Complete).await;
        let kind = stage.events.all()[0].kind;
        // Whether a body that broke off had a status is the wire's to say.
        assert_eq!(statuses, [status, Some(200)], "{} {steps}", case.name);
        assert_eq!(kind, Some(ErrorKind::Transport), "{} {steps}", case.name);
    }
}

pub(crate) async fn every_failed_start_of_a_stream_is_retried(case: &Case) {
    let stage = Stage::new(case).await;
    for (steps, status, kind) in [
        ("reset,ok", None, ErrorKind::Transport),
        ("close,ok", None, ErrorKind::Transport),
        ("stream-reset(0),ok", Some(200), ErrorKind::Transport),
        ("stream-error(0),ok", Some(200), ErrorKind::Server),
        ("first-error,ok", Some(200), ErrorKind::Server),
        ("split(1)+first-error,ok", Some(200), ErrorKind::Server),
        ("comments(1)+first-error,ok", Some(200), ErrorKind::Server),
    ] {
        let statuses = survived(&stage, steps, Mode::Stream).await;
        let first = &stage.events.all()[0];
        let told = format!("{} {steps}: {first:?}", case.name);
        assert_eq!(statuses, [status, Some(200)], "{told}");
        assert_eq!(first.kind, Some(kind), "{told}");
        assert_eq!(first.operation, Operation::Stream, "{told}");
    }
    // Nothing but the opening frames: truncated, or an empty answer where there were none.
    survived(&stage, "stream-truncate(0),ok", Mode::Stream).await;
    let kind = stage.events.all()[0].kind;
    assert!(
        matches!(kind, Some(ErrorKind::Truncated | ErrorKind::Server)),
        "{}: {kind:?}",
        case.name
    );
}

pub(crate) async fn an_error_inside_a_200_is_retried_before_content(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        let statuses = survived(&stage, "first-error*2,ok", mode).await;
        assert_eq!(statuses, [Some(200); 3], "{} {mode:?}", case.name);

        stage.clear();
        let asked = script("first-error", mode);
        let error = stage.fail(&asked, mode, retries(1)).await;
        let told = format!("{} {mode:?}: {error}", case.name);
        assert_eq!(error.kind(), ErrorKind::Server, "{told}");
        assert!(error.is_overloaded() && !error.delivered(), "{told}");
        assert_eq!(error.http_status(), Some(200), "{told}");
        assert_eq!(stage.agreed(error.attempts()).len(), 2, "{told}");
    }
}

pub(crate) async fn giving_up_tells_every_attempt(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        stage.clear();
        let asked = script("503,reset,429(ra=3)", mode);
        let error = stage.fail(&asked, mode, defaults()).await;
        let prefix = format!(
            "skyl: giving up after 4 attempts: skyl: {}: rate limited (http 429)",
            stage.client.provider()
        );
        assert!(error.to_string().starts_with(&prefix), "{error}");
        assert_eq!(error.retry_stop(), Some(RetryStop::AttemptsExhausted));
        assert_eq!(error.retry_after(), Some(secs(3)), "{}", case.name);
        let statuses = [Some(503), None, Some(429), Some(429)];
        assert_eq!(stage.agreed(error.attempts()), statuses, "{}", case.name);
        // No stream began, so none ends.
        assert!(stage.events.ends().is_empty(), "{}", case.name);
        if case.numbers_requests {
            let seq = stage.sandbox.journal().last().unwrap().seq;
            let id = error.request_id().unwrap();
            assert!(id.ends_with(&format!("_{seq}")), "{}: {id}", case.name);
        }
    }
}

pub(crate) async fn a_stall_before_the_answer_is_a_timeout_and_retried(case: &Case) {
    for (mode, steps) in [
        (Mode::Complete, "stall(600000),ok"),
        (Mode::Complete, "stall-mid(600000),ok"),
        (Mode::Stream, "stall(600000),ok"),
        (Mode::Stream, "stream-stall(0;600000),ok"),
    ] {
        let stage = Stage::new(case).await;
        let asked = script(steps, mode);
        let moving = async {
            stage.sandbox.received(1).await;
            stage.clock.advance(secs(60));
            std::future::pending::<()>().await;
        };
        let answer = tokio::select! {
            answer = stage.try_ask(&asked, mode, defaults().attempt_timeout(secs(60))) => answer,
            () = moving => unreachable!(),
        };
        let told = format!("{} {mode:?} {steps}", case.name);
        let answer = answer.unwrap_or_else(|error| panic!("{told}: {error}"));
        assert_eq!(answer.text(), echo(), "{told}");
        let first = answer.attempts()[0];
        assert_eq!(first.kind, Some(ErrorKind::Timeout), "{told}");
        assert_eq!(answer.attempts().len(), 2, "{told}");
        let connections: Vec<_> = stage
            .sandbox
            .journal()
            .iter()
            .map(|entry| entry.connection)
            .collect();
        assert_ne!(connections[0], connections[1], "{told}");
    }
}
