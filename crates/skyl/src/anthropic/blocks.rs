//! The blocks of an answer, put together from their pieces.
//!
//! Blocks are told apart by their index and may interleave. A call can be written to at any time,
//! but text and reasoning only at the end of the answer; so while a block of those is open, what
//! comes for later blocks is held back until it closes. Servers that send one block after the
//! other, as all known ones do, never make it hold anything.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::NAME;
use super::wire::{Content, Delta, State};
use crate::dialect::Fault;
use crate::dialect::lenient::{Object, is_blank};
use crate::message::OpaqueState;
use crate::native::{Ids, Told, json_text, text};
use crate::sink::Sink;

/// The blocks of one answer.
#[derive(Default)]
pub(super) struct Blocks {
    /// Blocks that are not finished, in the order they began.
    open: Vec<Block>,
    pub(super) ids: Ids,
    pub(super) told: Told,
    /// Whether the last part is reasoning that no signature has closed.
    unsigned: bool,
    has_text: bool,
    has_content: bool,
}

struct Block {
    index: u64,
    kind: Kind,
    /// What has come for it before its turn.
    held: Vec<Piece>,
    /// Whether it has its turn, so that it may be written to.
    begun: bool,
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
        /// Where the call stands in the sink, once it has begun.
        call: usize,
        /// What the start of the block carried; streamed input replaces it.
        input: String,
    },
    /// A block skyl has no part for, and the input streamed to it.
    Other {
        raw: Box<RawValue>,
        input: String,
    },
}

/// What a block is made of.
pub(super) enum Piece {
    Text(String),
    Thinking(String),
    Signature(String),
    Json(String),
}

impl Blocks {
    /// Opens a block; one that is still open under the same index ends here.
    ///
    /// # Errors
    /// `Decode` for what is no block, and for more open blocks than any answer has.
    pub(super) fn open(
        &mut self,
        index: Option<u64>,
        block: &RawValue,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let Ok(Object(Some(content))) = serde_json::from_str::<Object<Content<'_>>>(block.get())
        else {
            return Err(Fault::decode("a block of the answer cannot be read"));
        };
        if index.is_some() && self.find(index).is_some() {
            self.close(index, sink);
        }
        let mut held = Vec::new();
        let kind = match content.kind.get().unwrap_or("text") {
            "text" => {
                held.push(Piece::Text(text(content.text)?));
                if content.citations.is_some_and(|list| !is_blank(list)) {
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
                    self.told
                        .warn(sink, other, "is kept, but has no part of its own");
                }
                Kind::Other {
                    raw: block.to_owned(),
                    input: String::new(),
                }
            }
        };
        self.push(index, kind, held, sink)
    }

    /// Adds what an event holds to a block; without an index, to the last one.
    ///
    /// # Errors
    /// `Decode` where the piece is no text, and as [`Blocks::open`].
    pub(super) fn delta(
        &mut self,
        index: Option<u64>,
        delta: &Delta<'_>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
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
        self.piece(index, piece, sink)
    }

    /// Adds a piece to a block; without an index, to the last one.
    ///
    /// # Errors
    /// As [`Blocks::open`].
    pub(super) fn piece(
        &mut self,
        index: Option<u64>,
        piece: Piece,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let Some(at) = self.find(index) else {
            return self.orphan(index, piece, sink);
        };
        if self.open[at].begun {
            self.write(at, piece, sink);
        } else {
            self.open[at].held.push(piece);
        }
        Ok(())
    }

    /// Closes a block; without an index, the last one.
    pub(super) fn close(&mut self, index: Option<u64>, sink: &mut Sink) {
        if let Some(at) = self.find(index) {
            self.open[at].closed = true;
            self.advance(sink);
        }
    }

    /// Closes every block, in order.
    pub(super) fn close_all(&mut self, sink: &mut Sink) {
        for block in &mut self.open {
            block.closed = true;
        }
        self.advance(sink);
    }

    /// Adds words to the answer; empty ones are nothing.
    pub(super) fn words(&mut self, words: String, sink: &mut Sink) {
        if !words.is_empty() {
            sink.text(words);
            self.has_text = true;
            self.has_content = true;
            self.unsigned = false;
        }
    }

    /// Whether there are words: a refusal without any is an error.
    pub(super) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Whether there is anything at all.
    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    /// A delta whose block never started: some proxies leave the starts out.
    fn orphan(&mut self, index: Option<u64>, piece: Piece, sink: &mut Sink) -> Result<(), Fault> {
        let kind = match &piece {
            Piece::Text(_) => Kind::Text,
            Piece::Thinking(_) | Piece::Signature(_) => Kind::Thinking {
                signature: String::new(),
            },
            Piece::Json(_) => {
                // A call without a name cannot be run.
                self.told.warn(
                    sink,
                    "input_json_delta",
                    "belongs to no block and is left out",
                );
                return Ok(());
            }
        };
        self.push(index, kind, vec![piece], sink)
    }

    fn push(
        &mut self,
        index: Option<u64>,
        kind: Kind,
        held: Vec<Piece>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        if self.open.len() >= MAX_OPEN {
            return Err(Fault::decode("too many blocks are open at once"));
        }
        let next = || {
            self.open
                .last()
                .map_or(0, |block| block.index.saturating_add(1))
        };
        let index = index.unwrap_or_else(next);
        self.open.push(Block {
            index,
            kind,
            held,
            begun: false,
            closed: false,
        });
        self.advance(sink);
        Ok(())
    }

    /// The last block of that index that is not closed.
    fn find(&self, index: Option<u64>) -> Option<usize> {
        self.open
            .iter()
            .rposition(|block| !block.closed && index.is_none_or(|index| block.index == index))
    }

    /// Writes what has its turn and takes out the blocks that are finished.
    fn advance(&mut self, sink: &mut Sink) {
        let mut at = 0;
        while at < self.open.len() {
            if !self.open[at].begun {
                self.open[at].begun = true;
                self.begin(at, sink);
            }
            for piece in std::mem::take(&mut self.open[at].held) {
                self.write(at, piece, sink);
            }
            if self.open[at].closed {
                let block = self.open.remove(at);
                self.conclude(block.kind, sink);
            } else if matches!(self.open[at].kind, Kind::Tool { .. }) {
                at += 1;
            } else {
                return;
            }
        }
    }

    fn begin(&mut self, at: usize, sink: &mut Sink) {
        match &mut self.open[at].kind {
            Kind::Text | Kind::Other { .. } => {}
            Kind::Thinking { .. } => self.seal(sink),
            Kind::Tool { id, name, call, .. } => {
                let (unique, repeated) = self.ids.settle(id, name);
                *call = sink.tool_start(unique, std::mem::take(name), None);
                if repeated {
                    self.told.warn(
                        sink,
                        "tool_use",
                        "has ids that repeat; they are made unique",
                    );
                }
                self.unsigned = false;
                self.has_content = true;
            }
        }
    }

    fn write(&mut self, at: usize, piece: Piece, sink: &mut Sink) {
        match (piece, &mut self.open[at].kind) {
            (Piece::Text(text), Kind::Text) => self.words(text, sink),
            (Piece::Thinking(text), Kind::Thinking { .. }) if !text.is_empty() => {
                sink.reasoning(text);
                self.has_content = true;
                self.unsigned = true;
            }
            (Piece::Signature(more), Kind::Thinking { signature }) => signature.push_str(&more),
            (Piece::Json(json), Kind::Tool { call, input, .. }) if !json.is_empty() => {
                input.clear();
                sink.tool_arguments(*call, json);
            }
            (Piece::Json(json), Kind::Other { input, .. }) => input.push_str(&json),
            // A piece for another kind of block has nothing to add to.
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
                self.has_content = true;
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
            self.has_content = true;
        }
        self.unsigned = false;
    }

    fn warn_citations(&mut self, sink: &mut Sink) {
        self.told.warn(
            sink,
            "citations",
            "are not carried over; the raw answer has them",
        );
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

/// Far more blocks than an answer has at once, and few enough to look through for every piece.
const MAX_OPEN: usize = 1_024;
