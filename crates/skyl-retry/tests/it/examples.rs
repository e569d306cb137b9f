//! The examples, run on a clock that does not wait.

use std::time::Duration;

use skyl_retry::ManualClock;

#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../../examples/shared_policy.rs"]
mod shared_policy;

#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../../examples/tower_hyper_service.rs"]
mod tower_hyper_service;

#[tokio::test]
async fn one_policy_serves_two_operations() {
    let clock = ManualClock::skipping();
    let (answer, stored) = shared_policy::run(&clock).await.unwrap();
    assert_eq!((answer.as_str(), stored), ("Paris", 5));
    let [hinted, backoff] = clock.sleeps()[..] else {
        panic!("two waits: {:?}", clock.sleeps());
    };
    // The fleet's policy spreads a server's wait by up to its own length.
    assert!((Duration::from_secs(1)..=Duration::from_secs(2)).contains(&hinted));
    assert!(backoff <= Duration::from_millis(100));
}

#[tokio::test]
async fn the_tower_layer_retries_a_hyper_service() {
    let clock = ManualClock::skipping();
    let response = tower_hyper_service::run(clock.clone()).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.body(), "{\"text\":\"Paris\"}");
    assert_eq!(clock.sleeps().len(), 2);
    assert_eq!(clock.sleeps()[0], Duration::from_secs(2));
}
