//! Which call comes next: a function of the seed and of the call's number alone.

use std::time::Duration;

use skyl_retry::Rng;

use crate::course::{ANSWERING, BREAKING, FINAL, Fate, Fault, REPEATED};

/// One call as it was drawn.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) number: u64,
    /// Which of the clients makes it.
    pub(crate) client: usize,
    pub(crate) streamed: bool,
    /// The script in the model's name; without one the call meets chaos.
    pub(crate) script: Option<Scripted>,
    pub(crate) leaving: Leaving,
}

/// A script, and what each of its steps must lead to, up to the first that ends the call.
#[derive(Clone, Debug)]
pub(crate) struct Scripted {
    pub(crate) text: String,
    pub(crate) fates: Vec<Fate>,
}

/// How the caller lets go of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// It is waited for to its end.
    Stays,
    /// The future is dropped after this time.
    Drops(Duration),
    /// It is cancelled after this time.
    Cancels(Duration),
    /// Its deadline is this far away.
    Deadline(Duration),
}

/// Draws the call of this number.
pub(crate) fn call(seed: u64, number: u64, clients: usize) -> Drawn {
    let mut dice = Dice(Rng::from_seed(
        seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    ));
    let client = dice.below(clients);
    let streamed = dice.below(2) == 0;
    let script = (dice.below(2) == 0).then(|| scripted(&mut dice, streamed));
    let after = Duration::from_micros(dice.0.next_u64() % 25_000);
    let leaving = match dice.below(40) {
        0 => Leaving::Drops(after),
        1 => Leaving::Cancels(after),
        2 => Leaving::Deadline(after.max(Duration::from_millis(1))),
        _ => Leaving::Stays,
    };
    Drawn {
        number,
        client,
        streamed,
        script,
        leaving,
    }
}

fn scripted(dice: &mut Dice, streamed: bool) -> Scripted {
    let fate = |fault: &Fault| {
        if streamed {
            fault.streamed
        } else {
            fault.whole
        }
    };
    let mut steps: Vec<&Fault> = (0..REPEATS[dice.below(REPEATS.len())])
        .map(|_| dice.of(REPEATED))
        .collect();
    steps.push(match dice.below(10) {
        0 | 1 => dice.of(FINAL),
        2 | 3 => dice.of(BREAKING),
        _ => dice.of(ANSWERING),
    });
    // Where a broken answer is asked for again, this is what comes then.
    steps.push(dice.of(ANSWERING));
    let text: Vec<&str> = steps.iter().map(|step| step.script).collect();
    let mut fates: Vec<Fate> = steps.into_iter().map(fate).collect();
    let ends = |fate: &Fate| !matches!(fate, Fate::Repeated(..) | Fate::Torn(_));
    let course = fates.iter().position(ends).map_or(fates.len(), |at| at + 1);
    fates.truncate(course.min(MOST_ATTEMPTS));
    Scripted {
        text: text.join(","),
        fates,
    }
}

struct Dice(Rng);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        let sides = u64::try_from(sides).unwrap();
        usize::try_from(self.0.next_u64() % sides).unwrap()
    }

    fn of<'t>(&mut self, table: &'t [Fault]) -> &'t Fault {
        &table[self.below(table.len())]
    }
}

/// How many attempts fail before the last step is met; most calls meet few.
const REPEATS: [usize; 10] = [0, 0, 0, 0, 1, 1, 2, 2, 3, 4];

/// The chat policy: one attempt and three retries.
pub(crate) const MOST_ATTEMPTS: usize = 4;
