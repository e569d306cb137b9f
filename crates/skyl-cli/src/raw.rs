//! `--raw`: the server's own bytes.

use crate::failure::Failure;
use crate::stdout::Form;

/// Refuses two answers on one standard output.
pub(crate) fn check(form: Form) -> Result<(), Failure> {
    match form {
        Form::Json => Err(Failure::usage(
            "--raw: with --json standard output holds one object of this program",
        )),
        Form::Text => Ok(()),
    }
}

/// Says with a failure how the body began that came with it: nothing of it is an answer, and who
/// asks for bytes looks for what was really said.
pub(crate) fn with_body(mut failure: Failure) -> Failure {
    if let Failure::Call(call) = &mut failure
        && let Some(body) = call.error.body()
    {
        let line = format!("the body began: {body}");
        call.advice.push(line);
    }
    failure
}
