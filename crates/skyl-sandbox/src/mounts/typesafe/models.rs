//! The models on offer: two aliases are listed, and the versions behind them are taken too.

use serde_json::{Value, json};

use super::write::Oddity;
use crate::{
    answer::{Answer, Call, Whole},
    fault::Named,
    mounts::House,
};

/// The version that answers under a name; `None` if nobody knows the name.
///
/// A fault answers for any name of its form; behind it is the version of the default alias.
pub(super) fn served<'a>(model: &'a str, house: &'a House) -> Option<&'a str> {
    let alias = CATALOGUE.iter().find(|entry| entry.alias == model);
    let version = CATALOGUE.iter().find(|entry| entry.version == model);
    if let Some(entry) = alias.or(version) {
        return Some(entry.version);
    }
    let own = house.models.iter().find(|own| *own == model);
    if let Some(own) = own {
        return Some(own);
    }
    let odd = Oddity::of(model).is_some() || model == "sandbox-echo-key";
    let fault = !matches!(Named::of(model), Named::Plain);
    (odd || fault).then_some(CATALOGUE[0].version)
}

/// The list, in which versions are not.
pub(super) fn list(house: &House) -> Call {
    let entry = |name: &str, description: &str| json!({"name": name, "description": description, "release_date": RELEASED});
    let aliases = CATALOGUE
        .iter()
        .map(|model| entry(model.alias, model.description));
    let own = house
        .models
        .iter()
        .map(|name| entry(name, "A model of whoever started the sandbox."));
    let models: Value = aliases.chain(own).collect();
    Call {
        model: None,
        refused: false,
        tokens: 0,
        answer: Answer::Whole(Whole::json(200, &json!({"models": models}))),
    }
}

#[derive(Debug)]
struct Entry {
    alias: &'static str,
    version: &'static str,
    description: &'static str,
}

/// The first one is the default of the provider's own clients.
const CATALOGUE: [Entry; 2] = [
    Entry {
        alias: "jev-latest",
        version: "jev-1.13.0",
        description: "The sandbox's stand-in for the latest stable version.",
    },
    Entry {
        alias: "jev-preview",
        version: "jev-1.14.0",
        description: "The sandbox's stand-in for the version to come.",
    },
];

/// With a time of day and an offset, though the provider's schema says `YYYY-MM-DD`.
const RELEASED: &str = "2026-09-10T18:38:01.391457+00:00";
