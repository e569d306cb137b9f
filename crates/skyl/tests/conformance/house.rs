//! What a provider asks and offers: keys and models.

use skyl::{Client, ErrorKind};
use skyl_retry::ManualClock;
use skyl_sandbox::Sandbox;

use crate::stage::{Case, MODES, Mode, Stage, defaults, request, script};

pub(crate) async fn models_are_listed_to_the_last_page(case: &Case) {
    let mut house = Sandbox::builder();
    for n in 0..1100 {
        house = house.model(format!("extra-{n}"));
    }
    let stage = Stage::at(case, house.start().await.unwrap().into());
    let models = stage.client.models().await.unwrap();
    assert!(
        models.iter().any(|model| model.id == case.model),
        "{}",
        case.name
    );
    let extra: Vec<_> = models
        .iter()
        .filter_map(|model| model.id.strip_prefix("extra-")?.parse::<u32>().ok())
        .collect();
    assert_eq!(extra, (0..1100).collect::<Vec<_>>(), "{}", case.name);
    let journal = stage.sandbox.journal();
    assert_eq!(journal.len(), case.pages, "{}", case.name);
    assert!(journal.iter().all(|entry| entry.method == "GET"));

    let answer = stage.ask(&request("extra-7")).await;
    assert_eq!(answer.model.as_deref(), Some("extra-7"), "{}", case.name);
}

pub(crate) async fn an_unknown_model_is_not_found_and_asked_for_once(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        stage.clear();
        let error = stage
            .fail(&request("no-such-model"), mode, defaults())
            .await;
        assert_eq!(error.kind(), ErrorKind::NotFound, "{}: {error}", case.name);
        assert!(
            error.message().unwrap().contains("no-such-model"),
            "{error}"
        );
        assert_eq!(stage.agreed(error.attempts()), [Some(404)], "{}", case.name);
    }
}

pub(crate) async fn a_wrong_key_is_refused_once_and_told_to_nobody(case: &Case) {
    let sandbox = Sandbox::start().await.unwrap();
    let client = Client::builder_shared((case.make)(&sandbox, "sk-wrong-0123456789"))
        .clock(ManualClock::skipping())
        .build()
        .unwrap();
    let asked = request(case.model);
    let errors = [
        client.complete(&asked).await.unwrap_err(),
        client.stream(&asked).await.err().unwrap(),
        client.models().await.unwrap_err(),
    ];
    for error in &errors {
        assert_eq!(error.kind(), ErrorKind::Auth, "{}: {error}", case.name);
        assert_eq!(error.http_status(), Some(case.wrong_key), "{}", case.name);
        assert_eq!(error.attempts().len(), 1, "{}", case.name);
    }
    let journal = sandbox.journal();
    assert_eq!(journal.len(), 3, "{}", case.name);
    assert!(
        !format!("{journal:?}").contains("sk-wrong"),
        "{}",
        case.name
    );

    // A server that quotes the key in three spellings.
    let key = "sk-se/cret+key";
    let sandbox = Sandbox::builder().key(key).start().await.unwrap();
    let client = Client::builder_shared((case.make)(&sandbox, key))
        .build()
        .unwrap();
    let error = client
        .complete(&request("sandbox-echo-key"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth, "{}: {error}", case.name);
    let all = format!("{error} {error:?} {:?} {:?}", error.message(), error.body());
    assert!(!all.contains("cret"), "{}: {all}", case.name);
    assert!(all.contains("[redacted]"), "{}: {all}", case.name);
}

pub(crate) async fn a_script_that_does_not_parse_is_a_bad_request(case: &Case) {
    let stage = Stage::new(case).await;
    let error = stage
        .fail(
            &script("429(after=1)", Mode::Complete),
            Mode::Complete,
            defaults(),
        )
        .await;
    assert_eq!(error.kind(), ErrorKind::BadRequest, "{}", case.name);
    assert!(error.message().unwrap().contains("at byte 4"), "{error}");
}
