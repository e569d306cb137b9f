//! Slow, split and commented answers: the same answer, however it comes.

use skyl::{Request, ResponseFormat};

use crate::{
    stage::{Case, MODES, Mode, Stage, defaults, drain, echo, request, script},
    tools::weather,
};

/// The same request with a script in place of its model.
fn scripted(asked: &Request, steps: &str) -> Request {
    let mut asked = asked.clone();
    asked.model = format!("sandbox-do-{steps}");
    asked
}

pub(crate) async fn however_it_is_delivered_the_answer_is_the_same(case: &Case) {
    let stage = Stage::new(case).await;
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"naïve": {"type": "string"}},
    });
    for asked in [
        request(case.model),
        weather(case.model),
        request(case.model).response_format(ResponseFormat::json_schema(schema)),
    ] {
        let plain = stage.ask(&asked).await;
        for steps in [
            "split(1)",
            "split(2)",
            "split(7)",
            "slow(1)+split(200)",
            "comments(10)",
            "comments(5)+split(3)",
        ] {
            let answer = stage.ask(&scripted(&asked, steps)).await;
            let told = format!("{} {steps}", case.name);
            assert_eq!(answer.message, plain.message, "{told}");
            assert_eq!(answer.usage, plain.usage, "{told}");
            assert_eq!(answer.stop_reason, plain.stop_reason, "{told}");
            assert_eq!(answer.warnings, plain.warnings, "{told}");
            assert_eq!(answer.attempts().len(), 1, "{told}");
        }
    }
}

pub(crate) async fn a_short_stall_changes_nothing(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        for steps in [
            "stall(5)",
            "stall-mid(5)",
            "stream-stall(2;5)",
            "stream-stall(0;5)",
        ] {
            stage.clear();
            let answer = stage.try_ask(&script(steps, mode), mode, defaults()).await;
            let answer = answer.unwrap_or_else(|error| panic!("{} {steps}: {error}", case.name));
            assert_eq!(answer.text(), echo(), "{} {steps}", case.name);
            assert_eq!(stage.agreed(answer.attempts()), [Some(200)]);
        }
    }
}

pub(crate) async fn a_dropped_stream_closes_its_connection(case: &Case) {
    let stage = Stage::new(case).await;
    let asked = script("stream-stall(1;600000)", Mode::Stream);
    let mut stream = stage.client.stream(&asked).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    stage.sandbox.all_closed().await;
    assert_eq!(stage.events.ends(), [false], "{}", case.name);
    // And does no harm to the next one.
    let mut stream = stage.client.stream(&request(case.model)).await.unwrap();
    assert!(drain(&mut stream).await.1.is_none(), "{}", case.name);
}
