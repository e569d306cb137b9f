//! Images beside the questions: where their bytes are, and whether anything speaks of them.
//!
//! A picture is told by its signature and never decoded: sides, area and animation, which the
//! hosted API limits too, are not looked at.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::{
    check::{Asked, Kind},
    errors::Refusal,
    limits::opted_in,
    multipart::Part,
};

/// An image and the text that stands for it.
#[derive(Debug)]
pub(super) struct Asset<'d> {
    pub(super) reference: &'d str,
    pub(super) image: Bytes,
}

/// The images of a request.
pub(super) fn read<'d>(
    asked: &Asked<'d>,
    parts: &[Part],
    headers: &HeaderMap,
) -> Result<Vec<Asset<'d>>, Refusal> {
    let boxed = asked
        .questions
        .iter()
        .any(|question| matches!(question.kind, Kind::Box));
    if (boxed || asked.assets.is_some()) && !opted_in(headers, IMAGES) {
        let message = "Images need the header 'TypeSafe-Danger-Zone-Images: true'.";
        return Err(Refusal::usage(message));
    }
    let entries = asked.assets.into_iter().flatten();
    if asked.assets.is_some_and(|assets| assets.len() > MAX_ASSETS) {
        let message = format!("sandbox: at most {MAX_ASSETS} assets are taken");
        return Err(Refusal::text(message));
    }
    let mut free: Vec<&Part> = parts.iter().collect();
    let mut assets = Vec::new();
    for (reference, entry) in entries {
        let image = image(reference, entry.as_object(), &mut free)?;
        if image.len() > MAX_IMAGE_BYTES {
            return Err(Refusal::text(format!("Asset is too large: {reference}")));
        }
        if !SIGNATURES.iter().any(|start| image.starts_with(start)) {
            let message = format!("Asset is neither a PNG nor a JPEG image: {reference}");
            return Err(Refusal::text(message));
        }
        if reference.is_empty() || !mentioned(asked, reference) {
            return Err(Refusal::text(format!("Asset is not used: {reference}")));
        }
        assets.push(Asset { reference, image });
    }
    match free.first() {
        None => Ok(assets),
        // Each part belongs to exactly one asset.
        Some(part) => Err(Refusal::text(format!("Unused part: {}", part.name))),
    }
}

/// The bytes of an asset: those of its part, which is then taken, or its own.
fn image(
    reference: &str,
    entry: Option<&Map<String, Value>>,
    free: &mut Vec<&Part>,
) -> Result<Bytes, Refusal> {
    let text = |name| {
        entry
            .and_then(|entry| entry.get(name))
            .and_then(Value::as_str)
    };
    if let Some(name) = text("part") {
        let at = free.iter().position(|part| part.name == name);
        let unknown = || Refusal::text(format!("Asset part not found: {name}"));
        return Ok(free.swap_remove(at.ok_or_else(unknown)?).content.clone());
    }
    let (Some(data), Some(_)) = (text("data_base64"), text("format")) else {
        let message = format!("Asset needs a part, or data_base64 and a format: {reference}");
        return Err(Refusal::text(message));
    };
    let image = STANDARD.decode(data);
    image
        .map(Bytes::from)
        .map_err(|_| Refusal::text(format!("Asset is not valid base64: {reference}")))
}

/// Whether the text stands somewhere in the state, in instructions or in criteria.
fn mentioned(asked: &Asked<'_>, reference: &str) -> bool {
    let words = asked.questions.iter().flat_map(|question| {
        ["instructions", "criteria"]
            .iter()
            .filter_map(|name| question.json.get(name))
    });
    words
        .chain([asked.state])
        .any(|value| holds(value, reference))
}

/// Depth is bounded by the parser's own limit.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(members) => members.values().any(|member| holds(member, text)),
        _ => false,
    }
}

const IMAGES: &str = "typesafe-danger-zone-images";

/// The formats the provider takes, by the first bytes of a file.
const SIGNATURES: [&[u8]; 2] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"];

/// 16 MiB, the provider's limit for one image.
const MAX_IMAGE_BYTES: usize = 16 * 1024 * 1024;

/// Assets of one request. No limit of the provider is known; looking for each one in a large
/// request has to end.
pub(super) const MAX_ASSETS: usize = 256;
