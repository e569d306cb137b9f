//! Recorded answers, and every rule of the dialect where it fires and where it does not.

mod answers;
mod errors;
mod requests;
mod streams;

use super::*;
use crate::dialect::harness;

fn gemini() -> Gemini {
    Gemini::new("AIza-test-0123456789")
}

#[test]
fn every_recorded_answer_decodes_whole_byte_by_byte_and_cut_anywhere() {
    for name in [
        "28-gemini-stream.sse",
        "29-gemini-stream-parallel-calls.sse",
        "31-gemini-429-minute.http",
        "32-gemini-429-day-array.http",
    ] {
        harness::check(&gemini(), name);
    }
}
