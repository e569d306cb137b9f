//! The page: an overview, a table for each dialect, a section for each known server.

use std::fmt::Write as _;

use http::HeaderMap;
use skyl::openai::presets;

use crate::columns::{Column, columns, compat, servers};
use crate::probes::{Outcome, PROBES};

pub(crate) fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    overview(&mut page);
    let all = columns();
    for column in &all {
        let like = all.iter().find(|other| Some(other.anchor) == column.like);
        section(&mut page, column, like);
    }
    page.push_str(PRESETS);
    for server in servers() {
        server_section(&mut page, &server);
    }
    page
}

/// Where a server's outcomes differ from those of one of which nothing is known.
pub(crate) fn differences(server: &Column, others: &Column) -> Vec<String> {
    PROBES
        .iter()
        .filter_map(|probe| {
            let (own, other) = (server.ask(probe), others.ask(probe));
            (own != other).then(|| format!("{}: {}", probe.name, cell(&own)))
        })
        .collect()
}

fn overview(page: &mut String) {
    let columns = columns();
    page.push_str("|  |");
    for column in &columns {
        write!(page, " [{0}](#{0}) |", column.anchor).unwrap();
    }
    page.push_str("\n|---|");
    page.push_str(&":-:|".repeat(columns.len()));
    page.push('\n');
    for probe in PROBES {
        write!(page, "| {} |", probe.name).unwrap();
        for column in &columns {
            write!(page, " {} |", mark(&column.ask(probe))).unwrap();
        }
        page.push('\n');
    }
}

fn section(page: &mut String, column: &Column, like: Option<&Column>) {
    write!(
        page,
        "\n## {}\n\n{}, asked for `{}`.\n",
        column.anchor, column.title, column.model
    )
    .unwrap();
    if let Some(like) = like {
        list(page, &differences(column, like), like.anchor);
        return;
    }
    page.push_str("\n| of the request | on the wire |\n|---|---|\n");
    for probe in PROBES {
        writeln!(page, "| {} | {} |", probe.name, cell(&column.ask(probe))).unwrap();
    }
    let models = match column.dialect.encode_models(None) {
        Ok(encoded) => format!("`GET …{}`", encoded.path),
        Err(fault) => format!("refused: {}", fault.message().unwrap_or_default()),
    };
    writeln!(page, "| the list of models | {models} |").unwrap();
}

fn server_section(page: &mut String, server: &Column) {
    let preset = presets()
        .iter()
        .find(|preset| preset.name() == server.anchor);
    let preset = preset.unwrap();
    let url = preset.base_url().map_or_else(
        || "Each account has an address of its own".to_owned(),
        |url| format!("`{url}`"),
    );
    let key = match (preset.key_variable(), preset.needs_key()) {
        (Some(variable), true) => format!("key in `{variable}`, sent as `{}`", key_header(server)),
        (Some(variable), false) => format!("needs no key; one may stand in `{variable}`"),
        (None, _) => "needs no key".to_owned(),
    };
    write!(page, "\n### {}\n\n{url}; {key}.\n", server.anchor).unwrap();
    list(page, &differences(server, &compat()), "compat");
}

fn list(page: &mut String, differences: &[String], like: &str) {
    if differences.is_empty() {
        writeln!(page, "\nAs [{like}](#{like}) throughout.").unwrap();
        return;
    }
    write!(page, "\nAs [{like}](#{like}), but for:\n\n").unwrap();
    for difference in differences {
        writeln!(page, "- {difference}").unwrap();
    }
}

fn key_header(server: &Column) -> String {
    let mut headers = HeaderMap::new();
    server.dialect.authorize(&mut headers).unwrap();
    headers.keys().map(ToString::to_string).collect()
}

fn mark(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Refused(_) => "refused",
        Outcome::Sent { wire, warnings } => match (wire.is_empty(), warnings.is_empty()) {
            (_, true) => "✓",
            (false, false) => "✓, warned",
            (true, false) => "warned",
        },
    }
}

fn cell(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Refused(why) => format!("**refused**: {why}"),
        Outcome::Sent { wire, warnings } => {
            let sent = if wire.is_empty() {
                "not sent".to_owned()
            } else {
                wire.join(", ")
            };
            let warned = warnings
                .iter()
                .map(|warning| format!("; **warned**: {warning}"));
            sent + &warned.collect::<String>()
        }
    };
    text.replace('|', "\\|")
}

const INTRODUCTION: &str = "\
# What each dialect expresses

What of a request goes to which provider, and what does not. Nothing is dropped in silence: what a
provider cannot express is refused before any network (`Unsupported`), and what is not expressed
exactly is a warning of the answer. This page is made from what the code does: each row is a request
with one thing in it, which each dialect encodes. `SKYL_WRITE_DOCS=1 cargo test -p skyl --test
dialects` writes it anew; the same test without the variable fails where page and code differ.

✓ is sent; *warned* is not sent, or in part, and said; *refused* is an error before any network.
What answers may look like is not here: all shapes are taken from everybody, see the pages of the
modules.

";

const PRESETS: &str = "
## Known servers

`OpenAiCompatible::preset(name)`, a constructor such as `OpenAiCompatible::groq(key)`, or `--preset`
in the program. Everything is as [compat](#compat), but for what stands here.
";
