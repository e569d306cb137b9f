//! Numbers drawn from a request: the same question about the same state gives the same answer.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{assets::Asset, check::Question};

/// What all answers to a request are drawn from: its state and its images.
#[derive(Debug)]
pub(super) struct Urn<'a> {
    assets: &'a [Asset<'a>],
    hash: Sha256,
}

impl<'a> Urn<'a> {
    pub(super) fn new(state: &Value, assets: &'a [Asset<'a>]) -> Self {
        let mut urn = Self {
            assets,
            hash: Sha256::new(),
        };
        urn.hash.update(urn.text(state));
        for asset in assets {
            urn.hash.update(Sha256::digest(&asset.image));
        }
        urn
    }

    /// The numbers of one question; `salt` makes another row of the same request.
    ///
    /// The question's name and the other questions take no part.
    pub(super) fn draw(&self, question: &Question<'_>, salt: u8) -> Draw {
        let mut hash = self.hash.clone();
        hash.update([salt]);
        hash.update(self.text(question.json));
        Draw {
            seed: hash.finalize().into(),
            block: [0; 32],
            blocks: 0,
            at: 32,
        }
    }

    /// The JSON of a value, in which all images are the same: an image counts by its bytes, since
    /// clients make up the text that stands for it anew in each call.
    fn text(&self, value: &Value) -> String {
        let mut text = value.to_string();
        for asset in self.assets {
            let reference = Value::from(asset.reference).to_string();
            // No longer than any reference, so that the text never grows.
            text = text.replace(reference.trim_matches('"'), "\0");
        }
        text
    }
}

/// An endless row of bytes that a state and a question give.
#[derive(Debug)]
pub(super) struct Draw {
    seed: [u8; 32],
    block: [u8; 32],
    blocks: u32,
    at: usize,
}

impl Draw {
    /// A number from 0 to `last`.
    pub(super) fn up_to(&mut self, last: u32) -> u32 {
        let word = (u32::from(self.byte()) << 8) | u32::from(self.byte());
        word % last.saturating_add(1)
    }

    fn byte(&mut self) -> u8 {
        if self.at >= self.block.len() {
            let mut hash = Sha256::new();
            hash.update(self.seed);
            hash.update(self.blocks.to_be_bytes());
            self.block = hash.finalize().into();
            self.blocks = self.blocks.wrapping_add(1);
            self.at = 0;
        }
        let byte = self.block.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        byte
    }
}

/// Probabilities in hundredths that add up to exactly a hundred, one of them above all others.
pub(super) fn shares(draw: &mut Draw, options: usize) -> Vec<u32> {
    let others = u32::try_from(options.saturating_sub(1)).unwrap_or(u32::MAX);
    let winner = draw.up_to(others);
    // More than half, so that what is left is less however it falls.
    let won = if others == 0 {
        100
    } else {
        51 + draw.up_to(46)
    };
    let weights: Vec<u32> = (0..others).map(|_| 1 + draw.up_to(255)).collect();
    let total = weights.iter().sum::<u32>().max(1);
    let mut rest: Vec<u32> = weights
        .iter()
        .map(|weight| (100 - won) * weight / total)
        .collect();
    let lost = (100 - won) - rest.iter().sum::<u32>();
    for share in rest.iter_mut().take(usize::try_from(lost).unwrap_or(0)) {
        *share += 1;
    }
    rest.insert(usize::try_from(winner).unwrap_or(0), won);
    rest
}

/// Hundredths as the number the wire has.
pub(super) fn number(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

/// How far the largest share is from pure chance, as the hosted API says it: (p − 1/n) / (1 − 1/n),
/// to two decimals. One option alone is certain.
pub(super) fn confidence(shares: &[u32]) -> f64 {
    let options = u32::try_from(shares.len()).unwrap_or(u32::MAX);
    let most = shares.iter().max().copied().unwrap_or(100);
    let above = i64::from(most) * i64::from(options) - 100;
    let room = i64::from(options) - 1;
    if room <= 0 {
        return 1.0;
    }
    // Rounded to the nearest hundredth; with more than half of the probability never below zero.
    let hundredths = (2 * above + room).div_euclid(2 * room).clamp(0, 100);
    number(u32::try_from(hundredths).unwrap_or(0))
}
