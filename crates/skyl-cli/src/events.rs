//! `--events`: every hook event as a JSON line.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use skyl::{ErrorKind, HookEvent, Usage};

use crate::args::EventSink;
use crate::failure::Failure;
use crate::json::{Millis, UsageObject};
use crate::stdout::Stdout;

/// Writes events; the first failure to do so is kept, since a hook has nobody to tell.
pub(crate) struct Events {
    to: Destination,
    failed: Mutex<Option<String>>,
}

enum Destination {
    Stdout(Stdout),
    File(Mutex<BufWriter<File>>),
}

impl Events {
    pub(crate) fn open(sink: &EventSink, stdout: &Stdout) -> Result<Self, Failure> {
        let to = match sink {
            EventSink::Stdout => Destination::Stdout(stdout.clone()),
            EventSink::File(path) => {
                let file = File::create(path).map_err(|error| {
                    Failure::usage(format!(
                        "--events: cannot write {}: {error}",
                        path.display()
                    ))
                })?;
                Destination::File(Mutex::new(BufWriter::new(file)))
            }
        };
        Ok(Self {
            to,
            failed: Mutex::new(None),
        })
    }

    /// Writes one line, whole: a reader that follows the file never sees half of one.
    pub(crate) fn write(&self, event: &HookEvent<'_>) {
        let object = EventObject::of(event);
        let written = match &self.to {
            Destination::Stdout(stdout) => stdout.object(&object).map_err(|failure| failure.line()),
            Destination::File(file) => append(file, &object).map_err(|error| error.to_string()),
        };
        if let Err(why) = written {
            self.failed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(why);
        }
    }

    /// The first failure to write, if there was one.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

fn append(file: &Mutex<BufWriter<File>>, object: &EventObject<'_>) -> std::io::Result<()> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    serde_json::to_writer(&mut *file, object)?;
    file.write_all(b"\n")?;
    file.flush()
}

/// One event, field by field.
#[derive(Debug, Serialize)]
struct EventObject<'a> {
    call: String,
    operation: &'static str,
    provider: &'a str,
    model: Option<&'a str>,
    attempt: u32,
    duration_ms: Millis,
    status: Option<u16>,
    kind: Option<&'static str>,
    request_id: Option<&'a str>,
    wait_ms: Option<Millis>,
    will_retry: bool,
    retry_stop: Option<&'static str>,
    usage: Option<UsageObject>,
}

impl<'a> EventObject<'a> {
    fn of(event: &HookEvent<'a>) -> Self {
        Self {
            call: event.call_id().to_string(),
            operation: event.operation().as_str(),
            provider: event.provider(),
            // The one that was asked for: it is the same for all attempts of a call.
            model: event.model(),
            attempt: event.attempt(),
            duration_ms: Millis(event.duration()),
            status: event.status(),
            kind: event.kind().map(ErrorKind::as_str),
            request_id: event.request_id(),
            wait_ms: event.planned_wait().map(Millis),
            will_retry: event.will_retry(),
            retry_stop: event.retry_stop().map(skyl_retry::StopReason::as_str),
            usage: event
                .usage()
                .filter(|usage| *usage != Usage::default())
                .map(Into::into),
        }
    }
}
