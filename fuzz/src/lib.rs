//! Any bytes into every parser of the project, and what must hold whatever they are.
//!
//! A [`Target`] is a plain function over bytes that returns, or panics where a rule is broken. Three
//! users share it: the committed corpus and a short seeded mutation of it (the program `quick`, in
//! the gate as `cargo xtask test fuzz`), and libFuzzer (`cargo xtask fuzz TARGET`). So an input that
//! one of them finds can be put into `corpus/TARGET/` and is tried by all from then on.
//!
//! Beyond "never panics" each target holds what can be said without a second parser: the same bytes
//! give the same result for every way of cutting them, what is printed reads back, a wait agrees with
//! its explanation, what is held stays in proportion to what came in.
//!
//! Not here: anything that needs a socket, a clock or a runtime. Those have tests of their own.

mod cuts;
mod dialects;
mod framing;
mod hints;
pub mod mutate;
mod policy;
mod script;
mod secrets;
mod system_one;
mod words;

/// One parser, or one family of them that reads the same bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The word that selects it, and its folder under `corpus/`.
    pub name: &'static str,
    /// Feeds it one input; panics where a rule is broken.
    pub run: fn(&[u8]),
    /// Pieces a mutation may put in, so that it gets past the first check of the parser.
    pub words: &'static [&'static str],
}

/// The target of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The longest input that is tried: room for every shape, and still thousands of inputs a second.
pub const MAX_INPUT_BYTES: usize = 16 << 10;

/// Every target, lowest layer first.
pub const TARGETS: &[Target] = &[
    target("sse", framing::sse, words::SSE),
    target("lines", framing::lines, words::JSON),
    target("json-array", framing::json_array, words::JSON),
    target("retry-after", hints::retry_after, words::WAITS),
    target("headers", hints::headers, words::HEADERS),
    target("waits", hints::waits, words::WAITS),
    target("duration", hints::duration, words::WAITS),
    target("policy", policy::policy, words::POLICY),
    target("script", script::script, words::SCRIPT),
    target("secrets", secrets::secrets, words::SECRETS),
    target("openai-body", dialects::openai_body, words::OPENAI),
    target("openai-stream", dialects::openai_stream, words::OPENAI),
    target("responses-body", dialects::responses_body, words::RESPONSES),
    target(
        "responses-stream",
        dialects::responses_stream,
        words::RESPONSES,
    ),
    target("compat-body", dialects::compat_body, words::OPENAI),
    target("compat-stream", dialects::compat_stream, words::OPENAI),
    target("anthropic-body", dialects::anthropic_body, words::ANTHROPIC),
    target(
        "anthropic-stream",
        dialects::anthropic_stream,
        words::ANTHROPIC,
    ),
    target("gemini-body", dialects::gemini_body, words::GEMINI),
    target("gemini-stream", dialects::gemini_stream, words::GEMINI),
    target("system-one-reply", system_one::reply, words::SYSTEM_ONE),
    target("system-one-error", system_one::error, words::SYSTEM_ONE),
    target(
        "system-one-document",
        system_one::document,
        words::SYSTEM_ONE,
    ),
];

const fn target(name: &'static str, run: fn(&[u8]), words: &'static [&'static str]) -> Target {
    Target { name, run, words }
}
