//! Errors before any answer: what each status is, and what its body says beyond it.

use skyl::{ErrorKind, classify_status};

use crate::stage::{Case, MODES, Stage, request, retries, script};

pub(crate) async fn every_error_status_is_its_kind(case: &Case) {
    let stage = Stage::new(case).await;
    for status in 300..600 {
        let model = format!("sandbox-status-{status}");
        // Streamed, a status is read on the same way: those that providers use are enough.
        let used = matches!(status, 400..=431 | 498..=504 | 520..=529);
        for mode in MODES.into_iter().take(if used { 2 } else { 1 }) {
            let error = stage.fail(&request(&model), mode, retries(0)).await;
            let told = format!("{} {mode:?} {error}", case.name);
            assert_eq!(error.kind(), classify_status(status), "{told}");
            assert_eq!(error.status(), Some(status), "{told}");
            assert_eq!(error.http_status(), Some(status), "{told}");
            assert_eq!(error.provider(), Some(stage.client.provider()), "{told}");
            let overloaded = match stage.client.provider() {
                // The one provider whose 503 says something else.
                "anthropic" => status == 529,
                _ => status == 503 || status == 529,
            };
            assert_eq!(error.is_overloaded(), overloaded, "{told}");
            if !matches!(status, 304) {
                assert!(
                    error.message().unwrap_or_default().contains(&model),
                    "{told}"
                );
            }
            assert!(!error.delivered(), "{told}");
        }
    }
    assert_eq!(
        stage.sandbox.journal().len(),
        300 + 32 + 7 + 10,
        "{}",
        case.name
    );
}

pub(crate) async fn every_other_2xx_is_a_failure(case: &Case) {
    let stage = Stage::new(case).await;
    for status in [200, 201, 202, 203, 204, 205, 206, 226, 299] {
        for mode in MODES {
            let asked = request(&format!("sandbox-status-{status}"));
            let error = stage.fail(&asked, mode, retries(0)).await;
            let told = format!("{} {mode:?} {status} {error}", case.name);
            assert_eq!(error.kind(), ErrorKind::Server, "{told}");
            assert_eq!(error.http_status(), Some(status), "{told}");
        }
    }
}

pub(crate) async fn a_body_that_names_its_cause_beats_the_status(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        for (steps, kind, tries) in [
            ("429(body=quota),ok", ErrorKind::QuotaExhausted, 1),
            ("400(body=context),ok", ErrorKind::ContextLength, 1),
            ("413(body=context),ok", ErrorKind::ContextLength, 1),
            ("500(body=overloaded)", ErrorKind::Server, 2),
            ("400(body=overloaded)", ErrorKind::Server, 2),
            // A 429 stays a rate limit, whatever else its body says.
            ("429(body=overloaded)", ErrorKind::RateLimit, 2),
        ] {
            stage.clear();
            let error = stage.fail(&script(steps, mode), mode, retries(1)).await;
            let told = format!("{} {mode:?} {steps}: {error}", case.name);
            assert_eq!(error.kind(), kind, "{told}");
            assert_eq!(error.is_overloaded(), kind == ErrorKind::Server, "{told}");
            assert_eq!(stage.agreed(error.attempts()).len(), tries, "{told}");
        }
    }
}

pub(crate) async fn a_body_that_is_no_json_leaves_the_status(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        for body in ["html", "empty", "cut"] {
            for status in [400, 401, 404, 429, 500, 503] {
                let asked = script(&format!("{status}(body={body})"), mode);
                let error = stage.fail(&asked, mode, retries(0)).await;
                let told = format!("{} {mode:?} {status} {body}: {error}", case.name);
                assert_eq!(error.kind(), classify_status(status), "{told}");
                assert_eq!(error.status(), Some(status), "{told}");
            }
        }
    }
}
