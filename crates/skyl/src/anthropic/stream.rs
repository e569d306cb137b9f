//! From the events of a stream to an answer.

use serde::de::IgnoredAny;

use super::blocks::{Blocks, Piece};
use super::wire::{Event, Speech, StopDetails};
use super::{classify, wire};
use crate::dialect::lenient::{Object, Scalar, is_blank};
use crate::dialect::stencil::Stencil;
use crate::dialect::{Fault, Flow, Frame, StreamDecoder};
use crate::kind::ErrorKind;
use crate::response::{StopReason, Usage};
use crate::sink::Sink;

/// Decodes one stream; a whole answer goes through the same, block by block.
#[derive(Default)]
pub(super) struct Decoder {
    pub(super) blocks: Blocks,
    usage: wire::Usage,
    /// The words and the category of a refusal; empty where the provider gives none.
    refusal: [String; 2],
    stop: Option<StopReason>,
    stopped: bool,
    /// Whether there was half an error between the events.
    broken: bool,
    /// Deltas of a block of this index.
    stencil: Stencil<(Option<u64>, Speech)>,
}

impl StreamDecoder for Decoder {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        match frame {
            Frame::Event {
                name,
                data,
                terminated,
            } => self.event(name, data, terminated, sink),
            Frame::Json { data, terminated } => match std::str::from_utf8(data) {
                Ok(data) => self.event("message", data, terminated, sink),
                Err(_) => Err(Fault::decode("an event is not UTF-8")),
            },
            Frame::Stray(bytes) => self.stray(bytes, sink),
        }
    }

    fn is_whole(&self) -> bool {
        self.stopped && !self.broken
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
    ) -> Result<Flow, Fault> {
        let data = data.trim();
        // `[DONE]` is another protocol's mark, which some proxies add. Here it proves nothing.
        if data.is_empty() || data == "[DONE]" {
            return Ok(Flow::More);
        }
        if name != "error"
            && let Some(((index, speech), words)) = self.stencil.read(data)
        {
            let words = words.into_owned();
            let piece = match speech {
                Speech::Text => Piece::Text(words),
                Speech::Thinking => Piece::Thinking(words),
                Speech::Json => Piece::Json(words),
            };
            self.blocks.piece(index, piece, sink)?;
            return Ok(Flow::More);
        }
        let Ok(Object(Some(event))) = serde_json::from_str::<Object<Event<'_>>>(data) else {
            return match classify::in_band(data.as_bytes()) {
                Some(fault) => Err(self.failed(fault)),
                // Cut inside an event: the missing end of the stream tells it better.
                None if !terminated => Ok(Flow::More),
                None if name == "error" => Err(self.failed(classify::error_event(data))),
                None => Err(Fault::decode("an event of the stream cannot be read")),
            };
        };
        let kind = event.kind.get().unwrap_or(name);
        // Some proxies leave the envelope out, so that the error's own type stands here.
        let is_error = kind == "error" || name == "error" || kind.ends_with("_error");
        if is_error || event.error.is_some_and(|error| !is_blank(error)) {
            return Err(self.failed(classify::error_event(data)));
        }
        match kind {
            "message_start" => {
                if let Some(message) = event.message.0 {
                    self.head(&message.id, &message.model, sink);
                    self.usage(message.usage.0, sink);
                }
                self.usage(event.usage.0, sink);
            }
            "content_block_start" => {
                let Some(block) = event.content_block else {
                    return Err(Fault::decode("a block starts without a block"));
                };
                self.blocks.open(event.index.0, block, sink)?;
            }
            "content_block_delta" => {
                if let Some(delta) = &event.delta.0 {
                    self.blocks.delta(event.index.0, delta, sink)?;
                    // The kind has to stand in the data, or the next event's name may change it.
                    if event.kind.get().is_some()
                        && let Some((words, speech)) = delta.words()
                    {
                        let meaning = (event.index.0, speech);
                        self.stencil.learn(data, words, [], meaning);
                    }
                }
            }
            "content_block_stop" => self.blocks.close(event.index.0, sink),
            "message_delta" => {
                self.usage(event.usage.0, sink);
                if let Some(delta) = event.delta.0 {
                    self.stop(&delta.stop_reason, delta.stop_details.0.as_ref(), sink);
                }
            }
            "message_stop" => {
                self.stopped = true;
                self.usage(event.usage.0, sink);
                self.blocks.close_all(sink);
                return Ok(Flow::Done);
            }
            "ping" => return Ok(Flow::Life),
            // The API may add events at any time; clients must skip what they do not know.
            _ => {
                if let Some(fault) = classify::in_band(data.as_bytes()) {
                    return Err(self.failed(fault));
                }
            }
        }
        Ok(Flow::More)
    }

    /// Bytes between events: an error, an event that lost its `data:`, or a broken stream.
    fn stray(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<Flow, Fault> {
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
            return self.event("message", text, true, sink);
        }
        // Half an error must not pass for the end of a whole answer.
        self.broken |= text.starts_with(['{', '[']);
        self.blocks
            .told
            .warn(sink, "stream", "held bytes that belong to no event");
        Ok(Flow::More)
    }

    /// A failure, with what the answer has cost so far.
    fn failed(&self, fault: Fault) -> Fault {
        let usage = self.total();
        if usage == Usage::default() {
            fault
        } else {
            fault.with_usage(usage)
        }
    }

    /// Takes the answer's id and model.
    pub(super) fn head(&mut self, id: &Scalar<'_>, model: &Scalar<'_>, sink: &mut Sink) {
        let id = id.get().unwrap_or_default();
        sink.id(id);
        self.blocks.ids.answer(id);
        sink.model(model.get().unwrap_or_default());
    }

    /// Takes running totals: they replace what was known, and null replaces nothing.
    pub(super) fn usage(&mut self, later: Option<wire::Usage>, sink: &mut Sink) {
        let Some(later) = later else { return };
        let known = &mut self.usage;
        for (slot, value) in [
            (&mut known.input_tokens, later.input_tokens),
            (
                &mut known.cache_read_input_tokens,
                later.cache_read_input_tokens,
            ),
            (
                &mut known.cache_creation_input_tokens,
                later.cache_written(),
            ),
            (&mut known.output_tokens, later.output_tokens),
        ] {
            slot.0 = value.0.or(slot.0);
        }
        if later
            .output_tokens_details
            .0
            .is_some_and(|details| details.thinking_tokens.0.is_some())
        {
            known.output_tokens_details = later.output_tokens_details;
        }
        sink.usage(self.total());
    }

    /// The usage as skyl counts: the input includes what the cache took part in.
    fn total(&self) -> Usage {
        let usage = self.usage;
        let input = [
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
        ];
        let details = usage.output_tokens_details.0;
        Usage {
            input_tokens: input
                .into_iter()
                .filter_map(|count| count.0)
                .reduce(u64::saturating_add),
            output_tokens: usage.output_tokens.0,
            cache_read_tokens: usage.cache_read_input_tokens.0,
            cache_write_tokens: usage.cache_creation_input_tokens.0,
            reasoning_tokens: details.and_then(|details| details.thinking_tokens.0),
        }
    }

    /// Takes the stop reason; null says nothing.
    pub(super) fn stop(
        &mut self,
        reason: &Scalar<'_>,
        details: Option<&StopDetails<'_>>,
        sink: &mut Sink,
    ) {
        let Some(reason) = reason.get() else { return };
        let reason = match reason {
            "end_turn" => StopReason::EndTurn,
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "tool_use" => StopReason::ToolUse,
            "stop_sequence" => StopReason::StopSequence,
            "refusal" => StopReason::Refusal,
            "pause_turn" => StopReason::Pause,
            other => StopReason::Other(other.to_owned()),
        };
        if let Some(details) = details {
            self.refusal = [&details.explanation, &details.category]
                .map(|word| word.get().unwrap_or_default().to_owned());
        }
        self.stop = Some(reason.clone());
        sink.stop_reason(reason);
    }

    /// Ends a whole answer.
    pub(super) fn whole(&mut self, sink: &mut Sink) -> Result<(), Fault> {
        self.blocks.close_all(sink);
        let [words, category] = std::mem::take(&mut self.refusal);
        match self.stop {
            // A call is something to act on, as a text is.
            Some(StopReason::Refusal) if !self.blocks.has_text() && sink.tool_count() == 0 => {
                let fault = Fault::new(ErrorKind::Refusal).with_message(words);
                Err(self.failed(match category.as_str() {
                    "" => fault,
                    category => fault.with_code(category),
                }))
            }
            Some(StopReason::Refusal) => {
                sink.refusal(words);
                Ok(())
            }
            None if !self.blocks.has_content() => Err(self.failed(Fault::empty_response())),
            // Proxies that leave the reason out still want their calls run.
            None if sink.tool_count() > 0 => {
                sink.stop_reason(StopReason::ToolUse);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
