//! What happens next: a queue of events for a clock that only goes forward.
//!
//! A radix heap. An event lies in the bucket of the highest bit in which its time differs from the
//! time now; when the time reaches a bucket, its events move to lower ones. Every event moves at
//! most once per bit of its distance, always along the memory, so a million events cost each what a
//! thousand do; a binary heap jumps through memory on every level. Events of one instant come out
//! in the order in which they went in.

/// Events by time.
#[derive(Debug)]
pub(crate) struct Queue {
    // Invariant: no event lies before `now`; bucket 0 holds those at `now`, bucket b those whose
    // time differs from it in bit b − 1 and in no higher one.
    now: u64,
    buckets: Vec<Vec<Event>>,
    // The next event of bucket 0: those before it are gone.
    next: usize,
    count: usize,
}

/// A point in time and what happens at it, as its user packed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) time: u64,
    pub(crate) what: u64,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self {
            now: 0,
            buckets: vec![Vec::new(); BUCKETS],
            next: 0,
            count: 0,
        }
    }

    /// Adds an event; one in the past happens now.
    #[inline]
    pub(crate) fn push(&mut self, time: u64, what: u64) {
        let time = time.max(self.now);
        self.buckets[bucket(time, self.now)].push(Event { time, what });
        self.count += 1;
    }

    /// Takes the next event and moves the time to it.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        if self.next == self.buckets[0].len() {
            self.advance()?;
        }
        let event = self.buckets[0][self.next];
        self.next += 1;
        self.count -= 1;
        Some(event)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.count
    }

    /// Moves the time to the next event that is not at `now`.
    fn advance(&mut self) -> Option<()> {
        self.buckets[0].clear();
        self.next = 0;
        let full = self.buckets.iter().position(|events| !events.is_empty())?;
        let mut events = std::mem::take(&mut self.buckets[full]);
        self.now = events.iter().map(|event| event.time).min()?;
        for event in &events {
            self.buckets[bucket(event.time, self.now)].push(*event);
        }
        // Its room is used again by later events.
        events.clear();
        self.buckets[full] = events;
        Some(())
    }
}

#[inline]
fn bucket(time: u64, now: u64) -> usize {
    // At most 64, which every index holds.
    (u64::BITS - (time ^ now).leading_zeros()) as usize
}

/// One for "now" and one per bit.
const BUCKETS: usize = u64::BITS as usize + 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_of_one_instant_come_in_the_order_they_went_in() {
        let mut queue = Queue::new();
        for what in 0..100 {
            queue.push(5 + what % 2, what);
        }
        let order: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|e| e.what).collect();
        let expected: Vec<u64> = (0..100).step_by(2).chain((1..100).step_by(2)).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn an_event_in_the_past_happens_now() {
        let mut queue = Queue::new();
        queue.push(10, 1);
        assert_eq!(queue.pop(), Some(Event { time: 10, what: 1 }));
        queue.push(3, 2);
        assert_eq!(queue.pop(), Some(Event { time: 10, what: 2 }));
        assert_eq!(queue.pop(), None);
        queue.push(u64::MAX, 3);
        assert_eq!(queue.pop().map(|event| event.what), Some(3));
    }

    proptest! {
        #[test]
        fn time_never_goes_back_and_nothing_is_lost(
            steps in proptest::collection::vec((0_u64..1 << 40, any::<bool>()), 1..300),
        ) {
            let mut queue = Queue::new();
            let mut model: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            for (number, (delay, pop)) in (0_u64..).zip(steps) {
                // Delays of all sizes, many of them equal.
                let time = now + (delay >> (delay % 40));
                queue.push(time, number);
                model.push((time, number));
                if pop {
                    let event = queue.pop().unwrap();
                    let first = *model.iter().min().unwrap();
                    prop_assert_eq!((event.time, event.what), first);
                    prop_assert!(event.time >= now);
                    now = event.time;
                    model.retain(|entry| *entry != first);
                }
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }
}
