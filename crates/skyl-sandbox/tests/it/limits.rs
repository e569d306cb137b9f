//! Rates and faults at random, as a client meets them.

use std::{collections::BTreeMap, num::NonZeroU32};

use skyl_sandbox::{Chaos, Sandbox};

use crate::support::{Answer, ask, chat, fate, post};

fn millis(answer: &Answer) -> u64 {
    answer.headers("retry-after-ms")[0].parse().unwrap()
}

#[tokio::test]
async fn a_limit_is_told_before_it_is_met_and_kept_after() {
    let one = NonZeroU32::new(1).unwrap();
    let sandbox = Sandbox::builder()
        .requests_per_minute(one)
        .start()
        .await
        .unwrap();
    let admitted = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    assert_eq!(admitted.status, 200);
    assert_eq!(admitted.headers("x-ratelimit-limit-requests"), ["1"]);
    assert_eq!(admitted.headers("x-ratelimit-remaining-requests"), ["0"]);
    assert!(admitted.headers("x-ratelimit-limit-tokens").is_empty());

    let refused = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["error"]["code"], "rate_limit_exceeded");
    let wait = millis(&refused);
    assert!((1..=60_000).contains(&wait), "{wait}");
    assert_eq!(
        refused.headers("retry-after"),
        [wait.div_ceil(1000).to_string()]
    );

    // Who comes back too early is told the rest of the same wait, not a new one behind it.
    let early = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    assert_eq!(early.status, 429);
    assert!(millis(&early) <= wait);

    // A fault by name is a fault by name, whatever the limit.
    assert_eq!(fate(&sandbox, &chat("sandbox-status-503")).await, Ok(503));
}

#[tokio::test]
async fn tokens_are_limited_too_and_a_request_above_the_limit_is_told_not_to_come_back() {
    let five = NonZeroU32::new(5).unwrap();
    let sandbox = Sandbox::builder()
        .tokens_per_minute(five)
        .start()
        .await
        .unwrap();
    // Two words in, four out.
    let refused = ask(&sandbox, &post(&chat("gpt-5.6"))).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.headers("x-should-retry"), ["false"]);
    assert!(refused.headers("retry-after").is_empty());
    assert_eq!(refused.headers("x-ratelimit-limit-tokens"), ["5"]);
}

#[tokio::test]
async fn faults_at_random_do_not_depend_on_the_order_of_arrival() {
    let bodies: Vec<_> = (0..12)
        .flat_map(|number| {
            let mut body = chat("gpt-5.6");
            body["seed"] = number.into();
            vec![body; 3]
        })
        .collect();
    let met = |order: Vec<usize>, seed| {
        let bodies = &bodies;
        async move {
            let chaos = Chaos::new(0.7, seed).unwrap();
            let sandbox = Sandbox::builder().chaos(chaos).start().await.unwrap();
            for at in order {
                // How each request ends stands in the journal; here it only has to be over.
                let _over = fate(&sandbox, &bodies[at]).await.is_ok();
            }
            let mut met: BTreeMap<String, Vec<Option<u16>>> = BTreeMap::new();
            for entry in sandbox.journal() {
                met.entry(entry.body_sha256).or_default().push(entry.status);
            }
            met
        }
    };
    let forwards: Vec<_> = (0..bodies.len()).collect();
    let backwards: Vec<_> = forwards.iter().rev().copied().collect();

    let first = met(forwards.clone(), 7).await;
    assert_eq!(first, met(backwards, 7).await);
    assert_ne!(first, met(forwards, 8).await);
    let statuses: Vec<_> = first.values().flatten().collect();
    assert!(statuses.iter().any(|status| **status == Some(200)));
    assert!(statuses.iter().any(|status| **status != Some(200)));
}
