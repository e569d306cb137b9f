//! Streams: events in, an answer out.

use std::ops::Range;
use std::time::SystemTime;

use super::items::{Items, Place};
use super::lanes::Run;
use super::wire::{Answer, Event, Why};
use crate::dialect::lenient::{Object, is_blank};
use crate::dialect::stencil::{Stencil, place};
use crate::dialect::{Fault, Flow, Frame, Head, StreamDecoder};
use crate::kind::ErrorKind;
use crate::native::{json_text, text};
use crate::openai::classify;
use crate::openai::date::ServerDate;
use crate::openai::decode::read;
use crate::response::{StopReason, Usage};
use crate::sink::Sink;

/// Decodes one stream; a whole answer goes through the same, item by item.
#[derive(Debug)]
pub(super) struct Responses {
    items: Items,
    /// When the reply began, by the server's clock: what dates in its errors are read against.
    date: ServerDate,
    /// Whether a terminal event has come.
    ended: bool,
    /// Whether there was half an error between the events.
    broken: bool,
    /// Deltas of one item.
    stencil: Stencil<Delta>,
}

/// A delta without its words.
#[derive(Clone, Debug)]
struct Delta {
    speech: Speech,
    index: Option<u64>,
    /// Where in the delta the item's id stands.
    id: Option<Range<usize>>,
}

/// What the words of a delta are.
#[derive(Clone, Copy, Debug)]
enum Speech {
    /// Words of a part.
    Words(Run, u64),
    Arguments,
}

impl Speech {
    fn of(kind: &str, event: &Event<'_>) -> Option<Self> {
        let part = event.content_index.0.unwrap_or(0);
        Some(match kind {
            "output_text.delta" => Self::Words(Run::Text, part),
            "refusal.delta" => Self::Words(Run::Refusal, part),
            "reasoning_summary_text.delta" => {
                Self::Words(Run::Summary, event.summary_index.0.unwrap_or(0))
            }
            "reasoning_text.delta" => Self::Words(Run::Thought, part),
            "function_call_arguments.delta" | "custom_tool_call_input.delta" => Self::Arguments,
            _ => return None,
        })
    }

    fn take(
        self,
        items: &mut Items,
        place: Place<'_>,
        words: String,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        match self {
            Self::Words(run, part) => items.words(place, (run, part), words, sink),
            Self::Arguments => items.arguments(place, words, sink),
        }
    }
}

impl Responses {
    pub(super) fn new(head: &Head<'_>, family: &str) -> Self {
        Self {
            items: Items::new(family),
            date: ServerDate::of(head),
            ended: false,
            broken: false,
            stencil: Stencil::default(),
        }
    }

    /// Ends the answer with what its last word says, `status` first.
    pub(super) fn close(
        &mut self,
        answer: &Answer<'_>,
        status: Option<&str>,
        wall: Option<SystemTime>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        self.head(answer, sink);
        let usage = answer.usage.0.map(|cost| cost.usage()).unwrap_or_default();
        sink.usage(usage);
        let error = answer.error.filter(|error| !is_blank(error));
        let fault = match (error, status) {
            (Some(error), _) => Some(classify::in_band(error.get(), wall)),
            (
                None,
                Some(status @ ("failed" | "cancelled" | "canceled" | "in_progress" | "queued")),
            ) => Some(unfinished(status)),
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(priced(fault, sink.usage_so_far()));
        }
        self.items.finish_all(answer.output, sink)?;
        let why = answer.incomplete_details.0.as_ref();
        if self.items.is_empty() && status != Some("incomplete") {
            return Err(priced(Fault::empty_response(), sink.usage_so_far()));
        }
        sink.stop_reason(self.reason(status, why));
        Ok(())
    }

    fn head(&mut self, answer: &Answer<'_>, sink: &mut Sink) {
        let id = answer.id.get().unwrap_or_default();
        sink.id(id);
        self.items.lanes.answer(id);
        sink.model(answer.model.get().unwrap_or_default());
    }

    /// Why the model stopped: there is no word for it, so the status and the items have to say.
    fn reason(&self, status: Option<&str>, why: Option<&Why<'_>>) -> StopReason {
        let reason = match status {
            Some("incomplete") => match why.and_then(|why| why.reason.get()) {
                Some("max_output_tokens" | "max_tokens") => return StopReason::MaxTokens,
                Some("content_filter") => return StopReason::Refusal,
                why => StopReason::Other(why.unwrap_or("incomplete").to_owned()),
            },
            Some("completed") => StopReason::EndTurn,
            other => StopReason::Other(other.unwrap_or_default().to_owned()),
        };
        if self.items.lanes.refused() {
            StopReason::Refusal
        } else if self.items.lanes.called() && status != Some("incomplete") {
            StopReason::ToolUse
        } else {
            reason
        }
    }

    fn event(
        &mut self,
        name: &str,
        data: &str,
        terminated: bool,
        sink: &mut Sink,
    ) -> Result<Flow, Fault> {
        let data = data.trim();
        if name != "error"
            && let Some((delta, words)) = self.stencil.read(data)
        {
            let id = delta.id.map(|at| self.stencil.piece(at));
            let place = Place {
                index: delta.index,
                id,
            };
            delta
                .speech
                .take(&mut self.items, place, words.into(), sink)?;
            return Ok(Flow::More);
        }
        // `[DONE]` is another protocol's mark, which some proxies add. Here it proves nothing.
        if data.is_empty() || data == "[DONE]" {
            return Ok(Flow::Life);
        }
        if !data.starts_with('{') {
            return self.no_object(name, data, terminated);
        }
        let event = match read::<Event<'_>>(data) {
            Ok(event) => event,
            // Cut inside an event: the missing end of the stream tells it better.
            Err(_) if !terminated => return Ok(Flow::More),
            Err(_) if name == "error" => return Err(self.in_band(data, sink)),
            Err(fault) => return Err(fault),
        };
        let kind = event.kind.get().unwrap_or(name);
        let error = event.error.is_some_and(|error| !is_blank(error));
        // Some proxies leave the envelope out, so that the error's own type stands here.
        if error
            || [kind, name].contains(&"error")
            || kind == "response.error"
            || event.object.get() == Some("error")
            || kind.ends_with("_error")
        {
            return Err(self.in_band(data, sink));
        }
        self.known(kind, &event, data, sink)
    }

    fn known(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        data: &str,
        sink: &mut Sink,
    ) -> Result<Flow, Fault> {
        let place = Place {
            index: event.output_index.0,
            id: event.item_id.get(),
        };
        let part = event.content_index.0.unwrap_or(0);
        let summary = event.summary_index.0.unwrap_or(0);
        let items = &mut self.items;
        let kind = kind.strip_prefix("response.").unwrap_or(kind);
        if let Some(speech) = Speech::of(kind, event) {
            let words = match speech {
                Speech::Words(..) => text(event.delta)?,
                Speech::Arguments => json_text(event.delta),
            };
            speech.take(items, place, words, sink)?;
            self.learn(speech, event, data);
            return Ok(Flow::More);
        }
        match kind {
            "output_text.done" => items.whole_words(place, (Run::Text, part), event.text, sink)?,
            "refusal.done" => {
                items.whole_words(place, (Run::Refusal, part), event.refusal, sink)?;
            }
            "reasoning_summary_text.done" => {
                items.whole_words(place, (Run::Summary, summary), event.text, sink)?;
            }
            "reasoning_text.done" => {
                items.whole_words(place, (Run::Thought, part), event.text, sink)?;
            }
            "function_call_arguments.done" | "custom_tool_call_input.done" => {
                items.whole_arguments(place, event.arguments.or(event.input), sink)?;
            }
            "output_item.added" => items.open(place.index, item(event)?, sink)?,
            "output_item.done" => items.finish(place.index, item(event)?, sink)?,
            "created" | "in_progress" | "queued" => {
                if let Some(Object(Some(answer))) = response(event)? {
                    self.head(&answer, sink);
                }
            }
            status @ ("completed" | "incomplete" | "failed" | "cancelled" | "done") => {
                return self.terminal(status, event, sink);
            }
            "ping" | "keepalive" | "keep-alive" | "heartbeat" => return Ok(Flow::Life),
            // The API may add events at any time; clients must skip what they do not know.
            _ => {
                if let Some(fault) = self.unnamed(event, data, sink) {
                    return Err(fault);
                }
            }
        }
        Ok(Flow::More)
    }

    /// Keeps the shape of a delta, so that the next one need not be read as JSON.
    fn learn(&mut self, speech: Speech, event: &Event<'_>, data: &str) {
        let id = event.item_id.get().map(|id| place(data, id));
        // The type has to stand in the data, or the next event's name may change it.
        if let (Some(words), Some(_), None | Some(Some(_))) = (event.delta, event.kind.get(), &id) {
            let index = event.output_index.0;
            let id = id.flatten();
            let unread = [event.sequence_number, event.obfuscation];
            let delta = Delta { speech, index, id };
            self.stencil.learn(data, words, unread, delta);
        }
    }

    /// The last event: the whole answer once more, or as much as the server tells of it.
    fn terminal(
        &mut self,
        status: &str,
        event: &Event<'_>,
        sink: &mut Sink,
    ) -> Result<Flow, Fault> {
        let answer = match response(event)? {
            Some(Object(Some(answer))) => answer,
            _ => Answer::default(),
        };
        // The event's own name says it where the answer does not.
        let by_name = Some(status).filter(|status| *status != "done");
        let wall = self.date.wall();
        let own = answer.status.get();
        let status = match (own, by_name) {
            // A failure is one, whatever stands beside it.
            (_, Some(status @ ("failed" | "incomplete" | "cancelled"))) => Some(status),
            (Some("in_progress" | "queued") | None, by_name) => by_name,
            (own, _) => own,
        };
        // Some proxies put the counts beside the answer.
        if let Some(cost) = event.usage.0 {
            sink.usage(cost.usage());
        }
        self.close(&answer, status, wall, sink)?;
        self.ended = true;
        Ok(Flow::Done)
    }

    /// An event without a type that may be an error all the same.
    fn unnamed(&self, event: &Event<'_>, data: &str, sink: &Sink) -> Option<Fault> {
        if event.kind.get().is_some() {
            return None;
        }
        let fault = classify::flat(data, self.date.wall())?;
        Some(priced(fault, sink.usage_so_far()))
    }

    /// An event that is no JSON object: an error in a list, a text, or something cut.
    fn no_object(&self, name: &str, data: &str, terminated: bool) -> Result<Flow, Fault> {
        if let Some(fault) = classify::flat(data, self.date.wall()) {
            return Err(fault);
        }
        match read::<serde::de::IgnoredAny>(data) {
            Err(_) if !terminated => Ok(Flow::More),
            _ if name == "error" => Err(classify::in_band(data, self.date.wall())),
            Err(fault) => Err(fault),
            Ok(_) => Err(Fault::decode("a stream event is JSON, but not an object")),
        }
    }

    /// Bytes that are no field of an event: mostly an error somebody wrote there as it was.
    fn stray(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<Flow, Fault> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        let is_json = text.starts_with(['{', '['])
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if is_json {
            return self.event("message", text, true, sink);
        }
        if text.starts_with('<') {
            return Err(Fault::decode("a page in the middle of a stream"));
        }
        // Half an error must not pass for the end of a whole answer.
        self.broken |= text.starts_with(['{', '[']);
        let what = "held bytes that belong to no event";
        self.items.lanes.warn("stream", what, sink);
        Ok(Flow::More)
    }

    fn in_band(&self, data: &str, sink: &Sink) -> Fault {
        let fault = classify::in_band(data, self.date.wall());
        priced(fault, sink.usage_so_far())
    }
}

impl StreamDecoder for Responses {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        match frame {
            Frame::Event {
                name,
                data,
                terminated,
            } => self.event(name, data, terminated, sink),
            Frame::Json { data, terminated } => match str::from_utf8(data) {
                Ok(text) => self.event("message", text, terminated, sink),
                Err(_) => Err(Fault::decode("a stream event is not UTF-8")),
            },
            Frame::Stray(bytes) => self.stray(bytes, sink),
        }
    }

    fn is_whole(&self) -> bool {
        self.ended && !self.broken
    }

    fn end(&mut self, _: &mut Sink) -> Result<(), Fault> {
        Ok(())
    }
}

/// The answer an event carries.
fn response<'a>(event: &Event<'a>) -> Result<Option<Object<Answer<'a>>>, Fault> {
    event.response.map(|raw| read(raw.get())).transpose()
}

fn item<'a>(event: &Event<'a>) -> Result<&'a serde_json::value::RawValue, Fault> {
    let item = event.item;
    item.ok_or_else(|| Fault::decode("an item begins or ends without an item"))
}

/// An answer that came to nothing, and nobody says why.
fn unfinished(status: &str) -> Fault {
    let message = match status {
        "failed" => "the provider failed the answer",
        "cancelled" | "canceled" => "the answer was cancelled at the provider",
        _ => "the answer is not finished",
    };
    Fault::new(ErrorKind::Server)
        .with_code(status)
        .with_message(message)
}

/// A failure may be billed as well.
fn priced(fault: Fault, usage: Usage) -> Fault {
    if usage == Usage::default() {
        fault
    } else {
        fault.with_usage(usage)
    }
}
