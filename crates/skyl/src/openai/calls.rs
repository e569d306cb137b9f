//! Puts tool calls together from the pieces of a stream.
//!
//! By the book, the pieces of a call share an `index`, and the first one has the id and the name.
//! Servers leave the index out, send zero for every call, repeat ids, change the id with every
//! piece, or send whole calls. The rules here look at everything a piece has, and at whether the
//! arguments so far are whole: whatever comes behind whole arguments belongs to another call.

use crate::openai::ids::Ids;
use crate::openai::wire::{Call, Function};
use crate::response::Warning;
use crate::sink::Sink;

/// The calls of one answer, in the order they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Open>,
    ids: Ids,
    /// Which chunk is being read, so that pieces of the same one can be told.
    chunk: u64,
}

#[derive(Debug, Default)]
struct Open {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    /// Where the call stands in the sink, once it has begun there.
    handle: Option<usize>,
    /// Arguments that came before the name.
    held: String,
    extent: Extent,
    /// Whether the arguments so far are `{}` and were not handed out: gateways begin with it whatever
    /// follows.
    blank: bool,
    /// The chunk that began the call.
    chunk: u64,
    /// What made ids depend on.
    answer: u64,
}

/// One piece, reduced to what it has.
#[derive(Clone, Copy)]
struct Piece<'a> {
    index: Option<u64>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: &'a str,
}

impl Calls {
    /// Begins a chunk.
    pub(super) fn chunk(&mut self) {
        self.chunk = self.chunk.wrapping_add(1);
    }

    /// Whether the model has called anything.
    pub(super) fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Takes a piece; `answer` is what made ids depend on.
    pub(super) fn piece(&mut self, call: &Call<'_>, answer: u64, sink: &mut Sink) {
        self.take(call.index.0, call.id.get(), call.called(), answer, sink);
    }

    /// Takes a piece of the one call that the protocol's first form knows.
    pub(super) fn function(&mut self, function: &Function<'_>, answer: u64, sink: &mut Sink) {
        self.take(None, None, Some(function), answer, sink);
    }

    /// Ends all calls: there is nothing more to come.
    pub(super) fn finish(&mut self, sink: &mut Sink) {
        for at in 0..self.list.len() {
            self.begin(at, sink);
            let Some(handle) = self.list[at].handle else {
                sink.warn(nameless(at));
                continue;
            };
            if !is_object(sink.arguments(handle).unwrap_or_default()) {
                sink.warn(no_object(at));
            }
        }
        sink.end_tools();
    }

    fn take(
        &mut self,
        index: Option<u64>,
        id: Option<&str>,
        function: Option<&Function<'_>>,
        answer: u64,
        sink: &mut Sink,
    ) {
        let arguments = function.and_then(Function::arguments);
        let piece = Piece {
            index,
            id,
            name: function.and_then(|function| function.name.get()),
            arguments: arguments.as_deref().unwrap_or_default(),
        };
        if piece.id.is_none() && piece.name.is_none() && piece.arguments.is_empty() {
            return;
        }
        let at = match self.target(piece) {
            Some(at) if self.is_told(at, piece, sink) => {
                sink.warn(told_twice(at));
                return;
            }
            Some(at) if !self.begins_another(at, piece) => at,
            _ => self.open(answer, sink),
        };
        let open = &mut self.list[at];
        let piece = open.without_blank(piece);
        open.index = open.index.or(piece.index);
        open.id = open.id.take().or_else(|| piece.id.map(str::to_owned));
        open.name = open.name.take().or_else(|| piece.name.map(str::to_owned));
        open.extent.read(piece.arguments);
        if let Some(handle) = open.handle {
            sink.tool_arguments(handle, piece.arguments);
            return;
        }
        open.held.push_str(piece.arguments);
        // Without an id, the start waits for a piece that may still bring one.
        if open.id.is_some() || open.blank || !open.held.is_empty() {
            self.begin(at, sink);
        }
    }

    /// The call a piece may belong to.
    fn target(&self, piece: Piece<'_>) -> Option<usize> {
        let last = self.list.len().checked_sub(1);
        let by_id = || {
            piece
                .id
                .and_then(|id| self.list.iter().rposition(|c| c.id.as_deref() == Some(id)))
        };
        let Some(index) = piece.index else {
            return match piece.id {
                Some(_) if piece.name.is_some() => by_id(),
                // Some servers make up a new id for every piece.
                Some(_) => by_id().or(last),
                None => last,
            };
        };
        // The id as well, where both are the same: servers that send zero for every call take
        // turns between them by it.
        let by_both = piece.id.and_then(|id| {
            self.list
                .iter()
                .rposition(|c| c.index == Some(index) && c.id.as_deref() == Some(id))
        });
        if by_both.is_some() {
            return by_both;
        }
        let by_index = self.list.iter().rposition(|c| c.index == Some(index));
        if by_index.is_some() || piece.name.is_some() {
            return by_index;
        }
        // An index nobody began: a fragment of the call that is named, or of the last one.
        by_id().or(if piece.id.is_none() { last } else { None })
    }

    /// Whether a piece begins another call than the one its index or id points at.
    fn begins_another(&self, at: usize, piece: Piece<'_>) -> bool {
        // Fragments alone go on, even under another id: some servers make up one per piece.
        let Some(new_name) = piece.name else {
            return false;
        };
        let call = &self.list[at];
        let same_id = match (&call.id, piece.id) {
            (Some(old), Some(new)) if old != new => return !call.is_continued(piece),
            (Some(_), Some(_)) => true,
            _ => false,
        };
        let Some(old_name) = &call.name else {
            return false;
        };
        old_name != new_name
            // The same tool once more: a server that repeats the name with every piece does not
            // do so twice in a chunk, nor once the arguments are whole.
            || call.chunk == self.chunk && !same_id
            || call.is_whole() && !piece.arguments.trim_ascii().is_empty()
    }

    /// Whether a piece tells a whole call once more, so that a tool must not run twice for it.
    ///
    /// Servers that give no ids may call a tool twice with the same arguments, so those pieces are
    /// taken for calls of their own.
    fn is_told(&self, at: usize, piece: Piece<'_>, sink: &Sink) -> bool {
        let call = &self.list[at];
        let arguments = piece.arguments.trim_ascii();
        if arguments.is_empty() || !call.extent.is_whole() {
            return false;
        }
        let is_same = piece.name.is_none_or(|name| {
            call.name.as_deref() == Some(name)
                && call.id.is_some()
                && piece.id.is_none_or(|id| call.id.as_deref() == Some(id))
                && call.index == piece.index
        });
        let told = call.handle.and_then(|handle| sink.arguments(handle));
        is_same && told.is_some_and(|told| told.trim_ascii() == arguments)
    }

    fn open(&mut self, answer: u64, sink: &mut Sink) -> usize {
        // The call before comes first, even if it still waits for an id.
        if let Some(last) = self.list.len().checked_sub(1) {
            self.begin(last, sink);
        }
        self.list.push(Open {
            answer,
            chunk: self.chunk,
            ..Open::default()
        });
        self.list.len() - 1
    }

    /// Begins a call in the sink, if it has a name and has not begun.
    fn begin(&mut self, at: usize, sink: &mut Sink) {
        let open = &mut self.list[at];
        let (None, Some(name)) = (open.handle, &open.name) else {
            return;
        };
        let (id, warning) = self.ids.settle(open.id.as_deref(), open.answer, name);
        let handle = sink.tool_start(id, name.as_str(), None);
        sink.tool_arguments(handle, std::mem::take(&mut open.held));
        open.handle = Some(handle);
        if let Some(warning) = warning {
            sink.warn(warning);
        }
    }
}

impl Open {
    fn is_whole(&self) -> bool {
        self.blank || self.extent.is_whole()
    }

    /// Whether a piece with another id can only be more of these arguments: some servers make up an
    /// id per piece and repeat the name as well.
    fn is_continued(&self, piece: Piece<'_>) -> bool {
        let rest = piece.arguments.trim_ascii_start();
        self.name.as_deref() == piece.name
            && self.extent.begun
            && !self.is_whole()
            && !rest.is_empty()
            && (self.extent.in_string || !rest.starts_with('{'))
    }

    /// The piece without a `{}` that stands for arguments to come; at the end, none are `{}` anyway.
    fn without_blank<'a>(&mut self, piece: Piece<'a>) -> Piece<'a> {
        let is_first = !self.extent.begun && self.held.is_empty();
        if is_first && piece.arguments.trim_ascii() == "{}" {
            self.blank = true;
            return Piece {
                arguments: "",
                ..piece
            };
        }
        self.blank &= piece.arguments.trim_ascii().is_empty();
        piece
    }
}

/// Where JSON text stands, by its brackets alone; each byte is looked at once.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    depth: usize,
    begun: bool,
    in_string: bool,
    escaped: bool,
}

impl Extent {
    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                match byte {
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => {
                        self.begun = true;
                        self.depth = self.depth.saturating_add(1);
                    }
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }

    /// Whether the outermost bracket has been closed.
    fn is_whole(self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }
}

/// Whether arguments are one JSON object; none at all count as an empty one.
pub(super) fn is_object(arguments: &str) -> bool {
    let text = arguments.trim_ascii();
    text.is_empty()
        || text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

pub(super) fn nameless(at: usize) -> Warning {
    Warning::new(
        "tool_calls",
        format!("call {at} has no name and was left out"),
    )
}

fn told_twice(at: usize) -> Warning {
    Warning::new(
        "tool_calls",
        format!("call {at} was told twice; it is one call"),
    )
}

pub(super) fn no_object(at: usize) -> Warning {
    Warning::new(
        "tool_calls",
        format!("the arguments of call {at} are not a JSON object"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extent_sees_brackets_outside_strings_only() {
        for (text, whole) in [
            ("", false),
            ("null", false),
            ("{", false),
            ("{}", true),
            (r#"{"a":"}"#, false),
            (r#"{"a":"\"}"}"#, true),
            (r#"{"a":[1,{"b":2}]}"#, true),
            ("{} ", true),
        ] {
            let mut at_once = Extent::default();
            at_once.read(text);
            assert_eq!(at_once.is_whole(), whole, "{text}");
            let mut by_char = Extent::default();
            text.chars()
                .for_each(|c| by_char.read(c.encode_utf8(&mut [0; 4])));
            assert_eq!(by_char.is_whole(), whole, "{text} by characters");
        }
    }

    #[test]
    fn arguments_are_an_object_or_nothing() {
        for (text, object) in [
            ("", true),
            (" ", true),
            ("{}", true),
            (r#"{"a":1}"#, true),
            ("[]", false),
            ("null", false),
            (r#"{"a":"#, false),
            ("{}{}", false),
        ] {
            assert_eq!(is_object(text), object, "{text}");
        }
    }
}
