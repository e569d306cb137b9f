//! The items of an answer, put together from their pieces.
//!
//! An item is told by its place in the output, and by its id where servers muddle the places.
//! Pieces are handed out as they come. When an item is finished, its whole form is laid beside what
//! was handed out, and what is missing is added: servers in between lose pieces, and some send none.

use serde_json::value::RawValue;

use super::lanes::{Closing, Lanes, Run};
use super::wire::{Output, Part};
use crate::dialect::Fault;
use crate::dialect::lenient::{Object, is_blank};
use crate::native::{json_text, text};
use crate::sink::Sink;

/// The items of one answer.
#[derive(Debug)]
pub(super) struct Items {
    /// Every item, in the order they began.
    items: Vec<Item>,
    pub(super) lanes: Lanes,
}

#[derive(Debug)]
struct Item {
    index: u64,
    id: Option<String>,
    kind: Kind,
    /// Whether it is finished, so that nothing more is taken for it.
    done: bool,
    /// How many bytes have come for each of its runs of words.
    runs: Vec<(Run, u64, usize)>,
    /// The item as it began, until it ends.
    begun: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Call,
    /// An item skyl has no part for.
    Other,
}

/// Where a piece belongs, as far as its event says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
}

impl Items {
    /// No items yet; `family` is what opaque state is kept under.
    pub(super) fn new(family: &str) -> Self {
        Self {
            items: Vec::new(),
            lanes: Lanes::new(family),
        }
    }

    /// Whether there is anything at all.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// An item begins. What it holds by then waits: the pieces and the end mostly repeat it.
    ///
    /// # Errors
    /// `Decode` for what is no item, and for more items than any answer has.
    pub(super) fn open(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let output = read(raw)?;
        if let Some(at) = self.find(index, output.id.get(), None) {
            let same = match (&self.items[at].id, output.id.get()) {
                (Some(open), Some(new)) => open == new,
                _ => true,
            };
            // The same item twice, or one that never ended; others share a place by mistake.
            if same {
                self.abandon(at, sink)?;
            }
        }
        let at = self.push(index, output.id.get(), kind(&output))?;
        self.items[at].begun = Some(raw.to_owned());
        self.name(at, &output, sink);
        Ok(())
    }

    /// Words of an item; of one that never began, where proxies leave the beginnings out.
    ///
    /// # Errors
    /// As [`Items::open`].
    pub(super) fn words(
        &mut self,
        place: Place<'_>,
        (run, part): (Run, u64),
        words: String,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        if !words.is_empty()
            && let Some(item) = self.item(place, kind_of(run))?
        {
            self.say(item, run, part, words, sink);
        }
        Ok(())
    }

    /// The whole of what [`Items::words`] gave in pieces; nothing more comes of it.
    ///
    /// # Errors
    /// `Decode` where the words are no text, and as there.
    pub(super) fn whole_words(
        &mut self,
        place: Place<'_>,
        (run, part): (Run, u64),
        words: Option<&RawValue>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let words = text(words)?;
        if !words.is_empty()
            && let Some(item) = self.item(place, kind_of(run))?
        {
            self.complete(item, run, part, &words, sink);
            self.lanes.close_words(item, run, part, sink);
        }
        Ok(())
    }

    /// More of a call's arguments.
    ///
    /// # Errors
    /// As [`Items::open`].
    pub(super) fn arguments(
        &mut self,
        place: Place<'_>,
        fragment: String,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        if !fragment.is_empty()
            && let Some(item) = self.item(place, Kind::Call)?
        {
            self.lanes.argue(item, fragment, sink);
        }
        Ok(())
    }

    /// The whole of what [`Items::arguments`] gave in pieces.
    ///
    /// # Errors
    /// As [`Items::open`].
    pub(super) fn whole_arguments(
        &mut self,
        place: Place<'_>,
        whole: Option<&RawValue>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let whole = json_text(whole);
        if !whole.is_empty()
            && let Some(item) = self.item(place, Kind::Call)?
        {
            self.lanes.complete_call(item, &whole, sink);
        }
        Ok(())
    }

    /// An item is finished, in the place the provider gives it.
    ///
    /// # Errors
    /// As [`Items::open`], and `Decode` where a text is none.
    pub(super) fn finish(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let output = read(raw)?;
        let kind = kind(&output);
        let id = output.id.get();
        let at = match self.find(index, id, Some(kind)) {
            Some(at) => at,
            None if self.was_done(id) => return Ok(()),
            None => self.push(index, id, kind)?,
        };
        self.settle(at, &output, Some(raw), sink)
    }

    /// The whole output at the end of a stream: adds what the stream did not bring.
    ///
    /// # Errors
    /// As [`Items::finish`].
    pub(super) fn finish_all(
        &mut self,
        output: Option<&RawValue>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let list: Vec<&RawValue> = match output {
            // Some servers drop the brackets where there is one.
            Some(output) if output.get().starts_with('{') && !is_blank(output) => vec![output],
            Some(output) if output.get().starts_with('[') => serde_json::from_str(output.get())
                .map_err(|_| Fault::decode("the output of the answer cannot be read"))?,
            _ => Vec::new(),
        };
        let begun = self.items.len();
        for (index, raw) in (0_u64..).zip(list) {
            let output = read(raw)?;
            let kind = kind(&output);
            match self.known(begun, index, output.id.get()) {
                Some(at) if self.items[at].done => {}
                Some(at) if self.items[at].kind == kind => {
                    self.settle(at, &output, Some(raw), sink)?;
                }
                _ => {
                    let at = self.push(Some(index), output.id.get(), kind)?;
                    self.settle(at, &output, Some(raw), sink)?;
                }
            }
        }
        for at in 0..self.items.len() {
            self.abandon(at, sink)?;
        }
        Ok(())
    }

    /// The item of the stream that an item of the whole output is, if it came.
    ///
    /// An item of a place that had one is that item, whatever its id: some proxies change ids with
    /// every event.
    fn known(&self, begun: usize, index: u64, id: Option<&str>) -> Option<usize> {
        let items = &self.items[..begun];
        let by_id = |id| {
            items
                .iter()
                .rposition(|item| item.id.as_deref() == Some(id))
        };
        id.and_then(by_id)
            .or_else(|| items.iter().rposition(|item| item.index == index))
    }

    /// The open item of a place that takes such pieces; a new one where there is none.
    fn item(&mut self, place: Place<'_>, kind: Kind) -> Result<Option<usize>, Fault> {
        match self.find(place.index, place.id, Some(kind)) {
            Some(at) => Ok(Some(at)),
            None if self.was_done(place.id) => Ok(None),
            None => self.push(place.index, place.id, kind).map(Some),
        }
    }

    /// The open item that is meant: by place and id, by place, by id; the last one without either.
    fn find(&self, index: Option<u64>, id: Option<&str>, kind: Option<Kind>) -> Option<usize> {
        let last = |by_index: bool, by_id: bool| {
            self.items.iter().rposition(|item| {
                !item.done
                    && kind.is_none_or(|kind| item.kind == kind)
                    && (!by_index || Some(item.index) == index)
                    && (!by_id || item.id.as_deref() == id)
            })
        };
        match (index.is_some(), id.is_some()) {
            (true, true) => last(true, true)
                .or_else(|| last(true, false))
                .or_else(|| last(false, true)),
            (by_index, by_id) => last(by_index, by_id),
        }
    }

    fn was_done(&self, id: Option<&str>) -> bool {
        id.is_some()
            && self
                .items
                .iter()
                .any(|item| item.done && item.id.as_deref() == id)
    }

    fn push(&mut self, index: Option<u64>, id: Option<&str>, kind: Kind) -> Result<usize, Fault> {
        let at = self.items.len();
        if at >= MAX_ITEMS {
            return Err(Fault::decode("the answer has too many items"));
        }
        self.items.push(Item {
            index: index.unwrap_or_else(|| u64::try_from(at).unwrap_or(u64::MAX)),
            id: id.map(str::to_owned),
            kind,
            done: false,
            runs: Vec::new(),
            begun: None,
        });
        if kind == Kind::Call {
            self.lanes.add_call(at);
        } else {
            self.lanes.add_item(at);
        }
        Ok(at)
    }

    fn name(&mut self, at: usize, output: &Output<'_>, sink: &mut Sink) {
        let [id, name] = [&output.call_id, &output.name].map(|word| word.get().unwrap_or_default());
        self.lanes.name(at, id, name, sink);
    }

    fn say(&mut self, at: usize, run: Run, part: u64, words: String, sink: &mut Sink) {
        let runs = &mut self.items[at].runs;
        match runs.iter_mut().find(|of| (of.0, of.1) == (run, part)) {
            Some((.., said)) => *said = said.saturating_add(words.len()),
            None => runs.push((run, part, words.len())),
        }
        self.lanes.say(at, run, part, words, sink);
    }

    /// Adds what a whole text has beyond the pieces that came of it.
    fn complete(&mut self, at: usize, run: Run, part: u64, whole: &str, sink: &mut Sink) {
        let mut runs = self.items[at].runs.iter();
        let said = runs.find(|of| (of.0, of.1) == (run, part));
        if let Some(rest) = whole.get(said.map_or(0, |(.., said)| *said)..)
            && !rest.is_empty()
        {
            self.say(at, run, part, rest.to_owned(), sink);
        }
    }

    /// Lays a whole item beside what came of it, and closes it; `raw` is a finished one.
    fn settle(
        &mut self,
        at: usize,
        output: &Output<'_>,
        raw: Option<&RawValue>,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let begun = self.items[at].begun.take();
        let closing = match self.items[at].kind {
            Kind::Message => {
                self.parts(at, output.content, Run::Text, sink)?;
                let phase = output.phase.get();
                phase.map_or(Closing::Nothing, |phase| Closing::Phase(phase.to_owned()))
            }
            Kind::Reasoning => {
                self.parts(at, output.summary, Run::Summary, sink)?;
                self.parts(at, output.content, Run::Thought, sink)?;
                // One that is not finished may hold half a state. It is sealed all the same, so
                // that no later item's state becomes its own.
                let raw = raw.map(RawValue::to_owned);
                let raw = raw.or_else(|| RawValue::from_string(UNFINISHED.to_owned()).ok());
                raw.map_or(Closing::Nothing, Closing::Reasoning)
            }
            Kind::Call => {
                self.name(at, output, sink);
                let whole = json_text(output.arguments.or(output.input));
                self.lanes.complete_call(at, &whole, sink);
                Closing::Nothing
            }
            Kind::Other => {
                let kind = output.kind.get().unwrap_or("item").to_owned();
                let raw = raw.map(RawValue::to_owned).or(begun);
                raw.map_or(Closing::Nothing, |raw| Closing::Kept(kind, raw))
            }
        };
        self.items[at].done = true;
        self.lanes.close(at, closing, sink);
        Ok(())
    }

    /// Closes an item of which the end never came, with what its beginning held.
    fn abandon(&mut self, at: usize, sink: &mut Sink) -> Result<(), Fault> {
        if self.items[at].done {
            return Ok(());
        }
        match self.items[at].begun.clone() {
            Some(begun) => self.settle(at, &read(&begun)?, None, sink),
            None => self.settle(at, &Output::default(), None, sink),
        }
    }

    /// The parts of a whole item: adds what did not come in pieces.
    fn parts(
        &mut self,
        at: usize,
        list: Option<&RawValue>,
        run: Run,
        sink: &mut Sink,
    ) -> Result<(), Fault> {
        let parts = match list.filter(|list| !is_blank(list)) {
            Some(list) => self.read_parts(list, run, sink)?,
            None => return Ok(()),
        };
        for run in [run, Run::Refusal] {
            let of_run = || parts.iter().filter(|part| part.0 == run);
            let total: usize = of_run().map(|part| part.2.len()).sum();
            let said = self.items[at].runs.iter().filter(|of| of.0 == run);
            let said = said.map(|(.., said)| *said).fold(0, usize::saturating_add);
            // Servers that number no parts have put all pieces into the first.
            if said < total {
                for (_, number, whole) in of_run() {
                    self.complete(at, run, *number, whole, sink);
                }
            }
        }
        Ok(())
    }

    /// The words of a content list: what they are, their number, themselves.
    fn read_parts(
        &mut self,
        list: &RawValue,
        run: Run,
        sink: &mut Sink,
    ) -> Result<Vec<(Run, u64, String)>, Fault> {
        if list.get().starts_with('"') {
            return Ok(vec![(run, 0, text(Some(list))?)]);
        }
        let list: Vec<&RawValue> = if list.get().starts_with('{') {
            vec![list]
        } else {
            serde_json::from_str(list.get())
                .map_err(|_| Fault::decode("an item's content is no list"))?
        };
        let mut parts = Vec::with_capacity(list.len());
        for (number, raw) in (0_u64..).zip(list) {
            if raw.get().starts_with('"') {
                parts.push((run, number, text(Some(raw))?));
                continue;
            }
            let Ok(Object(Some(part))) = serde_json::from_str::<Object<Part<'_>>>(raw.get()) else {
                return Err(Fault::decode("a part of the answer cannot be read"));
            };
            if part.refusal.is_some() {
                parts.push((Run::Refusal, number, text(part.refusal)?));
            } else if part.text.is_some() {
                parts.push((run, number, text(part.text)?));
            } else {
                let kind = part.kind.get().unwrap_or("part");
                self.lanes.warn(kind, "is not known and is left out", sink);
            }
            if part.annotations.is_some_and(|list| !is_blank(list)) {
                let what = "are not carried over; the raw answer has them";
                self.lanes.warn("annotations", what, sink);
            }
        }
        Ok(parts)
    }
}

const fn kind_of(run: Run) -> Kind {
    match run {
        Run::Text | Run::Refusal => Kind::Message,
        Run::Summary | Run::Thought => Kind::Reasoning,
    }
}

fn read(raw: &RawValue) -> Result<Output<'_>, Fault> {
    match serde_json::from_str::<Object<Output<'_>>>(raw.get()) {
        Ok(Object(Some(output))) => Ok(output),
        _ => Err(Fault::decode("an item of the answer cannot be read")),
    }
}

fn kind(output: &Output<'_>) -> Kind {
    match output.kind.get() {
        Some("message") => Kind::Message,
        Some("reasoning") => Kind::Reasoning,
        Some("function_call" | "custom_tool_call") => Kind::Call,
        Some(_) => Kind::Other,
        None if output.name.get().is_some() => Kind::Call,
        None => Kind::Message,
    }
}

/// A reasoning item of which the end never came: it cannot go back.
const UNFINISHED: &str = r#"{"type":"reasoning"}"#;

/// Far more items than an answer has, and few enough to look through for every piece.
const MAX_ITEMS: usize = 4_096;
