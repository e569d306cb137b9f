//! Any bytes, and any honest figures.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{all_kinds, bytes, sound};
use crate::kind::ErrorKind;
use crate::system_one::{Questions, Score, Strictness, decode};

proptest! {
    #[test]
    fn any_bytes_decode_or_fail(body in prop::collection::vec(any::<u8>(), 0..256)) {
        let body = Bytes::from(body);
        for strictness in [Strictness::Strict, Strictness::Lenient] {
            if let Err(fault) = decode(&all_kinds(), strictness, &body) {
                prop_assert_eq!(fault.kind(), ErrorKind::Decode);
            }
        }
    }

    /// A sound reply cut anywhere is never a reply, and one with a byte changed is one only if all
    /// its figures are still in range.
    #[test]
    fn a_broken_reply_never_looks_whole(cut in 0_usize..1_000, at in 0_usize..1_000, byte: u8) {
        let body = sound().to_string();
        let cut = cut.min(body.len() - 1);
        let short = Bytes::copy_from_slice(&body.as_bytes()[..cut]);
        prop_assert!(decode(&all_kinds(), Strictness::Lenient, &short).is_err());
        let mut changed = body.into_bytes();
        let at = at % changed.len();
        changed[at] = byte;
        if let Ok(reply) = decode(&all_kinds(), Strictness::Strict, &Bytes::from(changed)) {
            prop_assert!((0.0..=1.0).contains(&reply.answers.noul("n").unwrap().noul));
            prop_assert!(["x", "y"].contains(&reply.answers.choice("c").unwrap().choice.as_str()));
        }
    }

    /// Probabilities rounded, or cut, to two decimals are always taken, and so is their score.
    #[test]
    fn honest_figures_of_two_decimals_are_taken(
        weights in prop::collection::vec(1_u32..1_000, 1..=10),
        round: bool,
    ) {
        let two = |p: f64| if round { (p * 100.0).round() } else { (p * 100.0).floor() } / 100.0;
        let total = f64::from(weights.iter().sum::<u32>());
        let exact: Vec<f64> = weights.iter().map(|w| f64::from(*w) / total).collect();
        let score: f64 = (0_u32..).zip(&exact).map(|(n, p)| f64::from(n) * p).sum();
        let by_level = |f: &dyn Fn(usize) -> Value| -> Value {
            Value::Object((0..exact.len()).map(|n| (n.to_string(), f(n))).collect())
        };
        let answer = json!({
            "type": "score", "confidence": 0.5, "score": two(score),
            "legend": by_level(&|n| json!(format!("l{n}"))),
            "probabilities": by_level(&|n| json!(two(exact[n]))),
        });
        let levels = (0..exact.len()).map(|n| format!("l{n}"));
        let questions = Questions::from([("s", Score::new("i").levels(levels))]);
        let reply = json!({"model": "m", "answers": {"s": answer}, "usage": {"input_tokens": 1, "output_tokens": 1}});
        let reply = decode(&questions, Strictness::Strict, &bytes(reply.to_string()));
        prop_assert!(reply.is_ok(), "{:?}", reply);
    }
}
