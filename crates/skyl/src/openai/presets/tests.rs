use http::HeaderMap;

use super::*;
use crate::dialect::{Dialect, Mode};
use crate::kind::ErrorKind;
use crate::request::Request;

/// The address and the key header of a request.
fn sent(dialect: &OpenAiCompatible) -> (String, Vec<String>) {
    let dialect: &dyn Dialect = dialect;
    let request = Request::new("m").user("hi");
    let encoded = dialect.encode(&request, Mode::Complete).unwrap();
    let mut headers = HeaderMap::new();
    dialect.authorize(&mut headers).unwrap();
    let headers = headers.keys().map(ToString::to_string).collect();
    (format!("{}{}", dialect.base_url(), encoded.path), headers)
}

#[test]
fn each_constructor_is_its_row() {
    let made = [
        OpenAiCompatible::azure_v1("https://x.test", "k"),
        OpenAiCompatible::cerebras("k"),
        OpenAiCompatible::deepseek("k"),
        OpenAiCompatible::fireworks("k"),
        OpenAiCompatible::groq("k"),
        OpenAiCompatible::llama_cpp(),
        OpenAiCompatible::lm_studio(),
        OpenAiCompatible::minimax("k"),
        OpenAiCompatible::mistral("k"),
        OpenAiCompatible::moonshot("k"),
        OpenAiCompatible::ollama(),
        OpenAiCompatible::openrouter("k"),
        OpenAiCompatible::perplexity("k"),
        OpenAiCompatible::together("k"),
        OpenAiCompatible::vllm(),
        OpenAiCompatible::xai("k"),
    ];
    assert_eq!(made.len(), presets().len());
    for (dialect, preset) in made.iter().zip(presets()) {
        assert_eq!(dialect.name(), preset.name());
        assert_eq!(
            dialect.key().is_some(),
            preset.needs_key(),
            "{}",
            preset.name()
        );
        if let Some(url) = preset.base_url() {
            assert_eq!(sent(dialect).0, format!("{url}/chat/completions"));
        }
    }
}

#[test]
fn names_are_unique_sorted_and_found_in_any_spelling() {
    let names: Vec<_> = presets().iter().map(Preset::name).collect();
    assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]));
    for spelling in ["llama_cpp", "llama.cpp", "llama-cpp", "LlamaCpp"] {
        let found = OpenAiCompatible::preset(spelling).unwrap();
        assert_eq!(Dialect::name(&found), "llama_cpp", "{spelling}");
    }
    for unknown in ["", "-", "llama", "openai"] {
        assert!(OpenAiCompatible::preset(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn azure_is_addressed_by_resource_or_endpoint_and_deployment() {
    let path = "/openai/deployments/my%20model/chat/completions?api-version=2024-10-21";
    for (endpoint, host) in [
        ("contoso", "https://contoso.openai.azure.com"),
        ("contoso.openai.azure.us", "https://contoso.openai.azure.us"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
    ] {
        let azure = OpenAiCompatible::azure(endpoint, "my model", "2024-10-21", "k");
        assert_eq!(
            sent(&azure),
            (format!("{host}{path}"), vec!["api-key".to_owned()])
        );
        let fault = azure.encode_models(None).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::Unsupported);
        let azure = OpenAiCompatible::azure_v1(endpoint, "k");
        assert_eq!(sent(&azure).0, format!("{host}/openai/v1/chat/completions"));
        assert!(azure.encode_models(None).is_ok());
    }
}

#[test]
fn everybody_else_gets_the_key_as_a_bearer() {
    assert_eq!(sent(&OpenAiCompatible::groq("k")).1, ["authorization"]);
    assert_eq!(sent(&OpenAiCompatible::ollama()).1, Vec::<String>::new());
    assert_eq!(
        sent(&OpenAiCompatible::ollama().key("k")).1,
        ["authorization"]
    );
}

/// The documented table is the table.
#[test]
fn every_row_is_documented_with_its_address_and_its_variable() {
    let page = include_str!("../presets.rs");
    let rows: Vec<Vec<String>> = page
        .lines()
        .filter_map(|line| line.trim().strip_prefix("/// | `"))
        .map(|row| row.split(" | ").map(|cell| cell.replace('`', "")).collect())
        .collect();
    assert_eq!(rows.len(), presets().len());
    for (row, preset) in rows.iter().zip(presets()) {
        assert_eq!(row[0], preset.name());
        match preset.base_url() {
            Some(url) => assert_eq!(row[1], url),
            None => assert!(row[1].starts_with("none"), "{row:?}"),
        }
        assert_eq!(row[2], preset.key_variable().unwrap_or("none"));
    }
}
