//! The order in which the words of an answer are handed out.
//!
//! A call can be written to at any time, but text and reasoning only at the end of the answer. So
//! each run of words is a lane, the lanes stand in the order of the answer, and what comes for a
//! lane waits until nothing before it is open but calls. The provider sends one item after the
//! other, and then nothing ever waits.

use serde_json::value::RawValue;

use super::wire::TextState;
use crate::message::OpaqueState;
use crate::native::{Ids, Told};
use crate::openai::calls::{is_object, nameless, no_object};
use crate::sink::Sink;

/// The lanes of one answer.
#[derive(Debug)]
pub(super) struct Lanes {
    /// What opaque state is kept under.
    family: String,
    /// Those that are not finished, in the order of the answer.
    open: Vec<Lane>,
    ids: Ids,
    told: Told,
    calls: usize,
    refused: bool,
}

#[derive(Debug)]
struct Lane {
    /// The number of the item.
    item: usize,
    what: What,
    /// What has come before its turn.
    held: Vec<String>,
    /// Whether anything has been handed out.
    begun: bool,
    closed: bool,
}

#[derive(Debug)]
enum What {
    Words(Run, u64),
    Call(Called),
    /// Keeps the place of an item that is no call, until its state is handed out.
    End {
        spoke: bool,
        closing: Closing,
    },
}

/// What a run of words is for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Text,
    Refusal,
    Summary,
    Thought,
}

#[derive(Debug, Default)]
struct Called {
    /// Where the call stands in the sink, once it has begun.
    call: Option<usize>,
    id: String,
    /// Empty until somebody says it.
    name: String,
    /// Bytes of arguments that have come.
    said: usize,
}

/// What is handed out at the end of an item that is no call.
#[derive(Debug, Default)]
pub(super) enum Closing {
    #[default]
    Nothing,
    /// The phase a text was said in.
    Phase(String),
    /// A reasoning item, as it goes back.
    Reasoning(Box<RawValue>),
    /// An item skyl has no part for, and its type.
    Kept(String, Box<RawValue>),
}

impl Lanes {
    pub(super) fn new(family: &str) -> Self {
        Self {
            family: family.to_owned(),
            open: Vec::new(),
            ids: Ids::default(),
            told: Told::default(),
            calls: 0,
            refused: false,
        }
    }

    /// Takes the id of the answer, which ids made here depend on.
    pub(super) fn answer(&mut self, id: &str) {
        self.ids.answer(id);
    }

    /// Warns about a part of the answer, once.
    pub(super) fn warn(&mut self, subject: &str, what: &str, sink: &mut Sink) {
        self.told.warn(sink, subject, what);
    }

    /// Whether the model has called anything.
    pub(super) fn called(&self) -> bool {
        self.calls > 0
    }

    /// Whether there are words of a refusal.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Gives a call its place behind all that is there.
    pub(super) fn add_call(&mut self, item: usize) {
        self.open
            .push(Lane::new(item, What::Call(Called::default())));
    }

    /// Gives another item its place.
    pub(super) fn add_item(&mut self, item: usize) {
        let end = What::End {
            spoke: false,
            closing: Closing::Nothing,
        };
        self.open.push(Lane::new(item, end));
    }

    /// Takes the id and the name of a call; the first ones stay.
    pub(super) fn name(&mut self, item: usize, id: &str, name: &str, sink: &mut Sink) {
        if let Some(at) = self.call(item)
            && let What::Call(called) = &mut self.open[at].what
            && called.call.is_none()
        {
            for (slot, word) in [(&mut called.id, id), (&mut called.name, name)] {
                if slot.is_empty() {
                    word.clone_into(slot);
                }
            }
            self.advance(sink);
        }
    }

    /// Adds words of an item.
    pub(super) fn say(&mut self, item: usize, run: Run, part: u64, words: String, sink: &mut Sink) {
        let at = self.words(item, run, part).unwrap_or_else(|| {
            let is_end = |lane: &Lane| lane.item == item && matches!(lane.what, What::End { .. });
            let end = self.open.iter().position(is_end);
            let end = end.unwrap_or(self.open.len());
            self.open
                .insert(end, Lane::new(item, What::Words(run, part)));
            end
        });
        self.put(at, words, sink);
    }

    /// No more comes of a run of words.
    pub(super) fn close_words(&mut self, item: usize, run: Run, part: u64, sink: &mut Sink) {
        if let Some(at) = self.words(item, run, part) {
            self.open[at].closed = true;
            self.advance(sink);
        }
    }

    /// Adds arguments of a call.
    pub(super) fn argue(&mut self, item: usize, fragment: String, sink: &mut Sink) {
        let Some(at) = self.call(item) else { return };
        if let What::Call(called) = &mut self.open[at].what {
            called.said = called.said.saturating_add(fragment.len());
        }
        self.put(at, fragment, sink);
    }

    /// Adds what whole arguments have beyond the fragments that came of them.
    pub(super) fn complete_call(&mut self, item: usize, whole: &str, sink: &mut Sink) {
        let Some(at) = self.call(item) else { return };
        let What::Call(called) = &self.open[at].what else {
            return;
        };
        let differs = called.call.is_some_and(|call| {
            let fragments = sink.arguments(call).unwrap_or_default();
            !whole.is_empty() && !whole.starts_with(fragments)
        });
        if differs {
            let what = "has arguments that differ from their fragments, which are kept";
            self.told.warn(sink, "function_call", what);
        } else if let Some(rest) = whole.get(called.said..)
            && !rest.is_empty()
        {
            self.argue(item, rest.to_owned(), sink);
        }
    }

    /// No more comes of an item.
    pub(super) fn close(&mut self, item: usize, with: Closing, sink: &mut Sink) {
        let mut with = Some(with);
        for lane in self.open.iter_mut().filter(|lane| lane.item == item) {
            lane.closed = true;
            if let What::End { closing, .. } = &mut lane.what
                && let Some(with) = with.take()
            {
                *closing = with;
            }
        }
        self.advance(sink);
    }

    fn call(&self, item: usize) -> Option<usize> {
        self.open
            .iter()
            .rposition(|lane| lane.item == item && matches!(lane.what, What::Call(_)))
    }

    fn words(&self, item: usize, run: Run, part: u64) -> Option<usize> {
        self.open.iter().rposition(|lane| {
            lane.item == item
                && matches!(lane.what, What::Words(other, number) if other == run && number == part)
        })
    }

    fn put(&mut self, at: usize, words: String, sink: &mut Sink) {
        if self.has_turn(at) && self.open[at].held.is_empty() {
            self.write(at, words, sink);
        } else {
            self.open[at].held.push(words);
            self.advance(sink);
        }
    }

    /// Whether a lane may be written to.
    fn has_turn(&self, at: usize) -> bool {
        self.open[..at].iter().all(Lane::lets_pass) && self.open[at].is_ready()
    }

    /// Writes what has its turn and takes out what is finished.
    fn advance(&mut self, sink: &mut Sink) {
        let mut at = 0;
        while at < self.open.len() {
            self.begin(at, sink);
            // Whatever stands before lets it pass, or the loop would not be here.
            if self.open[at].is_ready() {
                for words in std::mem::take(&mut self.open[at].held) {
                    self.write(at, words, sink);
                }
            }
            if self.open[at].closed {
                let lane = self.open.remove(at);
                self.conclude(lane.what, sink);
            } else if self.open[at].lets_pass() {
                at += 1;
            } else {
                return;
            }
        }
    }

    /// Begins a call that has its turn and a name.
    fn begin(&mut self, at: usize, sink: &mut Sink) {
        let What::Call(called) = &mut self.open[at].what else {
            return;
        };
        if called.call.is_some() || called.name.is_empty() {
            return;
        }
        let (id, repeated) = self.ids.settle(&called.id, &called.name);
        called.call = Some(sink.tool_start(id, called.name.as_str(), None));
        self.calls = self.calls.saturating_add(1);
        if repeated {
            let what = "has ids that repeat; they are made unique";
            self.told.warn(sink, "function_call", what);
        }
    }

    fn write(&mut self, at: usize, mut words: String, sink: &mut Sink) {
        let lane = &mut self.open[at];
        let item = lane.item;
        let first = !std::mem::replace(&mut lane.begun, true);
        match &lane.what {
            What::Words(run, _) => {
                let run = *run;
                let follows = first && self.speaks(item, run);
                match run {
                    Run::Text => sink.text(words),
                    Run::Refusal => {
                        self.refused = true;
                        sink.refusal(words);
                    }
                    Run::Summary | Run::Thought => {
                        // Each part is a paragraph with a title of its own.
                        if follows {
                            words.insert_str(0, "\n\n");
                        }
                        sink.reasoning(words);
                    }
                }
            }
            What::Call(called) => {
                if let Some(call) = called.call {
                    sink.tool_arguments(call, words);
                }
            }
            What::End { .. } => {}
        }
    }

    /// Notes that an item speaks; tells whether it had spoken before.
    fn speaks(&mut self, item: usize, run: Run) -> bool {
        let ends = self.open.iter_mut().filter(|lane| lane.item == item);
        for lane in ends {
            if let What::End { spoke, .. } = &mut lane.what {
                return std::mem::replace(spoke, *spoke || run != Run::Refusal);
            }
        }
        false
    }

    fn conclude(&mut self, what: What, sink: &mut Sink) {
        let state = |raw| OpaqueState::new(&*self.family, raw);
        match what {
            What::Words(..) => {}
            What::Call(Called { call: None, .. }) => sink.warn(nameless(self.calls)),
            What::Call(Called {
                call: Some(call), ..
            }) => {
                if !is_object(sink.arguments(call).unwrap_or_default()) {
                    sink.warn(no_object(call));
                }
                sink.tool_end(call);
            }
            What::End { spoke, closing } => match closing {
                Closing::Phase(phase) if spoke => {
                    if let Ok(raw) = serde_json::value::to_raw_value(&TextState { phase }) {
                        sink.text_state(state(raw));
                    }
                }
                Closing::Nothing | Closing::Phase(_) => {}
                Closing::Reasoning(raw) => sink.reasoning_state(state(raw)),
                Closing::Kept(kind, raw) => {
                    sink.reasoning_state(state(raw));
                    let what = "is kept, but has no part of its own";
                    self.told.warn(sink, &kind, what);
                }
            },
        }
    }
}

impl Lane {
    const fn new(item: usize, what: What) -> Self {
        Self {
            item,
            what,
            held: Vec::new(),
            begun: false,
            closed: false,
        }
    }

    /// Whether it may be written to where it stands: a call without a name may not.
    fn is_ready(&self) -> bool {
        match &self.what {
            What::Call(called) => called.call.is_some(),
            _ => true,
        }
    }

    /// Whether what stands behind may be written while this is open.
    fn lets_pass(&self) -> bool {
        matches!(&self.what, What::Call(called) if called.call.is_some())
    }
}
