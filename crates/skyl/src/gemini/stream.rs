//! From the chunks of a stream to an answer.
//!
//! Every chunk is a small answer: its parts are added, its counts and reasons replace. There is no
//! last chunk: with code execution a finish reason may come in the middle, so the end is the end of
//! the bytes, and it is whole if any reason was seen.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::wire::{AnswerCall, AnswerPart, Candidate, Chunk, State, raw_part};
use super::{NAME, classify, wire};
use crate::dialect::lenient::{Count, Object, Scalar, is_blank};
use crate::dialect::{Fault, Flow, Frame, StreamDecoder};
use crate::kind::ErrorKind;
use crate::message::OpaqueState;
use crate::native::{Ids, Told, json_text, text};
use crate::response::{StopReason, Usage};
use crate::sink::Sink;

/// Decodes one stream, or the one chunk of a whole answer.
#[derive(Default)]
pub(super) struct Decoder {
    usage: wire::Usage,
    ids: Ids,
    told: Told,
    finish: Option<Finish>,
    /// Whether words have been handed out: a refusal without any is an error.
    text: bool,
    /// Whether there is text, a call or a part that is kept.
    content: bool,
    broken: bool,
}

/// A reason to stop, and what it means.
struct Finish {
    word: String,
    message: String,
    stop: StopReason,
    /// Whether a stop of this kind is an answer although there is nothing in it.
    may_be_empty: bool,
}

impl StreamDecoder for Decoder {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        match frame {
            Frame::Event {
                name,
                data,
                terminated,
            } => self.event(name, data, terminated, sink)?,
            Frame::Json { data, terminated } => match std::str::from_utf8(data) {
                Ok(data) => self.event("message", data, terminated, sink)?,
                Err(_) => return Err(Fault::decode("a chunk is not UTF-8")),
            },
            Frame::Stray(bytes) => self.stray(bytes, sink)?,
        }
        Ok(Flow::More)
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some() && !self.broken
    }

    fn end(&mut self, sink: &mut Sink) -> Result<(), Fault> {
        self.whole(sink)
    }
}

impl Decoder {
    fn event(
        &mut self,
        name: &str,
        data: &str,
        terminated: bool,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        if name == "error" && terminated {
            return Err(self.failed(classify::error_event(data)));
        }
        // Cut inside an event: the missing end of the stream tells it better.
        if !terminated && serde_json::from_str::<&RawValue>(data).is_err() {
            return Ok(());
        }
        self.chunk(data, sink)
    }

    /// Bytes between chunks: an error, a chunk that lost its `data:`, or a broken stream.
    fn stray(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<(), Fault> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if let Some(error) = text.strip_prefix("error:") {
            return Err(self.failed(classify::error_event(error.trim())));
        }
        if let Some(fault) = classify::in_band(text.as_bytes()) {
            return Err(self.failed(fault));
        }
        if text.starts_with('<') {
            return Err(Fault::decode("a page in the middle of a stream"));
        }
        if text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
            return self.chunk(text, sink);
        }
        // Half an error must not pass for the end of a whole answer.
        self.broken |= text.starts_with(['{', '[']);
        self.told
            .warn(sink, "stream", "held bytes that belong to no event");
        Ok(())
    }

    /// Takes one chunk.
    pub(super) fn chunk(&mut self, data: &str, sink: &mut Sink) -> Result<(), Fault> {
        let Ok(Object(Some(chunk))) = serde_json::from_str::<Object<Chunk<'_>>>(data) else {
            return Err(match classify::in_band(data.as_bytes()) {
                Some(fault) => self.failed(fault),
                None => Fault::decode("a chunk of the answer cannot be read"),
            });
        };
        // Counts first: an error in the same chunk keeps what it cost.
        self.count(chunk.usage_metadata.0, sink);
        if chunk.error.is_some_and(|error| !is_blank(error)) {
            return Err(self.failed(classify::error_event(data)));
        }
        if chunk.is_empty()
            && let Some(fault) = classify::in_band(data.as_bytes())
        {
            return Err(self.failed(fault));
        }
        let id = chunk.response_id.get().unwrap_or_default();
        sink.id(id);
        sink.model(chunk.model_version.get().unwrap_or_default());
        self.ids.answer(id);
        for (at, candidate) in chunk.candidates.iter().enumerate() {
            if candidate.index.0.unwrap_or(0) == 0 {
                let raw = |part| raw_part(data, at, part);
                self.candidate(candidate, raw, sink)?;
            } else {
                self.told
                    .warn(sink, "candidates", "beyond the first are left out");
            }
        }
        if let Some(feedback) = chunk.prompt_feedback.0
            && let Some(reason) = said(&feedback.block_reason)
        {
            self.finish = Some(Finish {
                word: reason.to_owned(),
                message: feedback
                    .block_reason_message
                    .get()
                    .unwrap_or_default()
                    .to_owned(),
                stop: StopReason::Refusal,
                may_be_empty: false,
            });
            sink.stop_reason(StopReason::Refusal);
        }
        Ok(())
    }

    fn candidate<'a>(
        &mut self,
        candidate: &Candidate<'_>,
        raw: impl Fn(usize) -> Option<&'a RawValue>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        if let Some(content) = &candidate.content.0 {
            for (at, part) in content.parts.iter().enumerate() {
                self.part(part, || raw(at), sink)?;
            }
            if content.parts.has_strays() {
                return Err(Fault::decode("a part of the answer cannot be read"));
            }
        }
        if let Some(reason) = said(&candidate.finish_reason) {
            let finish = Finish::read(reason, candidate.finish_message.get().unwrap_or_default());
            // A reason that makes no answer of nothing is held back until there is something: a
            // client that has been told why the model stopped takes the answer for begun.
            if self.content || finish.may_be_empty || finish.stop == StopReason::Refusal {
                sink.stop_reason(finish.stop.clone());
            }
            self.finish = Some(finish);
        }
        Ok(())
    }

    fn part<'a>(
        &mut self,
        part: &AnswerPart<'_>,
        raw: impl FnOnce() -> Option<&'a RawValue>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let signature = part.thought_signature.get().map(str::to_owned);
        if let Some(call) = &part.function_call.0 {
            self.call(call, signature, sink);
            return Ok(());
        }
        if part.text.is_none()
            && let Some(raw) = raw().filter(|raw| !is_bare(raw))
        {
            self.other(raw, sink);
            return Ok(());
        }
        let words = text(part.text)?;
        let state = signature.and_then(|signature| {
            keep(&State {
                thought_signature: Some(signature),
                ..State::default()
            })
        });
        if part.thought.is_some_and(|thought| thought.get() == "true") {
            sink.reasoning(words);
            if let Some(state) = state {
                sink.reasoning_state(state);
            }
            return Ok(());
        }
        self.words(words, sink);
        // A signature may come on an empty text, after the text it closes.
        if let Some(state) = state {
            sink.text_state(state);
        }
        Ok(())
    }

    fn words(&mut self, text: String, sink: &mut Sink) {
        if !text.is_empty() {
            self.text = true;
            self.content = true;
            sink.text(text);
        }
    }

    fn call(&mut self, call: &AnswerCall<'_>, signature: Option<String>, sink: &mut Sink) {
        let name = call.name.get().unwrap_or_default();
        let arguments = json_text(call.args);
        let given = call.id.get();
        let (id, repeated) = self
            .ids
            .settle(given.unwrap_or_default(), &format!("{name}{arguments}"));
        if repeated {
            self.told.warn(
                sink,
                "functionCall",
                "has ids that repeat; they are made unique",
            );
        }
        let state = State {
            thought_signature: signature,
            id: given.map(str::to_owned),
            part: None,
        };
        let state = (state.thought_signature.is_some() || state.id.is_some())
            .then(|| keep(&state))
            .flatten();
        self.content = true;
        let index = sink.tool_start(id, name, state);
        sink.tool_arguments(index, arguments);
        sink.tool_end(index);
    }

    /// A part skyl has none for: kept whole, so that it can go back.
    fn other(&mut self, raw: &RawValue, sink: &mut Sink) {
        let members = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get());
        let name = members
            .unwrap_or_default()
            .keys()
            .find(|key| !matches!(key.as_str(), "thought" | "thoughtSignature"))
            .cloned()
            .unwrap_or_default();
        self.told
            .warn(sink, &name, "is kept, but has no part of its own");
        let state = State {
            part: Some(raw.to_owned()),
            ..State::default()
        };
        if let Some(state) = keep(&state) {
            sink.reasoning_state(state);
            self.content = true;
        }
    }

    /// Takes running totals: they replace what was known, and what is absent replaces nothing.
    fn count(&mut self, later: Option<wire::Usage>, sink: &mut Sink) {
        let Some(later) = later else { return };
        let known = &mut self.usage;
        for (slot, value) in [
            (&mut known.prompt, later.prompt),
            (&mut known.tool_use, later.tool_use),
            (&mut known.cached, later.cached),
            (&mut known.candidates, later.candidates),
            (&mut known.thoughts, later.thoughts),
        ] {
            slot.0 = value.0.or(slot.0);
        }
        sink.usage(self.total());
    }

    /// The usage as skyl counts: thoughts are output, what tools fed back is input.
    fn total(&self) -> Usage {
        let usage = self.usage;
        let sum = |figures: [Count; 2]| {
            figures
                .into_iter()
                .filter_map(|count| count.0)
                .reduce(u64::saturating_add)
        };
        Usage {
            input_tokens: sum([usage.prompt, usage.tool_use]),
            output_tokens: sum([usage.candidates, usage.thoughts]),
            cache_read_tokens: usage.cached.0,
            cache_write_tokens: None,
            reasoning_tokens: usage.thoughts.0,
        }
    }

    /// Whether nothing came that could be an answer.
    pub(super) fn is_silent(&self) -> bool {
        self.finish.is_none() && !self.content
    }

    /// Ends a whole answer.
    pub(super) fn whole(&mut self, sink: &mut Sink) -> Result<(), Fault> {
        let Some(finish) = &self.finish else {
            if !self.content {
                return Err(self.failed(Fault::empty_response()));
            }
            if sink.tool_count() > 0 {
                sink.stop_reason(StopReason::ToolUse);
            }
            return Ok(());
        };
        let called = sink.tool_count() > 0;
        let stop = match &finish.stop {
            StopReason::Refusal if !self.text && !called => {
                return Err(self.failed(finish.fault(ErrorKind::Refusal)));
            }
            _ if !self.content && !finish.may_be_empty => {
                return Err(self.failed(finish.fault(ErrorKind::Server)));
            }
            // Calls finish with `STOP`, in the chunk of the calls or in another.
            StopReason::EndTurn if called => StopReason::ToolUse,
            stop => stop.clone(),
        };
        sink.stop_reason(stop);
        Ok(())
    }

    /// A failure, with what the answer has cost so far.
    pub(super) fn failed(&self, fault: Fault) -> Fault {
        let usage = self.total();
        if usage == Usage::default() {
            fault
        } else {
            fault.with_usage(usage)
        }
    }
}

impl Finish {
    fn read(word: &str, message: &str) -> Self {
        let (stop, may_be_empty) = match word {
            "STOP" => (StopReason::EndTurn, true),
            "MAX_TOKENS" => (StopReason::MaxTokens, true),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "MODEL_ARMOR" => (StopReason::Refusal, false),
            image if image.starts_with("IMAGE_") && image != "IMAGE_OTHER" => {
                (StopReason::Refusal, false)
            }
            other => (StopReason::Other(other.to_owned()), false),
        };
        Self {
            word: word.to_owned(),
            message: message.to_owned(),
            stop,
            may_be_empty,
        }
    }

    /// The failure an answer of this reason alone is.
    fn fault(&self, kind: ErrorKind) -> Fault {
        let message = match self.message.as_str() {
            "" => format!("no content: {}", self.word),
            message => message.to_owned(),
        };
        Fault::new(kind)
            .with_code(self.word.as_str())
            .with_message(message)
    }
}

/// A reason that is one: the API's word for "not set" says nothing.
fn said<'a>(reason: &'a Scalar<'_>) -> Option<&'a str> {
    reason.get().filter(|word| !word.ends_with("_UNSPECIFIED"))
}

fn keep(state: &State) -> Option<OpaqueState> {
    serde_json::value::to_raw_value(state)
        .ok()
        .map(|json| OpaqueState::new(NAME, json))
}

/// Whether a part holds nothing but its signature and flags.
fn is_bare(raw: &RawValue) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get()).is_ok_and(
        |members| {
            members.iter().all(|(name, value)| {
                value.is_null() || matches!(name.as_str(), "thought" | "thoughtSignature")
            })
        },
    )
}
