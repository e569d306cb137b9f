//! `skyl simulate`: what a policy does to a provider, before it does it.

mod figures;
mod input;
mod output;
mod table;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skyl_sim::{NotRun, Plan, Report, Watch};

use crate::args::SimulateArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::stderr::Stderr;
use crate::stdout::{Form, Stdout};

use self::input::Input;

/// Runs the scenarios and says what came out.
pub(crate) async fn run(
    args: &SimulateArgs,
    form: Form,
    stdout: &Stdout,
    stderr: &Stderr,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if form == Form::Json && on_stdout(args) {
        let why = "--csv - and --json both want standard output; give the CSV a file";
        return Err(Failure::usage(why));
    }
    let inputs = input::read(args)?;
    let mut reports = Vec::new();
    for (number, input) in (1..).zip(inputs.iter()) {
        let label = match inputs.len() {
            1 => input.scenario.name().to_owned(),
            of => format!("{} ({number} of {of})", input.scenario.name()),
        };
        reports.push(simulate(args, input, &label, stderr, interrupt).await?);
    }
    output::write(args, &reports, stderr)?;
    match form {
        Form::Json => stdout.object(&figures::object(args.seed, &reports)),
        Form::Text if on_stdout(args) => stdout.text(&output::csv(&reports)),
        Form::Text => stdout.text(&table::tables(&reports)),
    }
}

fn on_stdout(args: &SimulateArgs) -> bool {
    args.csv.as_deref() == Some(Path::new("-"))
}

/// Runs one scenario on threads of its own, while this one listens and draws.
async fn simulate(
    args: &SimulateArgs,
    input: &Input,
    label: &str,
    stderr: &Stderr,
    interrupt: &Interrupt,
) -> Result<Report, Failure> {
    let watch = Arc::new(Watch::new());
    let running = {
        let (watch, input) = (Arc::clone(&watch), input.clone());
        let (seed, seeds) = (args.seed, args.seeds);
        let clients: Vec<u32> = args.clients.iter().map(|clients| clients.get()).collect();
        tokio::task::spawn_blocking(move || {
            let mut plan = Plan::new(&input.scenario)
                .policies(input.policies)
                .seed(seed);
            if let Some(seeds) = seeds {
                plan = plan.seeds(seeds.get());
            }
            if !clients.is_empty() {
                plan = plan.clients(clients);
            }
            plan.run(&watch)
        })
    };
    tokio::pin!(running);
    let ended = tokio::select! {
        biased;
        ended = &mut running => Some(ended),
        () = interrupt.wait() => None,
        () = draw(label, &watch, stderr) => None,
    };
    stderr.erase();
    let Some(ended) = ended else {
        watch.call_off();
        // A moment: it looks every few thousand events.
        let _called_off = running.await.is_err();
        return Err(Failure::Interrupted);
    };
    match ended {
        Ok(Ok(report)) => Ok(report),
        Ok(Err(NotRun::CalledOff)) => Err(Failure::Interrupted),
        Ok(Err(not_run)) => Err(Failure::usage(format!(
            "{}: {not_run}",
            input.scenario.name()
        ))),
        Err(panicked) => Err(Failure::internal(format!(
            "the simulation failed: {panicked}"
        ))),
    }
}

/// Draws how far it is, where lines can be overwritten. Never ends.
async fn draw(label: &str, watch: &Watch, stderr: &Stderr) {
    if !stderr.look().live {
        return std::future::pending().await;
    }
    let mut beat = tokio::time::interval(BEAT);
    // The first beat comes at once; what is done by the second needs no bar.
    beat.tick().await;
    loop {
        beat.tick().await;
        stderr.draw(&bar(label, watch.progress()));
    }
}

fn bar(label: &str, progress: f64) -> String {
    let filled = (0..BAR_WIDTH)
        .take_while(|column| f64::from(*column) + 0.5 < progress * f64::from(BAR_WIDTH))
        .count();
    let empty = usize::try_from(BAR_WIDTH)
        .unwrap_or_default()
        .saturating_sub(filled);
    format!(
        "{label}  {}{}  {:.0} %",
        "━".repeat(filled),
        "─".repeat(empty),
        progress * 100.0
    )
}

const BEAT: Duration = Duration::from_millis(200);
const BAR_WIDTH: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_from_nothing_to_all() {
        assert_eq!(bar("x", 0.0), format!("x  {}  0 %", "─".repeat(30)));
        assert_eq!(
            bar("x", 0.5),
            format!("x  {}{}  50 %", "━".repeat(15), "─".repeat(15))
        );
        assert_eq!(bar("x", 1.0), format!("x  {}  100 %", "━".repeat(30)));
    }
}
