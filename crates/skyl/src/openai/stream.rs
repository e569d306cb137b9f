//! Streams: chunks in, events out.

use std::time::SystemTime;

use crate::dialect::lenient::{is_blank, string};
use crate::dialect::stencil::Stencil;
use crate::dialect::{Fault, Flow, Frame, Head, StreamDecoder};
use crate::openai::calls::Calls;
use crate::openai::date::ServerDate;
use crate::openai::decode::{is_error, more_choices, read, unknown_part};
use crate::openai::details::Details;
use crate::openai::wire::{Body, Choice, Speech, Words};
use crate::openai::{classify, ids, stop};
use crate::response::Warning;
use crate::sink::Sink;

/// Decodes one stream.
#[derive(Debug, Default)]
pub(super) struct ChatStream {
    /// When the reply began, by the server's clock: what dates in its errors are read against.
    date: ServerDate,
    calls: Calls,
    /// The first word on why the model stopped.
    finish: Option<String>,
    /// Whether `[DONE]` has come.
    done: bool,
    /// Whether there was half an error between the events.
    broken: bool,
    refused: bool,
    /// The name under which reasoning details are kept, where they have to go back.
    keeper: Option<String>,
    details: Details,
    told: Told,
    /// Chunks of nothing but words.
    stencil: Stencil<Speech>,
}

/// What has been warned of already: once per stream is enough.
#[derive(Debug, Default)]
struct Told {
    choices: bool,
    parts: bool,
    stray: bool,
}

impl ChatStream {
    pub(super) fn new(head: &Head<'_>, keeper: Option<&str>) -> Self {
        Self {
            keeper: keeper.map(str::to_owned),
            date: ServerDate::of(head),
            ..Self::default()
        }
    }

    /// Takes an event, unless the end of the stream has cut it: that is for the end to tell.
    fn last_or_whole(
        &mut self,
        name: &str,
        data: &str,
        terminated: bool,
        sink: &mut Sink,
    ) -> Result<Flow, Fault> {
        let is_cut = !terminated
            && !is_done(data)
            && serde_json::from_str::<serde::de::IgnoredAny>(data).is_err();
        if is_cut {
            return Ok(Flow::More);
        }
        self.event(name, data, sink)
    }

    fn event(&mut self, name: &str, data: &str, sink: &mut Sink) -> Result<Flow, Fault> {
        if data.is_empty() {
            return Ok(Flow::Life);
        }
        if is_done(data) {
            self.done = true;
            return Ok(Flow::Done);
        }
        if name == "error" {
            return Err(self.in_band(data));
        }
        if is_life(name) {
            return Ok(Flow::Life);
        }
        if let Some((speech, words)) = self.stencil.read(data) {
            self.calls.chunk();
            match speech {
                Speech::Text => sink.text(words),
                Speech::Reasoning => sink.reasoning(words),
            }
            return Ok(Flow::More);
        }
        if !data.starts_with('{') {
            return Err(match classify::flat(data, self.wall()) {
                Some(fault) => fault,
                None => match read::<serde::de::IgnoredAny>(data) {
                    Ok(_) => Fault::decode("a stream event is JSON, but not an object"),
                    Err(fault) => fault,
                },
            });
        }
        self.chunk(data, &read(data)?, sink)
    }

    fn chunk(&mut self, data: &str, body: &Body<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        sink.id(body.id.get().unwrap_or_default());
        sink.model(body.model.get().unwrap_or_default());
        if let Some(groq) = &body.x_groq.0 {
            sink.request_id(groq.id.get().unwrap_or_default());
        }
        let mut known = false;
        for usage in body.usages() {
            sink.usage(usage);
            known = true;
        }
        if is_error(body) {
            return Err(self.in_band(data));
        }
        if body.choices.is_empty() && !known {
            if body.kind.get().is_some_and(is_life) {
                return Ok(Flow::Life);
            }
            return classify::flat(data, self.wall()).map_or(Ok(Flow::More), Err);
        }
        let seed = ids::seed(body.id.get());
        for choice in body.choices.iter() {
            if choice.index.0.unwrap_or(0) == 0 {
                self.choice(choice, seed, sink)?;
            } else if !self.told.choices {
                self.told.choices = true;
                sink.warn(more_choices());
            }
        }
        if let Some((words, speech)) = body.lone_words() {
            let noise = [body.obfuscation, body.p];
            self.stencil.learn(data, words, noise, speech);
        }
        Ok(Flow::More)
    }

    fn choice(&mut self, choice: &Choice<'_>, seed: u64, sink: &mut Sink) -> Result<(), Fault> {
        if let Some(error) = choice.error.filter(|error| !is_blank(error)) {
            return Err(self.in_band(error.get()));
        }
        let word = choice.finish_reason.get();
        // Some servers close with the whole message, which has been told by then.
        let whole = choice.message.0.as_deref().filter(|_| !sink.has_content());
        if let Some(text) = choice.text.and_then(string)
            && choice.delta.0.is_none()
            && whole.is_none()
        {
            sink.text(text);
        }
        if let Some(said) = choice.delta.0.as_ref().or(whole) {
            let mut unknown = false;
            said.words(|words| match words {
                Words::Text(text) => sink.text(text),
                Words::Reasoning(text) => sink.reasoning(text),
                Words::Refusal(text) => {
                    self.refused |= !text.is_empty();
                    sink.refusal(text);
                }
                Words::Unknown => unknown = true,
            });
            if self.keeper.is_some() {
                self.details.piece(said.reasoning_details);
            }
            if unknown && !self.told.parts {
                self.told.parts = true;
                sink.warn(unknown_part());
            }
            self.calls.chunk();
            for call in said.tool_calls.iter() {
                self.calls.piece(call, seed, sink);
            }
            if let Some(function) = &said.function_call.0 {
                self.calls.function(function, seed, sink);
            }
        }
        let Some(word) = word else { return Ok(()) };
        if let Some(fault) = stop::failure(word) {
            return Err(fault);
        }
        if self.finish.is_none() {
            self.finish = Some(word.to_owned());
            self.tell_stop(sink);
        }
        Ok(())
    }

    /// Bytes that are no field of an event: mostly an error somebody wrote there as it was.
    fn stray(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<Flow, Fault> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        let is_json = text.starts_with(['{', '['])
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if is_json || is_done(text) {
            return self.event("message", text, sink);
        }
        if text.starts_with('<') && !self.is_whole() {
            return Err(Fault::decode("a page in the middle of a stream"));
        }
        // Half an error must not pass for the end of a whole answer; half an end mark is none.
        self.broken |= text.starts_with(['{', '[']) && !DONE.starts_with(text);
        if !self.told.stray {
            self.told.stray = true;
            sink.warn(Warning::new(
                "stream",
                "bytes that belong to no event were left out",
            ));
        }
        Ok(Flow::More)
    }

    fn in_band(&self, data: &str) -> Fault {
        classify::in_band(data, self.wall())
    }

    fn wall(&self) -> Option<SystemTime> {
        self.date.wall()
    }

    fn tell_stop(&self, sink: &mut Sink) {
        sink.stop_reason(stop::reason(
            self.finish.as_deref(),
            self.refused,
            self.calls.any(),
        ));
    }
}

impl StreamDecoder for ChatStream {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        match frame {
            Frame::Event {
                name,
                data,
                terminated,
            } => self.last_or_whole(name, data.trim(), terminated, sink),
            Frame::Json { data, terminated } => match str::from_utf8(data) {
                Ok(data) => self.last_or_whole("message", data.trim(), terminated, sink),
                Err(_) => Err(Fault::decode("a stream event is not UTF-8")),
            },
            Frame::Stray(bytes) => self.stray(bytes, sink),
        }
    }

    fn is_whole(&self) -> bool {
        (self.done || self.finish.is_some()) && !self.broken
    }

    fn end(&mut self, sink: &mut Sink) -> Result<(), Fault> {
        if self.finish.is_none() && !sink.has_content() && !self.calls.any() {
            return Err(Fault::empty_response());
        }
        self.calls.finish(sink);
        if let Some(state) = self
            .keeper
            .as_deref()
            .and_then(|name| self.details.state(name))
        {
            sink.keep_with_reasoning(state);
        }
        self.tell_stop(sink);
        Ok(())
    }
}

/// The mark at the end, as freely as servers write it.
fn is_done(data: &str) -> bool {
    let data = data.strip_prefix('"').unwrap_or(data);
    data.get(..DONE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(DONE))
}

/// Names and types of events that only say that somebody is there.
fn is_life(name: &str) -> bool {
    matches!(name, "ping" | "keepalive" | "keep-alive" | "heartbeat")
}

const DONE: &str = "[DONE]";

#[cfg(test)]
mod tests;
