//! Scenarios and policies, by name or by file.

use std::path::Path;

use skyl_retry::RetryPolicy;
use skyl_sim::{BUILTIN_NAMES, POLICY_NAMES, Scenario};

use crate::args::SimulateArgs;
use crate::failure::Failure;
use crate::file::{self, Unread};
use crate::settings;

/// One scenario and the policies it is run with.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) scenario: Scenario,
    pub(super) policies: Vec<(String, RetryPolicy)>,
}

/// Everything that was named; read before anything runs, so that a typo costs no minute.
pub(super) fn read(args: &SimulateArgs) -> Result<Vec<Input>, Failure> {
    let mut inputs: Vec<Input> = Vec::new();
    for name in &args.scenarios {
        let scenario = scenario(name)?;
        // Rows and pictures are told apart by it.
        if inputs
            .iter()
            .any(|input| input.scenario.name() == scenario.name())
        {
            let name = scenario.name();
            return Err(Failure::usage(format!("two scenarios are called {name}")));
        }
        let policies = policies(args, &scenario)?;
        inputs.push(Input { scenario, policies });
    }
    Ok(inputs)
}

fn scenario(name: &str) -> Result<Scenario, Failure> {
    // A name goes before a file that happens to be called like it; `./blip` is the file.
    if let Some(scenario) = Scenario::builtin(name) {
        return Ok(scenario);
    }
    let bytes = file::read(Path::new(name), MAX_FILE_MIB).map_err(|unread| match unread {
        Unread::Missing(_) => Failure::usage(format!(
            "{name}: no file, and no scenario of this name; there are {}",
            BUILTIN_NAMES.join(", ")
        )),
        Unread::Other(why) => Failure::usage(format!("{name}: {why}")),
    })?;
    let text =
        String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{name}: not valid UTF-8")))?;
    Scenario::from_toml(&stem(name), &text)
        .map_err(|invalid| Failure::usage(format!("{name}: {invalid}")))
}

fn policies(
    args: &SimulateArgs,
    scenario: &Scenario,
) -> Result<Vec<(String, RetryPolicy)>, Failure> {
    let names = if args.policy.is_empty() {
        scenario.policies()
    } else {
        &args.policy
    };
    let mut policies: Vec<(String, RetryPolicy)> = Vec::new();
    for name in names {
        let (label, policy) = match scenario.policy(name) {
            Some(policy) => (name.clone(), policy),
            None => (
                stem(name),
                settings::policy_in_file("--policy", name, &POLICY_NAMES.join(", "))?,
            ),
        };
        if policies.iter().any(|(other, _)| *other == label) {
            return Err(Failure::usage(format!(
                "--policy {name}: two policies are called {label}"
            )));
        }
        policies.push((label, policy));
    }
    Ok(policies)
}

/// What a file is called in tables: its name without folder and ending.
fn stem(path: &str) -> String {
    let stem = Path::new(path).file_stem();
    stem.map_or_else(
        || path.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Far more than a scenario takes.
const MAX_FILE_MIB: u64 = 1;
