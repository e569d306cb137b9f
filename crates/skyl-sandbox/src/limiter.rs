//! A rate limiter whose word can be relied on.
//!
//! Two buckets, requests and tokens per minute, refilled steadily. A request that finds one empty
//! gets a 429 that says when to come back, and that moment is kept for it: its share is taken out
//! of the bucket at once, under the request's own bytes. So a client that obeys never meets a 429
//! twice in a row, however many others are told to wait at the same time. A place nobody comes
//! back for is given up after a minute.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU32,
    time::Duration,
};

/// Both buckets, and the places kept for those who were told to wait.
#[derive(Debug)]
pub(crate) struct Limiter {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    kept: HashMap<String, VecDeque<Duration>>,
    kept_count: usize,
}

/// What the limiter says to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) verdict: Verdict,
    /// The dimensions with a limit, after this request.
    pub(crate) dimensions: Vec<Dimension>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Admitted,
    /// Come back after this wait.
    Wait(Duration),
    /// The request alone is larger than a minute's tokens: no wait helps.
    TooLarge {
        limit: u32,
        asked: u64,
    },
}

/// One limit as the headers tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    /// `requests` or `tokens`.
    pub(crate) name: &'static str,
    pub(crate) limit: u32,
    pub(crate) remaining: u64,
    /// Until the bucket is full again.
    pub(crate) reset: Duration,
}

impl Limiter {
    /// A limiter for the limits given; `None` without any.
    pub(crate) fn new(requests: Option<NonZeroU32>, tokens: Option<NonZeroU32>) -> Option<Self> {
        (requests.is_some() || tokens.is_some()).then(|| Self {
            requests: requests.map(Bucket::new),
            tokens: tokens.map(Bucket::new),
            kept: HashMap::new(),
            kept_count: 0,
        })
    }

    /// Rules on a request of these tokens, `now` after the start; `body` is the hash of its bytes.
    pub(crate) fn rule(&mut self, now: Duration, body: &str, tokens: u64) -> Ruling {
        let verdict = self.verdict(now, body, tokens);
        let dimensions = [("requests", &self.requests), ("tokens", &self.tokens)];
        let dimensions = dimensions
            .into_iter()
            .filter_map(|(name, bucket)| bucket.as_ref().map(|bucket| bucket.dimension(name, now)));
        Ruling {
            verdict,
            dimensions: dimensions.collect(),
        }
    }

    fn verdict(&mut self, now: Duration, body: &str, tokens: u64) -> Verdict {
        if let Some(limit) = self.tokens.as_ref().map(|bucket| bucket.limit)
            && tokens > u64::from(limit)
        {
            return Verdict::TooLarge {
                limit,
                asked: tokens,
            };
        }
        self.forget(now);
        if let Some(places) = self.kept.get_mut(body)
            && let Some(&place) = places.front()
        {
            if let Some(left) = place.checked_sub(now).filter(|left| !left.is_zero()) {
                return Verdict::Wait(left);
            }
            places.pop_front();
            self.kept_count -= 1;
            if places.is_empty() {
                self.kept.remove(body);
            }
            return Verdict::Admitted;
        }
        let waits = [(&self.requests, 1), (&self.tokens, tokens)];
        let wait = waits
            .into_iter()
            .filter_map(|(bucket, cost)| bucket.as_ref().map(|bucket| bucket.wait(now, cost)))
            .max()
            .unwrap_or_default();
        if !wait.is_zero() && self.kept_count == MAX_KEPT {
            return Verdict::Wait(wait);
        }
        for (bucket, cost) in [(&mut self.requests, 1), (&mut self.tokens, tokens)] {
            if let Some(bucket) = bucket {
                bucket.take(now, cost);
            }
        }
        if wait.is_zero() {
            return Verdict::Admitted;
        }
        // In whole milliseconds, so that what the headers can say is what is kept.
        let wait = Duration::from_millis(
            u64::try_from(wait.as_millis())
                .unwrap_or(u64::MAX)
                .saturating_add(1),
        );
        self.kept
            .entry(body.to_owned())
            .or_default()
            .push_back(now + wait);
        self.kept_count += 1;
        Verdict::Wait(wait)
    }

    /// Gives up the places nobody came back for.
    fn forget(&mut self, now: Duration) {
        let gone = |place: &Duration| *place + PATIENCE < now;
        self.kept.retain(|_, places| {
            places.retain(|place| !gone(place));
            !places.is_empty()
        });
        self.kept_count = self.kept.values().map(VecDeque::len).sum();
    }
}

/// A bucket that refills in a minute, kept as the instant it will be full.
#[derive(Debug)]
struct Bucket {
    limit: u32,
    /// When the bucket is full again; in the past it is full.
    full_at: Duration,
}

impl Bucket {
    fn new(limit: NonZeroU32) -> Self {
        Self {
            limit: limit.get(),
            full_at: Duration::ZERO,
        }
    }

    /// How long it takes to refill this much.
    fn refill(&self, cost: u64) -> Duration {
        let nanos = u128::from(cost) * MINUTE.as_nanos() / u128::from(self.limit);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// How long until the bucket holds this much.
    fn wait(&self, now: Duration, cost: u64) -> Duration {
        let full_after = self.full_at.saturating_sub(now) + self.refill(cost);
        full_after.saturating_sub(MINUTE)
    }

    /// Takes this much out, below empty where it is promised for later.
    fn take(&mut self, now: Duration, cost: u64) {
        self.full_at = self.full_at.max(now) + self.refill(cost);
    }

    fn dimension(&self, name: &'static str, now: Duration) -> Dimension {
        let reset = self.full_at.saturating_sub(now);
        let missing = reset.as_nanos() * u128::from(self.limit);
        let missing = u64::try_from(missing.div_ceil(MINUTE.as_nanos())).unwrap_or(u64::MAX);
        Dimension {
            name,
            limit: self.limit,
            remaining: u64::from(self.limit).saturating_sub(missing),
            reset,
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// How long a place is kept beyond its moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// Places kept at once; beyond it a 429 still says the truth, but promises nothing.
const MAX_KEPT: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limiter(rpm: u32, tpm: u32) -> Limiter {
        Limiter::new(NonZeroU32::new(rpm), NonZeroU32::new(tpm)).unwrap()
    }

    fn body(number: u8) -> String {
        number.to_string()
    }

    #[test]
    fn a_full_bucket_admits_its_limit_and_then_one_at_a_time() {
        let mut limiter = limiter(60, 0);
        for n in 0..60 {
            assert_eq!(
                limiter.rule(SECOND, &body(n), 1).verdict,
                Verdict::Admitted,
                "{n}"
            );
        }
        let Verdict::Wait(wait) = limiter.rule(SECOND, &body(60), 1).verdict else {
            panic!("admitted")
        };
        assert!(wait >= SECOND && wait < SECOND * 2, "{wait:?}");
        assert_eq!(
            limiter.rule(SECOND + wait, &body(60), 1).verdict,
            Verdict::Admitted
        );
    }

    #[test]
    fn a_crowd_that_obeys_never_meets_a_second_refusal() {
        let mut limiter = limiter(60, 0);
        for n in 0..60 {
            limiter.rule(SECOND, &body(n), 1);
        }
        let waits: Vec<_> = (100_u8..150)
            .map(|n| match limiter.rule(SECOND, &body(n), 1).verdict {
                Verdict::Wait(wait) => (n, wait),
                other => panic!("{other:?}"),
            })
            .collect();
        for (n, wait) in waits {
            // A newcomer at the same moment does not take the place.
            assert!(matches!(
                limiter.rule(SECOND + wait, &body(200), 1).verdict,
                Verdict::Wait(_)
            ));
            assert_eq!(
                limiter.rule(SECOND + wait, &body(n), 1).verdict,
                Verdict::Admitted
            );
        }
    }

    #[test]
    fn whoever_comes_too_early_is_told_the_rest_of_the_wait() {
        let mut limiter = limiter(1, 0);
        limiter.rule(SECOND, &body(0), 1);
        let Verdict::Wait(wait) = limiter.rule(SECOND, &body(1), 1).verdict else {
            panic!("admitted")
        };
        let early = SECOND + wait / 2;
        assert_eq!(
            limiter.rule(early, &body(1), 1).verdict,
            Verdict::Wait((SECOND + wait).saturating_sub(early))
        );
    }

    #[test]
    fn tokens_are_limited_beside_requests() {
        let mut limiter = limiter(0, 600);
        assert_eq!(
            limiter.rule(SECOND, &body(0), 600).verdict,
            Verdict::Admitted
        );
        let ruling = limiter.rule(SECOND, &body(1), 100);
        let Verdict::Wait(wait) = ruling.verdict else {
            panic!("admitted")
        };
        assert!(wait >= SECOND * 10 && wait < SECOND * 11, "{wait:?}");
        assert_eq!(ruling.dimensions[0].remaining, 0);
        let too_large = Verdict::TooLarge {
            limit: 600,
            asked: 601,
        };
        assert_eq!(limiter.rule(SECOND, &body(2), 601).verdict, too_large);
    }

    #[test]
    fn headers_count_down_and_say_when_the_bucket_is_full() {
        let mut limiter = limiter(60, 0);
        let first = limiter.rule(SECOND, &body(0), 1).dimensions[0];
        assert_eq!(
            (first.name, first.limit, first.remaining, first.reset),
            ("requests", 60, 59, SECOND)
        );
        let second = limiter.rule(SECOND, &body(1), 1).dimensions[0];
        assert_eq!((second.remaining, second.reset), (58, SECOND * 2));
        let later = limiter.rule(SECOND * 100, &body(2), 1).dimensions[0];
        assert_eq!((later.remaining, later.reset), (59, SECOND));
    }

    #[test]
    fn a_place_nobody_comes_back_for_is_given_up() {
        let mut limiter = limiter(1, 0);
        limiter.rule(SECOND, &body(0), 1);
        assert!(matches!(
            limiter.rule(SECOND, &body(1), 1).verdict,
            Verdict::Wait(_)
        ));
        limiter.rule(SECOND * 600, &body(2), 1);
        assert_eq!(limiter.kept_count, 0);
    }

    #[test]
    fn without_a_limit_there_is_no_limiter() {
        assert!(Limiter::new(None, None).is_none());
    }
}
