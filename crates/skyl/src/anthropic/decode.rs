//! From a whole body of the Messages API to an answer.
//!
//! The blocks go through the same code as a stream's, so that both give the same answer.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::stream::Decoder;
use super::wire::{Answer, Model, Models};
use super::{NAME, classify};
use crate::dialect::lenient::{Object, is_blank};
use crate::dialect::{Decoded, Fault, ModelsPage};
use crate::native::{bare, is_nothing, text};
use crate::response::ModelInfo;
use crate::sink::Sink;

/// Decodes a whole answer.
pub(super) fn answer(body: &[u8]) -> Result<Decoded, Fault> {
    let body = bare(body);
    if is_nothing(body) {
        return Err(Fault::empty_response());
    }
    let Ok(Object(Some(answer))) = serde_json::from_slice::<Object<Answer<'_>>>(body) else {
        return Err(unreadable(body));
    };
    if answer.error.is_some_and(|error| !is_blank(error)) || answer.kind.get() == Some("error") {
        return Err(classify::no_answer(body));
    }
    let content = answer.content.map_or("null", RawValue::get);
    let mut sink = Sink::new();
    let mut decoder = Decoder::default();
    decoder.head(&answer.id, &answer.model, &mut sink);
    if content.starts_with('"') {
        decoder.blocks.words(text(answer.content)?, &mut sink);
    } else {
        let blocks: Option<Vec<&RawValue>> = match answer.content {
            // Some servers drop the brackets where there is one.
            Some(block) if content.starts_with('{') => Some(vec![block]),
            _ => serde_json::from_str(content).map_err(|_| unreadable(body))?,
        };
        if blocks.is_none() {
            return Err(classify::no_answer(body));
        }
        for (index, block) in (0_u64..).zip(blocks.unwrap_or_default()) {
            if block.get().starts_with('"') {
                decoder.blocks.words(text(Some(block))?, &mut sink);
                continue;
            }
            decoder.blocks.open(Some(index), block, &mut sink)?;
            decoder.blocks.close(Some(index), &mut sink);
        }
    }
    decoder.usage(answer.usage.0, &mut sink);
    decoder.stop(
        &answer.stop_reason,
        answer.stop_details.0.as_ref(),
        &mut sink,
    );
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
    let Some(data) = page.data else {
        return Err(classify::no_answer(body));
    };
    let models = data.into_iter().filter_map(model).collect();
    let next = match (page.has_more.unwrap_or(false), page.last_id.get()) {
        (false, _) => None,
        (true, Some(id)) => Some(id.to_owned()),
        // Asking again without a cursor would give this page for ever.
        (true, _) => {
            return Err(Fault::decode(format!(
                "{NAME} says there are more models, but not where"
            )));
        }
    };
    Ok(ModelsPage::new(models, next))
}

/// An entry with a name; others cannot be asked for.
fn model(raw: &RawValue) -> Option<ModelInfo> {
    let model: Model<'_> = serde_json::from_str(raw.get()).ok()?;
    let mut info = ModelInfo::new(
        model.id.get()?,
        Bytes::copy_from_slice(raw.get().as_bytes()),
    );
    info.display_name = model.display_name.get().map(str::to_owned);
    info.context_window = model.max_input_tokens.0;
    info.max_output_tokens = model.max_tokens.0;
    Some(info)
}

/// A body that is no answer: the error it is, or that it cannot be read.
fn unreadable(body: &[u8]) -> Fault {
    classify::in_band(body).unwrap_or_else(|| Fault::decode("the body is no message"))
}
