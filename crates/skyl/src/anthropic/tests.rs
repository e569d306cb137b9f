//! Recorded answers, and every rule of the dialect where it fires and where it does not.

mod answers;
mod errors;
mod requests;
mod streams;

use super::*;
use crate::dialect::harness;

fn anthropic() -> Anthropic {
    Anthropic::new("sk-ant-test-0123456789")
}

#[test]
fn every_recorded_answer_decodes_whole_byte_by_byte_and_cut_anywhere() {
    for name in [
        "19-anthropic-stream.sse",
        "20-anthropic-midstream-overloaded.sse",
        "22-anthropic-truncated.sse",
        "23-anthropic-429-rate.http",
        "25-anthropic-529.http",
    ] {
        harness::check(&anthropic(), name);
    }
}
