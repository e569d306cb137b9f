//! From the events of a stream to an answer.
//!
//! Blocks are told apart by their index and may interleave. A call can be written to at any time,
//! but text and reasoning only at the end of the answer; so while a block of those is open, what
//! comes for later blocks is held back until it closes. Servers that send one block after the
//! other, as all known ones do, never make it hold anything.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::wire::{Content, Delta, Event, State, StopDetails};
use super::{NAME, classify, wire};
use crate::dialect::lenient::{Object, Scalar, is_blank};
use crate::dialect::{Fault, Flow, Frame, StreamDecoder};
use crate::kind::ErrorKind;
use crate::message::OpaqueState;
use crate::native::{json_text, text};
use crate::response::{StopReason, Usage, Warning};
use crate::sink::Sink;

/// Decodes one stream, or the blocks of one whole answer.
#[derive(Default)]
pub(super) struct Decoder {
    /// Blocks that are not finished, in the order they began.
    blocks: Vec<Block>,
    usage: wire::Usage,
    ids: HashSet<String>,
    warned: Vec<String>,
    /// The words and the category of a refusal; empty where the provider gives none.
    refusal: [String; 2],
    stop: Option<StopReason>,
    /// Whether words have been handed out: a refusal without any is an error.
    text: bool,
    /// Whether the last part is reasoning that no signature has closed.
    unsigned: bool,
    content: bool,
    broken: bool,
    stopped: bool,
}

struct Block {
    index: u64,
    kind: Kind,
    /// What has come for it before its turn.
    held: Vec<Piece>,
    started: bool,
    closed: bool,
}

enum Kind {
    Text,
    Thinking {
        signature: String,
    },
    Tool {
        id: String,
        name: String,
        call: usize,
        input: String,
    },
    /// A block skyl has no part for, and the input streamed to it.
    Other {
        raw: Box<RawValue>,
        input: String,
    },
}

enum Piece {
    Text(String),
    Thinking(String),
    Signature(String),
    Json(String),
}

impl StreamDecoder for Decoder {
    fn frame(&mut self, frame: Frame<'_>, sink: &mut Sink) -> Result<Flow, Fault> {
        match frame {
            Frame::Event {
                name,
                data,
                terminated,
            } => self.event(name, data, terminated, sink),
            Frame::Json(bytes) => match std::str::from_utf8(bytes) {
                Ok(data) => self.event("message", data, true, sink),
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
        let Ok(Object(Some(event))) = serde_json::from_str::<Object<Event<'_>>>(data) else {
            if !terminated {
                // Cut inside an event: the missing end of the stream tells it better.
                return Ok(Flow::More);
            }
            return Err(match classify::in_band(data.as_bytes()) {
                Some(fault) => self.failed(fault),
                None if name == "error" => self.failed(classify::error_event(data)),
                None => Fault::decode("an event of the stream cannot be read"),
            });
        };
        let kind = event.kind.get().unwrap_or(name);
        if kind == "error" || event.error.is_some_and(|error| !is_blank(error)) {
            return Err(self.failed(classify::error_event(data)));
        }
        match kind {
            "message_start" => {
                if let Some(message) = event.message.0 {
                    self.head(&message.id, &message.model, sink);
                    self.usage(message.usage.0, sink);
                }
            }
            "content_block_start" => {
                let Some(block) = event.content_block else {
                    return Err(Fault::decode("a block starts without a block"));
                };
                self.open(event.index.0, block, sink)?;
            }
            "content_block_delta" => self.delta(event.index.0, &event.delta, sink)?,
            "content_block_stop" => self.close(event.index.0, sink),
            "message_delta" => {
                self.usage(event.usage.0, sink);
                if let Some(delta) = event.delta.0 {
                    self.stop(&delta.stop_reason, delta.stop_details.0.as_ref(), sink);
                }
            }
            "message_stop" => {
                self.stopped = true;
                self.finish(sink);
                return Ok(Flow::Done);
            }
            "ping" => return Ok(Flow::Life),
            // The API may add events at any time; clients must skip what they do not know.
            _ => {}
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
        self.warn(sink, "stream", "held bytes that belong to no event");
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
        sink.id(id.get().unwrap_or_default());
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
                later.cache_creation_input_tokens,
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
        let mut total = Usage::default();
        total.input_tokens = input
            .into_iter()
            .filter_map(|count| count.0)
            .reduce(u64::saturating_add);
        total.output_tokens = usage.output_tokens.0;
        total.cache_read_tokens = usage.cache_read_input_tokens.0;
        total.cache_write_tokens = usage.cache_creation_input_tokens.0;
        total.reasoning_tokens = usage
            .output_tokens_details
            .0
            .and_then(|details| details.thinking_tokens.0);
        total
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

    /// Opens a block; one that is still open under the same index ends here.
    pub(super) fn open(
        &mut self,
        index: Option<u64>,
        block: &RawValue,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let index = index.unwrap_or_else(|| self.next_index());
        if self
            .blocks
            .iter()
            .any(|open| open.index == index && !open.closed)
        {
            self.close(Some(index), sink);
        }
        let Ok(Object(Some(content))) = serde_json::from_str::<Object<Content<'_>>>(block.get())
        else {
            return Err(Fault::decode("a block of the answer cannot be read"));
        };
        let mut held = Vec::new();
        let kind = match content.kind.get().unwrap_or("text") {
            "text" => {
                held.push(Piece::Text(text(content.text)?));
                if content
                    .citations
                    .is_some_and(|citations| !is_blank(citations))
                {
                    self.warn_citations(sink);
                }
                Kind::Text
            }
            "thinking" => {
                held.push(Piece::Thinking(text(content.thinking)?));
                Kind::Thinking {
                    signature: text(content.signature)?,
                }
            }
            "tool_use" => Kind::Tool {
                id: content.id.get().unwrap_or_default().to_owned(),
                name: content.name.get().unwrap_or_default().to_owned(),
                call: 0,
                input: json_text(content.input),
            },
            other => {
                if other != "redacted_thinking" {
                    self.warn(sink, other, "is kept, but has no part of its own");
                }
                Kind::Other {
                    raw: block.to_owned(),
                    input: String::new(),
                }
            }
        };
        self.blocks.push(Block {
            index,
            kind,
            held,
            started: false,
            closed: false,
        });
        self.advance(sink);
        Ok(())
    }

    fn delta(
        &mut self,
        index: Option<u64>,
        delta: &Object<Delta<'_>>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let Some(delta) = &delta.0 else { return Ok(()) };
        let piece = match delta.kind.get().unwrap_or_default() {
            "text_delta" => Piece::Text(text(delta.text)?),
            "thinking_delta" => Piece::Thinking(text(delta.thinking)?),
            "signature_delta" => Piece::Signature(text(delta.signature)?),
            "input_json_delta" => Piece::Json(json_text(delta.partial_json)),
            "citations_delta" => {
                self.warn_citations(sink);
                return Ok(());
            }
            // Proxies that lose the type leave the field.
            "" if delta.text.is_some() => Piece::Text(text(delta.text)?),
            "" if delta.partial_json.is_some() => Piece::Json(json_text(delta.partial_json)),
            _ => return Ok(()),
        };
        let at = self
            .blocks
            .iter()
            .rposition(|block| !block.closed && index.is_none_or(|index| block.index == index));
        match at {
            Some(at) if self.has_turn(at) => self.write(at, piece, sink),
            Some(at) => self.blocks[at].held.push(piece),
            None => self.orphan(index, piece, sink),
        }
        Ok(())
    }

    /// A delta whose block never started: some proxies leave the starts out.
    fn orphan(&mut self, index: Option<u64>, piece: Piece, sink: &mut Sink) {
        let kind = match &piece {
            Piece::Text(_) => Kind::Text,
            Piece::Thinking(_) | Piece::Signature(_) => Kind::Thinking {
                signature: String::new(),
            },
            // A call without a name cannot be run.
            Piece::Json(_) => {
                self.warn(
                    sink,
                    "input_json_delta",
                    "belongs to no block and is left out",
                );
                return;
            }
        };
        let index = index.unwrap_or_else(|| self.next_index());
        let held = vec![piece];
        self.blocks.push(Block {
            index,
            kind,
            held,
            started: false,
            closed: false,
        });
        self.advance(sink);
    }

    /// Closes a block; without an index, the last one.
    pub(super) fn close(&mut self, index: Option<u64>, sink: &mut Sink) {
        let open = self
            .blocks
            .iter_mut()
            .rfind(|block| !block.closed && index.is_none_or(|index| block.index == index));
        if let Some(block) = open {
            block.closed = true;
        }
        self.advance(sink);
    }

    /// Writes what has its turn and takes finished blocks off the front.
    fn advance(&mut self, sink: &mut Sink) {
        let mut at = 0;
        while at < self.blocks.len() {
            if !self.blocks[at].started {
                self.blocks[at].started = true;
                self.begin(at, sink);
            }
            for piece in std::mem::take(&mut self.blocks[at].held) {
                self.write(at, piece, sink);
            }
            if self.blocks[at].closed {
                let block = self.blocks.remove(at);
                self.conclude(block.kind, sink);
            } else if matches!(self.blocks[at].kind, Kind::Tool { .. }) {
                at += 1;
            } else {
                return;
            }
        }
    }

    /// Whether a block may be written to now.
    fn has_turn(&self, at: usize) -> bool {
        self.blocks[at].started
    }

    fn begin(&mut self, at: usize, sink: &mut Sink) {
        match &mut self.blocks[at].kind {
            Kind::Text | Kind::Other { .. } => {}
            Kind::Thinking { .. } => self.seal(sink),
            Kind::Tool { id, name, call, .. } => {
                let number = sink.tool_count();
                let id = std::mem::take(id);
                let unique = if id.is_empty() || self.ids.contains(&id) {
                    if !id.is_empty() {
                        sink.warn(Warning::new(
                            "tool_calls",
                            "a repeated call id is made unique",
                        ));
                    }
                    // A number no other call of this answer has; the id of the first, so that
                    // calls of other answers are unlikely to share it.
                    format!("{}_{number}", if id.is_empty() { "call" } else { &id })
                } else {
                    id
                };
                *call = sink.tool_start(unique.as_str(), std::mem::take(name), None);
                self.ids.insert(unique);
                self.unsigned = false;
                self.content = true;
            }
        }
    }

    /// Adds words to the answer; empty ones are nothing.
    pub(super) fn words(&mut self, words: String, sink: &mut Sink) {
        if !words.is_empty() {
            sink.text(words);
            self.text = true;
            self.content = true;
            self.unsigned = false;
        }
    }

    fn write(&mut self, at: usize, piece: Piece, sink: &mut Sink) {
        match (piece, &mut self.blocks[at].kind) {
            (Piece::Text(text), Kind::Text) => self.words(text, sink),
            (Piece::Thinking(text), Kind::Thinking { .. }) if !text.is_empty() => {
                sink.reasoning(text);
                self.content = true;
                self.unsigned = true;
            }
            (Piece::Signature(more), Kind::Thinking { signature }) => signature.push_str(&more),
            (Piece::Json(json), Kind::Tool { call, input, .. }) if !json.is_empty() => {
                // Streamed input replaces what the start carried, which is `{}` by the book.
                input.clear();
                sink.tool_arguments(*call, json);
            }
            (Piece::Json(json), Kind::Other { input, .. }) => input.push_str(&json),
            // A delta of another kind of block has nothing to add to.
            _ => {}
        }
    }

    fn conclude(&mut self, kind: Kind, sink: &mut Sink) {
        match kind {
            Kind::Text => {}
            Kind::Thinking { signature } => {
                if !signature.is_empty() {
                    self.sign(Some(signature), sink);
                }
            }
            Kind::Tool { call, input, .. } => {
                sink.tool_arguments(call, input);
                sink.tool_end(call);
            }
            Kind::Other { raw, input } => {
                self.seal(sink);
                sink.reasoning_state(OpaqueState::new(NAME, with_input(raw, &input)));
                self.content = true;
            }
        }
    }

    /// Closes reasoning that has no signature, so that what follows does not become its own.
    fn seal(&mut self, sink: &mut Sink) {
        if self.unsigned {
            self.sign(None, sink);
        }
    }

    fn sign(&mut self, signature: Option<String>, sink: &mut Sink) {
        let state = State {
            kind: "thinking".to_owned(),
            signature,
        };
        if let Ok(json) = serde_json::value::to_raw_value(&state) {
            sink.reasoning_state(OpaqueState::new(NAME, json));
            self.content = true;
        }
        self.unsigned = false;
    }

    /// Finishes every block, in order.
    fn finish(&mut self, sink: &mut Sink) {
        for block in &mut self.blocks {
            block.closed = true;
        }
        self.advance(sink);
    }

    /// Ends a whole answer.
    pub(super) fn whole(&mut self, sink: &mut Sink) -> Result<(), Fault> {
        self.finish(sink);
        let [words, category] = std::mem::take(&mut self.refusal);
        match self.stop {
            Some(StopReason::Refusal) if !self.text => {
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
            None if !self.content => Err(self.failed(Fault::empty_response())),
            _ => Ok(()),
        }
    }

    fn next_index(&self) -> u64 {
        self.blocks
            .last()
            .map_or(0, |block| block.index.saturating_add(1))
    }

    fn warn_citations(&mut self, sink: &mut Sink) {
        self.warn(
            sink,
            "citations",
            "are not carried over; the raw answer has them",
        );
    }

    /// Warns once per subject.
    fn warn(&mut self, sink: &mut Sink, subject: &str, what: &str) {
        if !self.warned.iter().any(|known| known == subject) && self.warned.len() < MAX_WARNINGS {
            self.warned.push(subject.to_owned());
            sink.warn(Warning::new("content", format!("`{subject}` {what}")));
        }
    }
}

/// A block with the input that was streamed to it; untouched where that is no JSON.
fn with_input(raw: Box<RawValue>, input: &str) -> Box<RawValue> {
    let merged = || -> Option<Box<RawValue>> {
        let mut block: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
        block.insert("input".to_owned(), serde_json::from_str(input).ok()?);
        serde_json::value::to_raw_value(&block).ok()
    };
    if input.is_empty() {
        raw
    } else {
        merged().unwrap_or(raw)
    }
}

/// How many kinds of oddity are warned about; a server could make up names without end.
const MAX_WARNINGS: usize = 16;
