//! The models the API lists.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::dialect::Fault;
use crate::system_one::detail;
use crate::system_one::json::Members;

/// A model the API lists. Versioned names are taken in requests though none is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The name to put in a request.
    pub name: String,
    /// What the provider says about it.
    pub description: Option<String>,
    /// When it came out, in the provider's words: a date, or a date and time.
    pub release_date: Option<String>,
    /// The entry as the provider sent it.
    pub raw: Bytes,
}

/// Decodes the body of `GET /v1/models`.
///
/// Entries without a name are left out, since nobody can ask for them; a field of another type is
/// not known. Servers that list models as OpenAI does (`data`, `id`) are read too.
///
/// # Errors
/// A [`Fault`] of kind `Decode` where the body is no list of models.
pub fn decode_models(body: &Bytes) -> Result<Vec<Model>, Fault> {
    let unreadable =
        || detail::in_band(body).unwrap_or_else(|| Fault::decode("the body is no list of models"));
    let text = str::from_utf8(body).map_err(|_| unreadable())?;
    let members = Members::read(text).ok_or_else(unreadable)?;
    let list = members.get("models").or_else(|| members.get("data"));
    let list: Vec<&RawValue> = list
        .and_then(|list| serde_json::from_str(list.get()).ok())
        .ok_or_else(unreadable)?;
    Ok(list
        .into_iter()
        .filter_map(|raw| model(body, raw))
        .collect())
}

fn model(body: &Bytes, raw: &RawValue) -> Option<Model> {
    let text = |raw: &RawValue| {
        serde_json::from_str::<String>(raw.get())
            .ok()
            .filter(|text| !text.is_empty())
    };
    let members = Members::read(raw.get())?;
    let field = |name: &str| members.get(name).and_then(text);
    Some(Model {
        name: field("name").or_else(|| field("id"))?,
        description: field("description"),
        release_date: field("release_date"),
        raw: body.slice_ref(raw.get().as_bytes()),
    })
}

#[cfg(test)]
mod tests;
