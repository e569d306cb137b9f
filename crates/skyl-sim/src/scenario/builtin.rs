//! The scenarios that come with the crate: files, read like any other.

use crate::scenario::Scenario;

/// The built-in scenarios, in the order in which lists name them.
pub const BUILTIN_NAMES: [&str; 6] = [
    "blip",
    "shared-retry-after",
    "brown-out",
    "metastable",
    "aws-occ",
    "budget",
];

pub(super) fn scenario(name: &str) -> Option<Scenario> {
    let text = match name {
        "blip" => include_str!("../../scenarios/blip.toml"),
        "shared-retry-after" => include_str!("../../scenarios/shared-retry-after.toml"),
        "brown-out" => include_str!("../../scenarios/brown-out.toml"),
        "metastable" => include_str!("../../scenarios/metastable.toml"),
        "aws-occ" => include_str!("../../scenarios/aws-occ.toml"),
        "budget" => include_str!("../../scenarios/budget.toml"),
        _ => return None,
    };
    // Files of this crate that a test reads, every one.
    Scenario::from_toml(name, text).ok()
}
