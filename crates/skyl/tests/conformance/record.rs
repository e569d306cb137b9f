//! The attempts record, the hooks and the server's journal tell one story.

use skyl::Operation;

use crate::stage::{Case, MODES, Mode, Stage, request, retries, script};

pub(crate) async fn a_bad_minute_is_told_alike_by_all(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        stage.clear();
        let steps = "429(ra=1)*2,reset,503(body=html),close,first-error,529(body=cut),ok";
        let answer = stage.try_ask(&script(steps, mode), mode, retries(9)).await;
        let answer = answer.unwrap_or_else(|error| panic!("{} {mode:?}: {error}", case.name));
        let statuses = [
            Some(429),
            Some(429),
            None,
            Some(503),
            None,
            Some(200),
            Some(529),
            Some(200),
        ];
        assert_eq!(stage.agreed(answer.attempts()), statuses, "{}", case.name);
        let ends = usize::from(mode == Mode::Stream);
        assert_eq!(stage.events.ends().len(), ends, "{}", case.name);
    }
}

pub(crate) async fn calls_at_once_each_keep_their_own_record(case: &Case) {
    let stage = Stage::new(case).await;
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..20_usize {
        let client = stage.client.clone();
        calls.spawn(async move {
            let failures = n % 3 + 1;
            let asked = request(&format!("sandbox-do-503*{failures},ok@{n}"));
            let answer = if n % 2 == 0 {
                client.complete(&asked).await.unwrap()
            } else {
                let stream = client.stream(&asked).await.unwrap();
                stream.into_response().await.unwrap()
            };
            (failures, answer)
        });
    }
    let mut requests = 0;
    while let Some(done) = calls.join_next().await {
        let (failures, answer) = done.unwrap();
        assert_eq!(answer.attempts().len(), failures + 1, "{}", case.name);
        requests += answer.attempts().len();
    }
    let mut events = stage.events.all();
    events.retain(|event| event.operation != Operation::StreamEnd);
    assert_eq!(stage.sandbox.journal().len(), requests, "{}", case.name);
    assert_eq!(events.len(), requests, "{}", case.name);
}
