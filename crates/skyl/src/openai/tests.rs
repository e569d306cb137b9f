//! Recorded answers of OpenAI and of those who speak as it does.

use super::*;
use crate::dialect::harness;

fn openai() -> OpenAi {
    OpenAi::new("sk-test-0123456789")
}

fn compatible() -> OpenAiCompatible {
    OpenAiCompatible::new("http://localhost:8000/v1")
}

#[test]
fn every_recorded_answer_decodes_whole_byte_by_byte_and_cut_anywhere() {
    for name in [
        "02-openai-chat-response.json",
        "04-openai-chat-stream-parallel-tools.sse",
        "05-openai-chat-refusal.json",
        "07-openai-429-quota.http",
        "08-openai-400-context.http",
        "53-openai-truncated-no-done.sse",
    ] {
        harness::check(&openai(), name);
    }
    for name in [
        "10-vllm-midstream-error-then-done.sse",
        "34-openrouter-comments-error.sse",
        "35-openrouter-200-error.http",
        "37-compat-tools-no-index.sse",
        "40-groq-stream.sse",
        "41-azure-stream.sse",
        "43-mistral-response.json",
        "44-mistral-422.http",
        "46-llamacpp-400-context.http",
        "47-xai-429-string-error.http",
        "49-compat-sloppy.sse",
        "52-usage-before-and-after.sse",
        "55-compat-usage-chunk-without-choices.sse",
        "56-openrouter-null-choices.json",
    ] {
        harness::check(&compatible(), name);
    }
}
