use std::time::Duration;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[track_caller]
fn refused(builder: RetryPolicyBuilder, key: &str) -> InvalidPolicy {
    let invalid = builder.build().unwrap_err();
    assert_eq!(invalid.key(), key);
    let text = invalid.to_string();
    let parts = [key, " = ", invalid.value(), ": ", invalid.rule()];
    assert_eq!(text, parts.concat());
    assert!(!invalid.value().is_empty() && !invalid.rule().is_empty());
    invalid
}

#[test]
fn the_chat_preset_is_what_the_seed_says() {
    let policy = RetryPolicy::chat();
    let ceilings: Vec<_> = (0..4)
        .map(|retry| policy.ceiling(retry).as_millis())
        .collect();
    assert_eq!(ceilings, [500, 1000, 2000, 4000]);
    assert_eq!(policy.ceiling(9), 30 * SECOND);
    assert_eq!(policy.max_retries(), 3);
    assert_eq!(policy.max_retry_after(), 300 * SECOND);
    assert_eq!(policy.budget(), None);
    assert_eq!(policy, RetryPolicy::default());
    assert_eq!(RetryPolicy::builder().build().unwrap(), policy);
}

#[test]
fn the_system_one_preset_is_what_the_seed_says() {
    let policy = RetryPolicy::system_one();
    assert_eq!(policy.max_retries(), 2);
    assert_eq!(policy.ceiling(20), 5 * SECOND);
    assert_eq!(policy.jitter(), Jitter::Shave(0.25));
    assert_eq!(policy.budget(), Some(30 * SECOND));
    assert_eq!(policy.zero_hint(), ZeroHint::Obey);
    assert_eq!(policy.retry_by(), RetryBy::Status);
    assert!(!policy.honor_should_retry());
    assert!(policy.honor_retry_after() && policy.retry_on_conn_err() && policy.retry_on_timeout());
    assert!(!policy.retry_unsent());
    assert_eq!(policy.refuse_422(), Ok(()));
}

#[test]
fn the_fleet_preset_is_chat_with_budget_and_spread() {
    let fleet = RetryPolicy::fleet();
    assert!(fleet.spread().is_some() && fleet.retry_budget().is_some());
    assert_eq!(fleet.retry_budget().and_then(|budget| budget.initial), None);
    let plain = fleet
        .to_builder()
        .spread(None)
        .retry_budget(None)
        .build()
        .unwrap();
    assert_eq!(plain, RetryPolicy::chat());
}

#[test]
fn every_figure_comes_back_as_it_was_set() {
    let spread = Spread {
        of_hint: 0.5,
        growth: 2.0,
        max: SECOND,
    };
    let budget = RetryBudgetPolicy {
        ratio: 0.2,
        reserve_per_second: 1.0,
        capacity: 5.0,
        initial: Some(1.0),
    };
    let statuses: StatusSet = "503".parse().unwrap();
    let policy = RetryPolicy::builder()
        .max_retries(u32::MAX)
        .initial_delay(2 * SECOND)
        .max_delay(Duration::MAX)
        .jitter(Jitter::Equal)
        .honor_retry_after(false)
        .max_retry_after(3 * SECOND)
        .over_cap(OverCap::GiveUp)
        .zero_hint(ZeroHint::Obey)
        .honor_should_retry(false)
        .spread(spread)
        .budget(4 * SECOND)
        .retry_by(RetryBy::Status)
        .retry_statuses(statuses)
        .retry_on_conn_err(false)
        .retry_on_timeout(false)
        .retry_unsent(true)
        .retry_budget(budget)
        .build()
        .unwrap();
    assert_eq!(policy.max_retries(), u32::MAX);
    assert_eq!(
        (policy.initial_delay(), policy.max_delay()),
        (2 * SECOND, Duration::MAX)
    );
    assert_eq!(policy.jitter(), Jitter::Equal);
    assert_eq!(
        (policy.honor_retry_after(), policy.max_retry_after()),
        (false, 3 * SECOND)
    );
    assert_eq!(
        (policy.over_cap(), policy.zero_hint()),
        (OverCap::GiveUp, ZeroHint::Obey)
    );
    assert!(!policy.honor_should_retry());
    assert_eq!(policy.spread(), Some(spread));
    assert_eq!(policy.budget(), Some(4 * SECOND));
    assert_eq!(
        (policy.retry_by(), policy.retry_statuses()),
        (RetryBy::Status, statuses)
    );
    assert!(!policy.retry_on_conn_err() && !policy.retry_on_timeout() && policy.retry_unsent());
    assert_eq!(policy.retry_budget(), Some(budget));
    assert_eq!(policy.to_builder().build().unwrap(), policy);
}

#[test]
fn a_cap_below_its_floor_is_refused() {
    let builder = RetryPolicy::builder()
        .initial_delay(10 * SECOND)
        .max_delay(9 * SECOND);
    let invalid = refused(builder, "max_delay");
    assert_eq!(
        invalid.to_string(),
        "max_delay = 9s: must not be below initial_delay (10s)"
    );
    let equal = RetryPolicy::builder()
        .initial_delay(10 * SECOND)
        .max_delay(10 * SECOND);
    assert!(equal.build().is_ok());
}

#[test]
fn a_retry_after_cap_of_zero_is_refused() {
    refused(
        RetryPolicy::builder().max_retry_after(Duration::ZERO),
        "max_retry_after",
    );
    assert!(
        RetryPolicy::builder()
            .max_retry_after(Duration::from_nanos(1))
            .build()
            .is_ok()
    );
}

#[test]
fn shaved_fractions_are_from_zero_to_one() {
    for bad in [f64::NAN, -0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY] {
        refused(RetryPolicy::builder().jitter(Jitter::Shave(bad)), "jitter");
    }
    for good in [0.0, 0.25, 1.0] {
        assert!(
            RetryPolicy::builder()
                .jitter(Jitter::Shave(good))
                .build()
                .is_ok()
        );
    }
}

#[test]
fn spreads_are_finite_and_do_not_shrink() {
    let with = |of_hint, growth| {
        RetryPolicy::builder().spread(Spread {
            of_hint,
            growth,
            max: SECOND,
        })
    };
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        refused(with(bad, 1.0), "spread.of_hint");
        refused(with(1.0, bad), "spread.growth");
    }
    refused(with(1.0, 0.5), "spread.growth");
    assert!(with(0.0, 1.0).build().is_ok());
    assert!(with(f64::MAX, f64::MAX).build().is_ok());
}

#[test]
fn retry_budgets_stay_in_their_ranges() {
    let with = |ratio, reserve_per_second, capacity, initial| {
        RetryPolicy::builder().retry_budget(RetryBudgetPolicy {
            ratio,
            reserve_per_second,
            capacity,
            initial,
        })
    };
    for bad in [f64::NAN, -0.1, f64::INFINITY, 1001.0] {
        refused(with(bad, 0.1, 10.0, None), "retry_budget.ratio");
        refused(
            with(0.1, bad, 10.0, None),
            "retry_budget.reserve_per_second",
        );
    }
    for bad in [f64::NAN, 0.9, 1e10, f64::INFINITY] {
        refused(with(0.1, 0.1, bad, None), "retry_budget.capacity");
    }
    for bad in [f64::NAN, -0.1, 10.5] {
        refused(with(0.1, 0.1, 10.0, Some(bad)), "retry_budget.initial");
    }
    assert!(with(0.0, 0.0, 1.0, Some(0.0)).build().is_ok());
    assert!(with(1000.0, 1000.0, 1e9, Some(1e9)).build().is_ok());
}

#[test]
fn a_policy_whose_wait_cannot_vary_is_named() {
    let check = |builder: RetryPolicyBuilder| {
        builder
            .build()
            .unwrap()
            .wait_can_vary()
            .map_err(|e| e.key())
    };
    let chat = RetryPolicy::builder;
    assert_eq!(check(chat().jitter(Jitter::Shave(0.0))), Err("jitter"));
    assert_eq!(
        check(chat().initial_delay(Duration::ZERO)),
        Err("initial_delay")
    );
    let fixed = chat()
        .jitter(Jitter::Decorrelated)
        .initial_delay(SECOND)
        .max_delay(SECOND);
    assert_eq!(check(fixed.clone()), Err("max_delay"));
    // A fraction that shaves less than a nanosecond is a fixed schedule in disguise.
    assert_eq!(check(chat().jitter(Jitter::Shave(1e-10))), Err("jitter"));

    assert_eq!(check(chat()), Ok(()));
    assert_eq!(check(chat().jitter(Jitter::Shave(0.25))), Ok(()));
    assert_eq!(
        check(fixed.clone().max_delay(SECOND + Duration::from_nanos(1))),
        Ok(())
    );
    assert_eq!(check(fixed.jitter(Jitter::Full)), Ok(()));
    assert_eq!(
        check(
            chat()
                .jitter(Jitter::Equal)
                .initial_delay(Duration::from_nanos(1))
        ),
        Ok(())
    );
    // Without retries there is no wait.
    assert_eq!(
        check(chat().jitter(Jitter::Shave(0.0)).max_retries(0)),
        Ok(())
    );
    assert_eq!(
        check(chat().initial_delay(Duration::ZERO).max_retries(0)),
        Ok(())
    );
}

#[test]
fn system_one_takes_the_whole_documented_range_of_jitter() {
    for fraction in [0.0, 1.0] {
        let policy = RetryPolicy::system_one()
            .to_builder()
            .jitter(Jitter::Shave(fraction));
        assert!(policy.build().is_ok());
    }
}

#[test]
fn client_limits_are_named_one_by_one() {
    let week = Duration::from_secs(604_800);
    let over = week + Duration::from_nanos(1);
    let check = |builder: RetryPolicyBuilder| {
        builder
            .build()
            .unwrap()
            .check_client_limits()
            .map_err(|e| e.key())
    };
    let chat = RetryPolicy::builder;
    assert_eq!(check(chat().max_retries(1000)), Ok(()));
    assert_eq!(check(chat().max_retries(1001)), Err("max_retries"));
    assert_eq!(
        check(chat().initial_delay(over).max_delay(over)),
        Err("initial_delay")
    );
    assert_eq!(check(chat().max_delay(week)), Ok(()));
    assert_eq!(check(chat().max_delay(over)), Err("max_delay"));
    assert_eq!(check(chat().max_retry_after(over)), Err("max_retry_after"));
    assert_eq!(check(chat().budget(over)), Err("budget"));
    assert_eq!(
        check(chat().spread(Spread {
            of_hint: 1.0,
            growth: 1.0,
            max: over
        })),
        Err("spread.max")
    );
}

#[test]
fn a_status_that_rejects_content_is_refused_where_asked() {
    let with = |set: &str| {
        let policy = RetryPolicy::builder()
            .retry_statuses(set.parse().unwrap())
            .build()
            .unwrap();
        policy.refuse_422().map_err(|e| e.to_string())
    };
    assert_eq!(
        with("429, 422"),
        Err(
            "retry_statuses = 422, 429: must not hold 422: the same content is rejected again"
                .to_owned()
        )
    );
    assert!(with("400-599").is_err());
    assert_eq!(with("408, 429, 500-599"), Ok(()));
    assert_eq!(with(""), Ok(()));
}

#[test]
fn words_read_back_as_they_are_written() {
    for jitter in [
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::Shave(0.25),
        Jitter::Shave(0.0),
    ] {
        assert_eq!(jitter.to_string().parse(), Ok(jitter));
    }
    assert_eq!("give-up".parse(), Ok(OverCap::GiveUp));
    assert_eq!(OverCap::GiveUp.to_string().parse(), Ok(OverCap::GiveUp));
    assert_eq!(OverCap::Clamp.to_string().parse(), Ok(OverCap::Clamp));
    for zero in [ZeroHint::Backoff, ZeroHint::Obey] {
        assert_eq!(zero.to_string().parse(), Ok(zero));
    }
    for by in [RetryBy::Kind, RetryBy::Status] {
        assert_eq!(by.to_string().parse(), Ok(by));
    }
}

#[test]
fn unknown_words_are_refused_by_name() {
    assert_eq!("none".parse::<Jitter>().unwrap_err().key(), "jitter");
    assert_eq!("shave".parse::<Jitter>().unwrap_err().key(), "jitter");
    assert_eq!("shave=x".parse::<Jitter>().unwrap_err().key(), "jitter");
    assert_eq!("Clamp".parse::<OverCap>().unwrap_err().key(), "over_cap");
    assert_eq!("".parse::<ZeroHint>().unwrap_err().key(), "zero_hint");
    assert_eq!("code".parse::<RetryBy>().unwrap_err().key(), "retry_by");
}
