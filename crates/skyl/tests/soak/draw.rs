//! Which call comes next: a function of the seed and of the call's number alone.

use std::time::Duration;

use skyl_retry::Rng;

use crate::course::{ANSWERING, BREAKING, FINAL, Fate, Fault, REPEATED};
use crate::run::TARGETS;

/// One call as it was drawn.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) number: u64,
    /// Which of the targets it goes to.
    pub(crate) target: usize,
    pub(crate) course: Course,
    /// The script in the model's name; without one the call meets chaos.
    pub(crate) script: Option<Scripted>,
    pub(crate) leaving: Leaving,
}

/// Which rules a call follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    Whole,
    Streamed,
    SystemOne,
}

impl Course {
    /// One attempt, and the retries of the policy.
    pub(crate) fn most_attempts(self) -> usize {
        match self {
            Self::Whole | Self::Streamed => 4,
            Self::SystemOne => 3,
        }
    }
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
pub(crate) fn call(seed: u64, number: u64) -> Drawn {
    let mut dice = Dice(Rng::from_seed(
        seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    ));
    let target = dice.below(TARGETS.len());
    let course = match (TARGETS[target].streams, dice.below(2) == 0) {
        (false, _) => Course::SystemOne,
        (true, false) => Course::Whole,
        (true, true) => Course::Streamed,
    };
    let script = (dice.below(2) == 0).then(|| scripted(&mut dice, course));
    let after = Duration::from_micros(dice.0.next_u64() % 25_000);
    let leaving = match dice.below(40) {
        0 => Leaving::Drops(after),
        1 => Leaving::Cancels(after),
        2 => Leaving::Deadline(after.max(Duration::from_millis(1))),
        _ => Leaving::Stays,
    };
    Drawn {
        number,
        target,
        course,
        script,
        leaving,
    }
}

fn scripted(dice: &mut Dice, course: Course) -> Scripted {
    let fate = |fault: &Fault| match course {
        Course::Whole => fault.whole,
        Course::Streamed => fault.streamed,
        Course::SystemOne => fault.system_one,
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
    let length = fates.iter().position(ends).map_or(fates.len(), |at| at + 1);
    fates.truncate(length.min(course.most_attempts()));
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
