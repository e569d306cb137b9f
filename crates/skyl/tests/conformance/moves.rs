//! Conversations that go on: at the same provider without loss, at another without trouble.

use std::sync::Arc;

use skyl::{Message, Part, Response};
use skyl_sandbox::Sandbox;

use crate::{
    stage::{ALL, Case, MODES, Mode, Stage, defaults, echo, request},
    tools::weather,
};

/// What a signing provider of the sandbox puts on its reasoning and on its calls.
const SIGNATURE: &str = "c2FuZGJveC10aG91Z2h0LTE=";

/// The last request's body.
fn sent(sandbox: &Sandbox) -> String {
    let seq = sandbox.journal().last().unwrap().seq;
    String::from_utf8(sandbox.body(seq).unwrap().to_vec()).unwrap()
}

pub(crate) async fn reasoning_goes_back_to_its_provider_untouched(case: &Case) {
    let stage = Stage::new(case).await;
    for mode in MODES {
        let first = stage
            .try_ask(&request("sandbox-reasoning"), mode, defaults())
            .await
            .unwrap();
        let states = first.message.parts.iter().filter(|part| match part {
            Part::Reasoning(reasoning) => reasoning.state.is_some(),
            Part::Text(text) => text.state.is_some(),
            _ => false,
        });
        assert_eq!(states.count() > 0, case.signs_reasoning, "{}", case.name);
        let again = request(case.model)
            .message(first.message.clone())
            .message(Message::user("And now?"));
        let second = stage.ask(&again).await;
        assert_eq!(second.text(), "You said: And now?", "{}", case.name);
        let body = sent(&stage.sandbox);
        assert_eq!(
            body.contains(SIGNATURE),
            case.signs_reasoning,
            "{}",
            case.name
        );
        let told = second.warnings.len();
        assert_eq!(told, usize::from(!case.replays_reasoning), "{}", case.name);
    }
}

pub(crate) async fn reasoning_is_dropped_for_others_with_a_warning(case: &Case) {
    let sandbox = Arc::new(Sandbox::start().await.unwrap());
    let from = Stage::at(case, Arc::clone(&sandbox));
    let first = from.ask(&request("sandbox-reasoning")).await;
    for other in ALL {
        let to = Stage::at(other, Arc::clone(&sandbox));
        if to.client.provider() == from.client.provider() {
            continue;
        }
        let asked = request(other.model)
            .message(first.message.clone())
            .message(Message::user("And now?"));
        let second = to.ask(&asked).await;
        let told = format!("{} to {}", case.name, other.name);
        assert_eq!(second.text(), "You said: And now?", "{told}");
        let body = sent(&sandbox);
        assert!(!body.contains(SIGNATURE), "{told}: {body}");
        assert!(!body.contains("The question is simple."), "{told}: {body}");
        assert!(!second.warnings.is_empty(), "{told}");
        // The text itself is not lost with the state it carried.
        assert!(body.contains("naïve"), "{told}: {}", echo());
    }
}

pub(crate) async fn a_tool_loop_goes_on_at_every_other_provider(case: &Case) {
    let sandbox = Arc::new(Sandbox::start().await.unwrap());
    for mode in MODES {
        for model in [case.model, "sandbox-parallel-tools"] {
            let first = called(case, &sandbox, model, mode).await;
            for other in ALL {
                let to = Stage::at(other, Arc::clone(&sandbox));
                let mut asked = weather(other.model).message(first.message.clone());
                for call in first.tool_calls() {
                    asked = asked.message(Message::tool_result(&call.id, "26 °C"));
                }
                let second = to.ask(&asked).await;
                let told = format!("{} {mode:?} to {}", case.name, other.name);
                assert_eq!(second.text(), "The tool said: 26 °C", "{told}");

                // And on from there, back where it began.
                let back = Stage::at(case, Arc::clone(&sandbox));
                asked.model = case.model.to_owned();
                asked = asked
                    .message(second.message)
                    .message(Message::user("Thanks"));
                assert_eq!(back.ask(&asked).await.text(), "You said: Thanks", "{told}");
            }
        }
    }
}

/// An answer that calls tools.
async fn called(case: &Case, sandbox: &Arc<Sandbox>, model: &str, mode: Mode) -> Response {
    let from = Stage::at(case, Arc::clone(sandbox));
    let first = from.try_ask(&weather(model), mode, defaults()).await;
    first.unwrap()
}
