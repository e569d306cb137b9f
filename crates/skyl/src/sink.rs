//! Where a stream's decoder puts what it reads.
//!
//! One place assembles answers for every dialect: it queues the events the caller sees and builds,
//! from the same calls, the answer that `complete` would have given. So `collect` and `complete`
//! cannot drift apart, and text that has been queued is never copied again for the answer's sake
//! more than once.

use std::collections::VecDeque;

use crate::dialect::Decoded;
use crate::message::{self, OpaqueState, Part, Reasoning, Text, ToolCall};
use crate::response::{StopReason, StreamEvent, Usage, Warning};

/// Collects a stream's answer and queues its events.
#[derive(Debug, Default)]
pub struct Sink {
    queue: VecDeque<StreamEvent>,
    answer: Answer,
}

/// What has been assembled so far.
#[derive(Debug, Default)]
struct Answer {
    id: Option<String>,
    model: Option<String>,
    request_id: Option<String>,
    parts: Vec<Part>,
    /// Calls in the order they began; `part` is where the call stands in `parts`.
    calls: Vec<Call>,
    refusal: Option<String>,
    stop_reason: Option<StopReason>,
    usage: Usage,
    warnings: Vec<Warning>,
    content: bool,
}

#[derive(Debug)]
struct Call {
    part: usize,
    closed: bool,
}

impl Sink {
    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// More text; empty pieces are nothing.
    pub fn text(&mut self, piece: impl Into<String>) {
        let piece = piece.into();
        if piece.is_empty() {
            return;
        }
        match self.answer.parts.last_mut() {
            Some(Part::Text(text)) if text.state.is_none() => text.text.push_str(&piece),
            _ => self.answer.parts.push(Part::text(piece.as_str())),
        }
        self.push(StreamEvent::Text(piece));
    }

    /// More reasoning; empty pieces are nothing.
    pub fn reasoning(&mut self, piece: impl Into<String>) {
        let piece = piece.into();
        if piece.is_empty() {
            return;
        }
        match self.answer.parts.last_mut() {
            Some(Part::Reasoning(reasoning)) if reasoning.state.is_none() => {
                reasoning.text.push_str(&piece);
            }
            _ => self
                .answer
                .parts
                .push(Part::Reasoning(Reasoning::new(piece.as_str(), None))),
        }
        self.push(StreamEvent::Reasoning(piece));
    }

    /// Opaque state of the reasoning that came last.
    ///
    /// Makes a part of its own where there is none.
    pub fn reasoning_state(&mut self, state: OpaqueState) {
        match self.answer.parts.last_mut() {
            Some(Part::Reasoning(reasoning)) if reasoning.state.is_none() => {
                reasoning.state = Some(state);
            }
            _ => self
                .answer
                .parts
                .push(Part::Reasoning(Reasoning::new("", Some(state)))),
        }
    }

    /// Opaque state of the turn's reasoning as a whole, which may come after its text.
    pub(crate) fn keep_with_reasoning(&mut self, state: OpaqueState) {
        message::keep_with_reasoning(&mut self.answer.parts, state);
    }

    /// Opaque state of the text that came last.
    ///
    /// Makes an empty text part where there is none.
    pub fn text_state(&mut self, state: OpaqueState) {
        match self.answer.parts.last_mut() {
            Some(Part::Text(text)) if text.state.is_none() => text.state = Some(state),
            _ => self
                .answer
                .parts
                .push(Part::Text(Text::with_state("", Some(state)))),
        }
    }

    /// More of a refusal; empty pieces are nothing.
    pub fn refusal(&mut self, piece: impl Into<String>) {
        let piece = piece.into();
        if piece.is_empty() {
            return;
        }
        self.answer
            .refusal
            .get_or_insert_with(String::new)
            .push_str(&piece);
        self.push(StreamEvent::Refusal(piece));
    }

    /// A tool call begins; gives the index its pieces go by.
    pub fn tool_start(
        &mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        state: Option<OpaqueState>,
    ) -> usize {
        let index = self.answer.calls.len();
        let mut call = ToolCall::new(id, name, "");
        call.state = state;
        self.push(StreamEvent::ToolCallStart {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
        });
        self.answer.calls.push(Call {
            part: self.answer.parts.len(),
            closed: false,
        });
        self.answer.parts.push(Part::ToolCall(call));
        index
    }

    /// More of a call's arguments; empty pieces and unknown indexes are nothing.
    pub fn tool_arguments(&mut self, index: usize, fragment: impl Into<String>) {
        let fragment = fragment.into();
        let Some(call) = self.call_mut(index) else {
            return;
        };
        if fragment.is_empty() {
            return;
        }
        call.arguments.push_str(&fragment);
        self.push(StreamEvent::ToolCallArguments { index, fragment });
    }

    /// A call is whole: its arguments are complete, whether or not they parse.
    pub fn tool_end(&mut self, index: usize) {
        if self.answer.calls.get(index).is_none_or(|call| call.closed) {
            return;
        }
        self.answer.calls[index].closed = true;
        if let Some(call) = self.call_mut(index) {
            if call.arguments.trim().is_empty() {
                "{}".clone_into(&mut call.arguments);
            }
            let call = call.clone();
            self.push(StreamEvent::ToolCall(call));
        }
    }

    /// Ends every call that is still open, in order.
    pub fn end_tools(&mut self) {
        for index in 0..self.answer.calls.len() {
            self.tool_end(index);
        }
    }

    /// The arguments of a call so far; `None` for an unknown index.
    #[must_use]
    pub fn arguments(&self, index: usize) -> Option<&str> {
        match self.answer.parts.get(self.answer.calls.get(index)?.part)? {
            Part::ToolCall(call) => Some(&call.arguments),
            _ => None,
        }
    }

    /// How many calls have begun.
    #[must_use]
    pub fn tool_count(&self) -> usize {
        self.answer.calls.len()
    }

    /// Takes over running totals; what `usage` does not know stays.
    pub fn usage(&mut self, usage: Usage) {
        self.answer.usage.update(usage);
    }

    /// The usage so far.
    #[must_use]
    pub fn usage_so_far(&self) -> Usage {
        self.answer.usage
    }

    /// Sets why the model stopped; a later word replaces an earlier one.
    pub fn stop_reason(&mut self, reason: StopReason) {
        self.answer.stop_reason = Some(reason);
    }

    /// Sets the answer's id; empty text is none, and the first one stays.
    pub fn id(&mut self, id: &str) {
        keep_first(&mut self.answer.id, id);
    }

    /// Sets the model that served; empty text is none, and the first one stays.
    pub fn model(&mut self, model: &str) {
        keep_first(&mut self.answer.model, model);
    }

    /// Sets a request id of the body.
    ///
    /// Empty text is none, and the first one stays.
    pub fn request_id(&mut self, id: &str) {
        keep_first(&mut self.answer.request_id, id);
    }

    /// Notes something that had to be mended.
    pub fn warn(&mut self, warning: Warning) {
        self.answer.warnings.push(warning);
    }

    /// Takes a whole answer: what a server sends that ignores the wish for a stream.
    pub fn whole(&mut self, decoded: Decoded) {
        let Decoded {
            id,
            model,
            parts,
            refusal,
            stop_reason,
            usage,
            request_id,
            warnings,
        } = decoded;
        self.id(id.as_deref().unwrap_or_default());
        self.model(model.as_deref().unwrap_or_default());
        self.request_id(request_id.as_deref().unwrap_or_default());
        for part in parts {
            self.whole_part(part);
        }
        self.refusal(refusal.unwrap_or_default());
        self.usage(usage);
        self.stop_reason(stop_reason);
        self.answer.warnings.extend(warnings);
    }

    fn whole_part(&mut self, part: Part) {
        match part {
            Part::Text(text) => {
                self.text(text.text);
                if let Some(state) = text.state {
                    self.text_state(state);
                }
            }
            Part::Reasoning(reasoning) => {
                self.reasoning(reasoning.text);
                if let Some(state) = reasoning.state {
                    self.reasoning_state(state);
                }
            }
            Part::ToolCall(call) => {
                let index = self.tool_start(call.id, call.name, call.state);
                self.tool_arguments(index, call.arguments);
                self.tool_end(index);
            }
            // No answer holds images or results; if one ever does, it is kept for the answer.
            other => self.answer.parts.push(other),
        }
    }

    /// Whether content has been put in: what must never be sent twice.
    #[must_use]
    pub fn has_content(&self) -> bool {
        self.answer.content
    }

    /// The next event for the caller.
    pub(crate) fn pop(&mut self) -> Option<StreamEvent> {
        self.queue.pop_front()
    }

    /// Whether an event waits for the caller.
    pub(crate) fn has_events(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether the refusal rule has something to look at.
    pub(crate) fn may_refuse(&self) -> bool {
        self.answer.stop_reason == Some(StopReason::Refusal)
            || self
                .answer
                .refusal
                .as_ref()
                .is_some_and(|words| !words.is_empty())
    }

    /// The request id of the body, as far as it is known.
    pub(crate) fn request_id_so_far(&self) -> Option<&str> {
        self.answer.request_id.as_deref()
    }

    /// The answer so far. Calls that are still open are left out: half a call must not be run.
    pub(crate) fn partial(&self) -> Decoded {
        let answer = &self.answer;
        let open: Vec<usize> = answer
            .calls
            .iter()
            .filter(|call| !call.closed)
            .map(|call| call.part)
            .collect();
        let parts = answer
            .parts
            .iter()
            .enumerate()
            .filter(|(at, _)| !open.contains(at))
            .map(|(_, part)| part.clone())
            .collect();
        let mut decoded = Decoded::new(
            parts,
            answer
                .stop_reason
                .clone()
                .unwrap_or_else(|| StopReason::Other(String::new())),
        );
        decoded.id.clone_from(&answer.id);
        decoded.model.clone_from(&answer.model);
        decoded.request_id.clone_from(&answer.request_id);
        decoded.refusal.clone_from(&answer.refusal);
        decoded.usage = answer.usage;
        decoded.warnings.clone_from(&answer.warnings);
        decoded
    }

    /// The model that served, as far as it is known.
    pub(crate) fn served_model(&self) -> Option<&str> {
        self.answer.model.as_deref()
    }

    /// Why the model stopped, as far as it is known.
    pub(crate) fn stop(&self) -> Option<&StopReason> {
        self.answer.stop_reason.as_ref()
    }

    /// Why the model stopped; an empty word where nobody said.
    pub(crate) fn stop_or_unknown(&self) -> StopReason {
        self.stop()
            .cloned()
            .unwrap_or_else(|| StopReason::Other(String::new()))
    }

    fn call_mut(&mut self, index: usize) -> Option<&mut ToolCall> {
        match self
            .answer
            .parts
            .get_mut(self.answer.calls.get(index)?.part)?
        {
            Part::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    fn push(&mut self, event: StreamEvent) {
        self.answer.content = true;
        self.queue.push_back(event);
    }
}

fn keep_first(slot: &mut Option<String>, value: &str) {
    if slot.is_none() && !value.is_empty() {
        *slot = Some(value.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_call_is_not_in_the_partial_answer() {
        let mut sink = Sink::new();
        sink.text("a");
        let call = sink.tool_start("c", "t", None);
        sink.tool_arguments(call, "{\"x\"");
        assert_eq!(sink.partial().parts.len(), 1);
        sink.tool_arguments(call, ":1}");
        sink.tool_end(call);
        assert_eq!(sink.partial().parts.len(), 2);
    }

    #[test]
    fn empty_pieces_are_no_content() {
        let mut sink = Sink::new();
        sink.text("");
        sink.reasoning("");
        sink.refusal("");
        sink.usage(Usage::default());
        assert!(!sink.has_content());
        sink.text("a");
        assert!(sink.has_content());
    }

    #[test]
    fn a_whole_answer_comes_out_as_it_went_in() {
        let mut decoded = Decoded::new(
            vec![
                Part::Reasoning(Reasoning::new("r", None)),
                Part::text("a"),
                Part::ToolCall(ToolCall::new("c", "t", "{}")),
                Part::text("b"),
            ],
            StopReason::ToolUse,
        );
        decoded.id = Some("id".into());
        let mut sink = Sink::new();
        sink.whole(decoded.clone());
        assert_eq!(sink.partial(), decoded);
    }
}
