//! From a whole body of generateContent to an answer.
//!
//! A whole answer is a stream of one chunk, so both go through the same code and give the same.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::classify;
use super::stream::Decoder;
use super::wire::{Model, Models};
use crate::dialect::lenient::{Object, is_blank};
use crate::dialect::{Decoded, Fault, ModelsPage};
use crate::native::{bare, is_nothing};
use crate::response::ModelInfo;
use crate::sink::Sink;

/// Decodes a whole answer; an array is the chunks of one that was not asked for by SSE.
pub(super) fn answer(body: &[u8]) -> Result<Decoded, Fault> {
    let body = std::str::from_utf8(bare(body)).map_err(|_| unreadable(body))?;
    if is_nothing(body.as_bytes()) {
        return Err(Fault::empty_response());
    }
    let mut sink = Sink::new();
    let mut decoder = Decoder::default();
    if body.starts_with('[') {
        if let Some(fault) = classify::in_band(body.as_bytes()) {
            return Err(fault);
        }
        let chunks: Vec<&RawValue> =
            serde_json::from_str(body).map_err(|_| unreadable(body.as_bytes()))?;
        for chunk in chunks {
            decoder.chunk(chunk.get(), &mut sink)?;
        }
    } else {
        decoder.chunk(body, &mut sink)?;
    }
    if decoder.is_silent() {
        return Err(decoder.failed(classify::no_answer(body.as_bytes())));
    }
    decoder.whole(&mut sink)?;
    Ok(sink.partial())
}

/// Decodes a page of models.
pub(super) fn models(body: &[u8]) -> Result<ModelsPage, Fault> {
    let Ok(Object(Some(page))) = serde_json::from_slice::<Object<Models<'_>>>(bare(body)) else {
        return Err(unreadable(body));
    };
    if page.error.is_some_and(|error| !is_blank(error)) {
        return Err(classify::no_answer(body));
    }
    let next = page.next_page_token.get().map(str::to_owned);
    // The API leaves out empty fields, so a page without models is `{}`; anything else is none.
    if page.entries.is_none() && next.is_none() && body.trim_ascii() != b"{}" {
        return Err(classify::no_answer(body));
    }
    let models = page
        .entries
        .unwrap_or_default()
        .into_iter()
        .filter_map(model)
        .collect();
    Ok(ModelsPage::new(models, next))
}

/// An entry with a name; others cannot be asked for.
fn model(raw: &RawValue) -> Option<ModelInfo> {
    let model: Model<'_> = serde_json::from_str(raw.get()).ok()?;
    let name = model.name.get()?;
    let id = name.strip_prefix("models/").unwrap_or(name);
    if id.is_empty() {
        return None;
    }
    let mut info = ModelInfo::new(id, Bytes::copy_from_slice(raw.get().as_bytes()));
    info.display_name = model.display_name.get().map(str::to_owned);
    info.context_window = model.input_token_limit.0;
    info.max_output_tokens = model.output_token_limit.0;
    Some(info)
}

/// A body that is no answer: the error it is, or that it cannot be read.
fn unreadable(body: &[u8]) -> Fault {
    classify::in_band(body).unwrap_or_else(|| Fault::decode("the body is no answer"))
}
