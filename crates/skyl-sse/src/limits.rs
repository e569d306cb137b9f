/// Caps on what a [`Decoder`](crate::Decoder) holds while a frame is incomplete.
///
/// A cap is the same for every split of the input: it counts the bytes of the line or event,
/// not the bytes that happened to be buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) line: usize,
    pub(crate) event: usize,
}

impl Limits {
    /// Caps one line, in bytes, its end not counted. Default: 32 MiB.
    ///
    /// One line carries one delta, and image deltas reach several MiB; 64 KiB proved far too
    /// small for Go's client, which went to 32 MiB (`openai-go#368`). Zero admits blank lines
    /// alone. Longer lines are [`ErrorKind::LineTooLong`](crate::ErrorKind::LineTooLong).
    #[must_use]
    pub const fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// Caps one event or stray, in bytes: name and joined data lines. Default: 32 MiB.
    ///
    /// The default is that of a line, as nearly every event is one line. Zero admits events
    /// without a name and without data alone. Larger events are
    /// [`ErrorKind::EventTooLarge`](crate::ErrorKind::EventTooLarge).
    #[must_use]
    pub const fn max_event_bytes(mut self, bytes: usize) -> Self {
        self.event = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: DEFAULT_BYTES,
            event: DEFAULT_BYTES,
        }
    }
}

/// Room for an image delta of any size seen so far, and still a bound for a server gone mad.
const DEFAULT_BYTES: usize = 32 << 20;
