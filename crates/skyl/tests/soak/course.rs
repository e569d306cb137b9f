//! Faults, and what each must lead to: the rules, written down a second time and by hand.
//!
//! Nothing here asks the engine. A row says what a reader of the documentation expects.

use skyl::ErrorKind;

/// What one step of a script must lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The answer, whole.
    Answer,
    /// A failed attempt that is repeated, not before this many milliseconds.
    Repeated(ErrorKind, Option<u16>, u64),
    /// The end of the call.
    Final(ErrorKind, Option<u16>),
    /// A stream that breaks after content: never repeated.
    Broken(ErrorKind),
    /// The same by a reset, which may overtake the content on its way: then nothing was delivered,
    /// and the attempt is repeated.
    Torn(ErrorKind),
}

/// A step, and its fate in a whole answer, in a stream, and with System One.
pub(crate) struct Fault {
    pub(crate) script: &'static str,
    pub(crate) whole: Fate,
    pub(crate) streamed: Fate,
    pub(crate) system_one: Fate,
}

impl Fault {
    /// The same where System One has another rule.
    const fn but_system_one(mut self, fate: Fate) -> Self {
        self.system_one = fate;
        self
    }
}

const fn same(script: &'static str, fate: Fate) -> Fault {
    Fault {
        script,
        whole: fate,
        streamed: fate,
        system_one: fate,
    }
}

const fn breaks(script: &'static str, whole: ErrorKind, streamed: Fate) -> Fault {
    let whole = Repeated(whole, Some(200), 0);
    Fault {
        script,
        whole,
        streamed,
        system_one: whole,
    }
}

use ErrorKind::{
    Auth, BadRequest, ContextLength, Decode, NotFound, QuotaExhausted, RateLimit, Server,
    Transport, Truncated, Unclassified,
};
use Fate::{Answer, Broken, Final, Repeated, Torn};

/// Steps after which the call goes on with the next one.
pub(crate) const REPEATED: &[Fault] = &[
    same("429(ra-ms=7)", Repeated(RateLimit, Some(429), 7)),
    same("429(ra=0.012)", Repeated(RateLimit, Some(429), 12)),
    same("429", Repeated(RateLimit, Some(429), 0)),
    same("429(ra-raw=soon)", Repeated(RateLimit, Some(429), 0)),
    same("408", Repeated(Server, Some(408), 0)),
    // By status: 409 is not in the set.
    same("409", Repeated(Server, Some(409), 0)).but_system_one(Final(Server, Some(409))),
    same("500(body=cut)", Repeated(Server, Some(500), 0)),
    same("502(body=html)", Repeated(Server, Some(502), 0)),
    same("503(ra-ms=9)+stall(2)", Repeated(Server, Some(503), 9)),
    same("503(body=empty)", Repeated(Server, Some(503), 0)),
    same("529(body=overloaded)", Repeated(Server, Some(529), 0)),
    same("599", Repeated(Server, Some(599), 0)),
    // A whole answer that holds none is final there: its status is in no set.
    same("204", Repeated(Server, Some(204), 0)).but_system_one(Final(Decode, Some(204))),
    same("reset", Repeated(Transport, None, 0)),
    same("close", Repeated(Transport, None, 0)),
    same("first-error", Repeated(Server, Some(200), 0)).but_system_one(Final(Decode, Some(200))),
    same("comments(12)+first-error", Repeated(Server, Some(200), 0))
        .but_system_one(Final(Decode, Some(200))),
];

/// Steps that break what they began: a whole answer is asked for again, a stream is not.
pub(crate) const BREAKING: &[Fault] = &[
    breaks("reset-mid", Transport, Torn(Transport)),
    breaks("close-mid", Transport, Broken(Transport)),
    breaks("stream-error(1)", Server, Broken(Server)).but_system_one(Final(Decode, Some(200))),
    breaks("stream-truncate(2)", Transport, Broken(Truncated)),
    breaks("stream-reset(1)+split(11)", Transport, Torn(Transport)),
];

/// Steps that end the call.
pub(crate) const FINAL: &[Fault] = &[
    same("302", Final(Unclassified, Some(302))),
    same("400", Final(BadRequest, Some(400))),
    same("400(body=context)", Final(ContextLength, Some(400))),
    same("401", Final(Auth, Some(401))),
    same("403", Final(Auth, Some(403))),
    same("404", Final(NotFound, Some(404))),
    same("422", Final(BadRequest, Some(422))),
    same("425", Final(BadRequest, Some(425))),
    // By status: 429 is in the set, whatever its kind.
    same("429(body=quota)", Final(QuotaExhausted, Some(429))).but_system_one(Repeated(
        QuotaExhausted,
        Some(429),
        0,
    )),
    // The server's word is not read there.
    same("503(should-retry=false)", Final(Server, Some(503))).but_system_one(Repeated(
        Server,
        Some(503),
        0,
    )),
];

/// Steps that answer.
pub(crate) const ANSWERING: &[Fault] = &[
    same("ok", Answer),
    same("stall(3)", Answer),
    same("stall-mid(3)", Answer),
    same("slow(1)+split(9)", Answer),
    same("comments(15)", Answer),
];
