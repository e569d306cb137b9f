//! The sandbox's own endpoints: health, journal, scripts, stats.
//!
//! They need no key and are not journaled: looking must not change what is seen.

use bytes::Bytes;
use http::{Method, request::Parts};
use serde_json::{Value, json};

use crate::server::Server;

/// Answers a request that belongs to no mount.
pub(crate) fn answer(server: &Server, head: &Parts) -> (u16, Bytes) {
    let query = head.uri.query().unwrap_or_default();
    match (head.uri.path(), &head.method) {
        ("/healthz", &Method::GET) => ok(&json!({"status": "ok", "sandbox": true})),
        ("/_sandbox/journal", &Method::GET) => match Page::parse(query) {
            Ok(page) => {
                let entries = server.ledger.entries(page.after, page.limit);
                ok(&entries.iter().map(|entry| entry.to_json()).collect())
            }
            Err(message) => error(400, &message),
        },
        ("/_sandbox/journal", &Method::DELETE) => {
            server.ledger.clear_journal();
            ok(&json!({"cleared": "journal"}))
        }
        ("/_sandbox/scripts", &Method::DELETE) => {
            server.ledger.clear_scripts();
            ok(&json!({"cleared": "scripts"}))
        }
        ("/_sandbox/stats", &Method::GET) => ok(&stats(server)),
        (
            path @ ("/healthz" | "/_sandbox/journal" | "/_sandbox/scripts" | "/_sandbox/stats"),
            method,
        ) => error(405, &format!("sandbox: {path} does not take {method}")),
        (path, method) => {
            let mounts: Vec<_> = server.mounts.iter().map(|mount| mount.prefix()).collect();
            let known = mounts.join(", ");
            error(
                404,
                &format!("sandbox: nothing at {method} {path}; the mounts are {known}"),
            )
        }
    }
}

/// Which part of the journal is wanted.
struct Page {
    after: u64,
    limit: usize,
}

impl Page {
    fn parse(query: &str) -> Result<Self, String> {
        let mut page = Self {
            after: 0,
            limit: usize::MAX,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let whole = || format!("sandbox: `{key}` takes a whole number, got `{value}`");
            // `parse` alone would take a plus sign.
            let digits = value.bytes().all(|byte| byte.is_ascii_digit());
            let number = value.parse::<u64>().ok().filter(|_| digits);
            match key {
                "after" => page.after = number.ok_or_else(whole)?,
                "limit" => {
                    page.limit = usize::try_from(number.ok_or_else(whole)?).unwrap_or(usize::MAX);
                }
                _ => {
                    return Err(format!(
                        "sandbox: unknown `{key}`; the journal takes `after` and `limit`"
                    ));
                }
            }
        }
        Ok(page)
    }
}

fn stats(server: &Server) -> Value {
    let stats = server.stats();
    json!({
        "requests": stats.requests,
        "connections": stats.connections,
        "connections_open": stats.connections_open,
        "journal_entries": stats.journal_entries,
        "journal_dropped": stats.journal_dropped,
        "scripts": stats.scripts,
        "scripts_dropped": stats.scripts_dropped,
    })
}

fn ok(body: &Value) -> (u16, Bytes) {
    (200, body.to_string().into())
}

fn error(status: u16, message: &str) -> (u16, Bytes) {
    (
        status,
        json!({"error": {"message": message}}).to_string().into(),
    )
}
