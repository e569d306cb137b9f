//! Whole answers, and lists of models.

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::dialect::lenient::{Count, Object, Scalar, is_blank, string};
use crate::dialect::{Decoded, Fault, Head, ModelsPage};
use crate::message::{self, Part, Reasoning, ToolCall};
use crate::openai::calls::{is_object, nameless, no_object};
use crate::openai::details::Details;
use crate::openai::ids::{self, Ids};
use crate::openai::wire::{Body, Choice, Function, Said, Words};
use crate::openai::{classify, stop};
use crate::response::{ModelInfo, Usage, Warning};

/// Decodes the body of an answer with a status below 300.
///
/// `keeper` is the name under which reasoning details are kept, where they have to go back.
pub(super) fn answer(head: &Head<'_>, body: &[u8], keeper: Option<&str>) -> Result<Decoded, Fault> {
    let text = json(body)?;
    let Object(Some(body)) = read::<Object<Body<'_>>>(text)? else {
        return Err(no_object_at_all(head, text));
    };
    let usage = usage(&body);
    let mut decoded = choice(head, text, &body, keeper).map_err(|fault| {
        // A failure may be billed as well.
        if usage == Usage::default() {
            fault
        } else {
            fault.with_usage(usage)
        }
    })?;
    decoded.usage = usage;
    Ok(decoded)
}

/// Decodes a list of models; these servers have no pages.
pub(super) fn models(head: &Head<'_>, body: &[u8]) -> Result<ModelsPage, Fault> {
    let text = json(body)?;
    // Together sends the bare list.
    let list = if text.starts_with('[') {
        read::<Vec<&RawValue>>(text)?
    } else {
        let Object(Some(body)) = read::<Object<ModelList<'_>>>(text)? else {
            return Err(no_object_at_all(head, text));
        };
        let error = body.error.is_some_and(|error| !is_blank(error));
        match body.data {
            Some(data) if !error && data.get().starts_with('[') => {
                read::<Vec<&RawValue>>(data.get())?
            }
            _ if error => return Err(classify::in_band(text, Some(head.now()))),
            _ => return Err(classify::no_answer(text, Some(head.now()))),
        }
    };
    let models: Vec<_> = list.iter().filter_map(|entry| model(entry)).collect();
    if models.is_empty()
        && let Some(fault) = classify::flat(text, Some(head.now()))
    {
        return Err(fault);
    }
    Ok(ModelsPage::new(models, None))
}

/// Whether a body is an error, whatever stands beside it.
pub(super) fn is_error(body: &Body<'_>) -> bool {
    let groq = body.x_groq.0.as_ref().and_then(|groq| groq.error);
    body.error.or(groq).is_some_and(|error| !is_blank(error))
        || body.object.get() == Some("error")
        || body.kind.get() == Some("error")
        || body
            .base_resp
            .0
            .is_some_and(|resp| resp.status_code.0.unwrap_or(0) != 0)
}

/// Reads JSON; the fault says where it breaks and quotes nothing.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| {
        let place = format!("line {} column {}", error.line(), error.column());
        if error.is_data() {
            return Fault::decode(format!("a field stands twice, at {place}"));
        }
        // What stands behind one whole value is mostly a second one, put there by a proxy.
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        Fault::decode(if values.next().is_some_and(|value| value.is_ok()) {
            format!("more than one JSON value, from {place} on")
        } else {
            format!("not JSON from {place} on")
        })
    })
}

pub(super) fn more_choices() -> Warning {
    Warning::new(
        "choices",
        "only the first choice is read; the others are left out",
    )
}

pub(super) fn unknown_part() -> Warning {
    Warning::new("content", "a part of a kind that is not known was left out")
}

/// The text of a body, or why there is none.
pub(super) fn json(body: &[u8]) -> Result<&str, Fault> {
    let body = body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(body)
        .trim_ascii();
    if body.is_empty() {
        return Err(Fault::empty_response());
    }
    if body.starts_with(b"<") {
        return Err(Fault::decode("a page instead of JSON"));
    }
    str::from_utf8(body).map_err(|_| Fault::decode("not UTF-8"))
}

/// A body that is JSON, but not an object: nothing, an error in a list, or who knows what.
pub(super) fn no_object_at_all(head: &Head<'_>, text: &str) -> Fault {
    if matches!(text, "null" | "[]") {
        return Fault::empty_response();
    }
    classify::flat(text, Some(head.now()))
        .unwrap_or_else(|| Fault::decode("JSON, but not an object"))
}

/// The choice that is read, or the error in its place.
fn choice(
    head: &Head<'_>,
    text: &str,
    body: &Body<'_>,
    keeper: Option<&str>,
) -> Result<Decoded, Fault> {
    if is_error(body) {
        return Err(classify::in_band(text, Some(head.now())));
    }
    let choice = body
        .choices
        .iter()
        .find(|choice| choice.index.0.unwrap_or(0) == 0);
    let Some(choice) = choice.or_else(|| body.choices.iter().next()) else {
        return Err(classify::no_answer(text, Some(head.now())));
    };
    if let Some(error) = choice.error.filter(|error| !is_blank(error)) {
        return Err(classify::in_band(error.get(), Some(head.now())));
    }
    let word = choice.finish_reason.get();
    if let Some(fault) = word.and_then(stop::failure) {
        return Err(fault);
    }
    let mut answer = Answer::read(body, choice, keeper);
    if word.is_none() && answer.is_empty() {
        return Err(Fault::empty_response());
    }
    if body.choices.iter().nth(1).is_some() {
        answer.warnings.push(more_choices());
    }
    Ok(answer.into_decoded(body, word))
}

fn usage(body: &Body<'_>) -> Usage {
    body.usages().fold(Usage::default(), |mut usage, later| {
        usage.update(later);
        usage
    })
}

/// The parts of an answer while they are put together.
#[derive(Default)]
struct Answer {
    parts: Vec<Part>,
    refusal: String,
    warnings: Vec<Warning>,
    /// What a stream could only tell at its end, and so is told last.
    late: Vec<Warning>,
    called: bool,
    ids: Ids,
    seed: u64,
}

impl Answer {
    fn read(body: &Body<'_>, choice: &Choice<'_>, keeper: Option<&str>) -> Self {
        let mut answer = Self {
            seed: ids::seed(body.id.get()),
            ..Self::default()
        };
        // A server that answers with a chunk of a stream means the same by it.
        if let Some(said) = choice.message.0.as_deref().or(choice.delta.0.as_ref()) {
            answer.say(said);
            let state = keeper.and_then(|name| Details::whole(said.reasoning_details).state(name));
            if let Some(state) = state {
                message::keep_with_reasoning(&mut answer.parts, state);
            }
        } else if let Some(text) = choice.text.and_then(string).filter(|text| !text.is_empty()) {
            answer.parts.push(Part::text(text));
        }
        answer
    }

    fn say(&mut self, said: &Said<'_>) {
        let mut unknown = false;
        said.words(|words| match words {
            Words::Text(text) if text.is_empty() => {}
            Words::Text(text) => match self.parts.last_mut() {
                Some(Part::Text(last)) => last.text.push_str(&text),
                _ => self.parts.push(Part::text(text)),
            },
            Words::Reasoning(text) if text.is_empty() => {}
            Words::Reasoning(text) => match self.parts.last_mut() {
                Some(Part::Reasoning(last)) => last.text.push_str(&text),
                _ => self.parts.push(Part::Reasoning(Reasoning::new(text, None))),
            },
            Words::Refusal(text) => self.refusal.push_str(&text),
            Words::Unknown => unknown = true,
        });
        if unknown {
            self.warnings.push(unknown_part());
        }
        let mut at = 0;
        for call in said.tool_calls.iter() {
            self.call(&mut at, call.id.get(), call.called());
        }
        if let Some(function) = &said.function_call.0 {
            self.call(&mut at, None, Some(function));
        }
    }

    fn call(&mut self, at: &mut usize, id: Option<&str>, function: Option<&Function<'_>>) {
        let arguments = function.and_then(Function::arguments).unwrap_or_default();
        let name = function.and_then(|function| function.name.get());
        if id.is_none() && name.is_none() && arguments.is_empty() {
            return;
        }
        let place = *at;
        *at += 1;
        self.called = true;
        let Some(name) = name else {
            self.late.push(nameless(place));
            return;
        };
        let (id, warning) = self.ids.settle(id, self.seed, name);
        self.warnings.extend(warning);
        if !is_object(&arguments) {
            self.late.push(no_object(place));
        }
        let arguments = if arguments.trim().is_empty() {
            "{}".to_owned()
        } else {
            arguments.into_owned()
        };
        self.parts
            .push(Part::ToolCall(ToolCall::new(id, name, arguments)));
    }

    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.refusal.is_empty() && !self.called
    }

    fn into_decoded(self, body: &Body<'_>, word: Option<&str>) -> Decoded {
        let reason = stop::reason(word, !self.refusal.is_empty(), self.called);
        let mut decoded = Decoded::new(self.parts, reason);
        decoded.id = body.id.get().map(str::to_owned);
        decoded.model = body.model.get().map(str::to_owned);
        decoded.refusal = Some(self.refusal).filter(|refusal| !refusal.is_empty());
        decoded.request_id = body
            .x_groq
            .0
            .as_ref()
            .and_then(|groq| groq.id.get())
            .map(str::to_owned);
        decoded.warnings = self.warnings;
        decoded.warnings.extend(self.late);
        decoded
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelList<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// An entry of the list, with the names servers use for its limits.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelEntry<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    context_length: Count,
    context_window: Count,
    max_model_len: Count,
    max_context_length: Count,
    max_completion_tokens: Count,
    top_provider: Object<TopProvider>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TopProvider {
    max_completion_tokens: Count,
}

fn model(raw: &RawValue) -> Option<ModelInfo> {
    let Object(entry) = serde_json::from_str::<Object<ModelEntry<'_>>>(raw.get()).ok()?;
    let entry = entry?;
    let mut model = ModelInfo::new(
        entry.id.get()?,
        Bytes::copy_from_slice(raw.get().as_bytes()),
    );
    model.display_name = entry.name.get().map(str::to_owned);
    model.context_window = entry
        .context_length
        .0
        .or(entry.context_window.0)
        .or(entry.max_model_len.0)
        .or(entry.max_context_length.0);
    let top = entry.top_provider.0.unwrap_or_default();
    model.max_output_tokens = entry
        .max_completion_tokens
        .0
        .or(top.max_completion_tokens.0);
    Some(model)
}

#[cfg(test)]
mod tests;
