//! The conversation as two speakers see it, with every tool result tied to its call.
//!
//! A history may have been written by any provider. Ids need not be unique in it: some providers
//! repeat one within an answer, others number the calls of every answer from zero. So a result
//! belongs to the earliest call of that id which has no result yet, looked for in the latest turn
//! first, and wire ids and names are taken from the call, never from the result.

use std::collections::HashMap;

use crate::dialect::Fault;
use crate::kind::ErrorKind;
use crate::message::{Message, Part, Role, ToolCall, ToolResult};

/// A conversation in turns that alternate, with its calls numbered.
#[derive(Debug)]
pub(crate) struct History<'a> {
    /// The turns, oldest first; neighbours never have the same speaker.
    pub(crate) turns: Vec<Turn<'a>>,
    /// Every tool call, in order; other places name a call by its index here.
    pub(crate) calls: Vec<&'a ToolCall>,
}

/// All that one speaker says before the other does.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    /// Who speaks.
    pub(crate) speaker: Speaker,
    /// Tool results with the number of the call they answer, in the order of the calls.
    pub(crate) results: Vec<(usize, &'a ToolResult)>,
    /// Tool results of calls that are not here; see [`History::read_open`].
    pub(crate) strays: Vec<&'a ToolResult>,
    /// Everything else, in order.
    pub(crate) pieces: Vec<Piece<'a>>,
}

/// One part of a turn, and where it stands in the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    /// The part; never a tool result.
    pub(crate) part: &'a Part,
    /// The number of the call, if the part is one.
    pub(crate) call: Option<usize>,
    /// The message's place in the request.
    pub(crate) message: usize,
}

/// The two speakers; tools speak through the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The user and their tools.
    User,
    /// The model.
    Model,
}

impl<'a> History<'a> {
    /// Reads a conversation.
    ///
    /// # Errors
    /// A [`Fault`] of kind `BadRequest` where a result names a call that does not come before it.
    pub(crate) fn read(messages: &'a [Message]) -> Result<Self, Fault> {
        let (history, stray) = Self::gather(messages);
        match stray {
            Some((m, p, result)) => Err(Fault::new(ErrorKind::BadRequest).with_message(format!(
                "message {m} part {p}: no earlier tool call has the id `{}`",
                result.call_id
            ))),
            None => Ok(history),
        }
    }

    /// Reads a conversation whose beginning the provider keeps: the calls may stand there.
    pub(crate) fn read_open(messages: &'a [Message]) -> Self {
        Self::gather(messages).0
    }

    /// The conversation, and the first result in it that names no call.
    fn gather(messages: &'a [Message]) -> (Self, Option<(usize, usize, &'a ToolResult)>) {
        let mut stray = None;
        let mut history = Self {
            turns: Vec::new(),
            calls: Vec::new(),
        };
        let mut answers = Answers::default();
        for (m, message) in messages.iter().enumerate() {
            let speaker = match message.role {
                Role::User | Role::Tool => Speaker::User,
                Role::Assistant => Speaker::Model,
            };
            let turn = match history.turns.last_mut() {
                Some(turn) if turn.speaker == speaker => turn,
                _ => {
                    history.turns.push(Turn {
                        speaker,
                        results: Vec::new(),
                        strays: Vec::new(),
                        pieces: Vec::new(),
                    });
                    let Some(turn) = history.turns.last_mut() else {
                        continue;
                    };
                    turn
                }
            };
            for (p, part) in message.parts.iter().enumerate() {
                let mut call = None;
                match part {
                    Part::ToolResult(result) => {
                        if let Some(number) = answers.take(&result.call_id) {
                            turn.results.push((number, result));
                        } else {
                            stray = stray.or(Some((m, p, result)));
                            turn.strays.push(result);
                        }
                        continue;
                    }
                    Part::ToolCall(made) => {
                        call = Some(history.calls.len());
                        answers.expect(&made.id, history.calls.len());
                        history.calls.push(made);
                    }
                    _ => {}
                }
                turn.pieces.push(Piece {
                    part,
                    call,
                    message: m,
                });
            }
            if speaker == Speaker::Model {
                answers.next_turn();
            }
        }
        for turn in &mut history.turns {
            turn.results.sort_by_key(|(call, _)| *call);
        }
        (history, stray)
    }
}

/// The calls that wait for a result, by id.
#[derive(Debug, Default)]
struct Answers<'a> {
    by_id: HashMap<&'a str, Waiting>,
    turn: usize,
}

/// Calls of one id in one turn, the first of which without a result is `next`.
#[derive(Debug)]
struct Waiting {
    turn: usize,
    calls: Vec<usize>,
    next: usize,
}

impl<'a> Answers<'a> {
    fn expect(&mut self, id: &'a str, call: usize) {
        let turn = self.turn;
        let waiting = self.by_id.entry(id).or_insert_with(|| Waiting {
            turn,
            calls: Vec::new(),
            next: 0,
        });
        // A later turn that uses the id again takes it over.
        if waiting.turn != turn {
            *waiting = Waiting {
                turn,
                calls: Vec::new(),
                next: 0,
            };
        }
        waiting.calls.push(call);
    }

    fn next_turn(&mut self) {
        self.turn += 1;
    }

    /// The call a result of this id answers; a second result goes to the last call of the id.
    fn take(&mut self, id: &str) -> Option<usize> {
        let waiting = self.by_id.get_mut(id)?;
        let call = waiting
            .calls
            .get(waiting.next)
            .or(waiting.calls.last())
            .copied();
        waiting.next = waiting.next.saturating_add(1);
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(ids: &[&str]) -> Message {
        let call = |id: &&str| Part::ToolCall(ToolCall::new(*id, format!("tool_{id}"), "{}"));
        Message::new(Role::Assistant, ids.iter().map(call).collect())
    }

    #[track_caller]
    fn check(messages: &[Message], expected: &[(usize, &str)]) {
        let history = History::read(messages).unwrap();
        let found: Vec<(usize, &str)> = history
            .turns
            .iter()
            .flat_map(|turn| &turn.results)
            .map(|(call, result)| (*call, result.content.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn results_come_in_the_order_of_their_calls() {
        check(
            &[
                calls(&["a", "b"]),
                Message::tool_result("b", "2"),
                Message::tool_result("a", "1"),
            ],
            &[(0, "1"), (1, "2")],
        );
    }

    #[test]
    fn an_id_used_again_in_a_later_turn_means_the_later_call() {
        check(
            &[
                calls(&["a"]),
                Message::tool_result("a", "1"),
                calls(&["a"]),
                Message::tool_result("a", "2"),
            ],
            &[(0, "1"), (1, "2")],
        );
    }

    #[test]
    fn results_of_one_repeated_id_go_by_position() {
        check(
            &[
                calls(&["a", "a"]),
                Message::tool_result("a", "1"),
                Message::tool_result("a", "2"),
            ],
            &[(0, "1"), (1, "2")],
        );
    }

    #[test]
    fn a_result_without_a_call_is_refused_and_named() {
        let messages = [calls(&["a"]), Message::tool_result("b", "x")];
        let fault = History::read(&messages).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::BadRequest);
        assert_eq!(
            fault.message(),
            Some("message 1 part 0: no earlier tool call has the id `b`")
        );
    }

    #[test]
    fn neighbours_of_one_speaker_become_one_turn_with_results_apart() {
        let messages = [
            Message::user("q"),
            Message::assistant("wait"),
            calls(&["a"]),
            Message::user("and?"),
            Message::tool_result("a", "1"),
        ];
        let history = History::read(&messages).unwrap();
        let shape: Vec<_> = history
            .turns
            .iter()
            .map(|turn| (turn.speaker, turn.results.len(), turn.pieces.len()))
            .collect();
        assert_eq!(
            shape,
            [
                (Speaker::User, 0, 1),
                (Speaker::Model, 0, 2),
                (Speaker::User, 1, 1)
            ]
        );
    }
}
