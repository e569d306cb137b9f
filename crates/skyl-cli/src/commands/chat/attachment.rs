//! Files that go with a prompt: pictures, tools, a schema.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use skyl::{Image, Tool};

use crate::failure::Failure;
use crate::file;

/// A picture by address, or from a file whose first bytes say what it is.
pub(super) fn image(source: &str) -> Result<Image, Failure> {
    if ["http://", "https://", "data:"]
        .iter()
        .any(|scheme| source.starts_with(scheme))
    {
        return Ok(Image::Url(source.to_owned()));
    }
    let data = read("--image", Path::new(source))?;
    match media_type(&data) {
        Some(media_type) => Ok(Image::Data {
            media_type: media_type.to_owned(),
            data,
        }),
        None => Err(Failure::usage(format!(
            "--image {source}: this is no PNG, JPEG, GIF or WebP picture"
        ))),
    }
}

/// The tools of a file: an array of tools, bare or as chat completions wraps them.
pub(super) fn tools(path: &Path) -> Result<Vec<Tool>, Failure> {
    let refuse = |why: String| Failure::usage(format!("--tools {}: {why}", path.display()));
    let Value::Array(entries) = json("--tools", path)? else {
        return Err(refuse("expected an array of tools".to_owned()));
    };
    entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| tool(entry).map_err(|why| refuse(format!("tool {index}: {why}"))))
        .collect()
}

/// The schema of a file; what it says is the provider's to judge.
pub(super) fn schema(path: &Path) -> Result<Value, Failure> {
    json("--schema", path)
}

fn tool(mut entry: Value) -> Result<Tool, String> {
    if let Some(function) = entry.get_mut("function") {
        entry = function.take();
    }
    let ToolObject {
        name,
        description,
        parameters,
        strict,
    } = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    // A tool without arguments takes an object without fields.
    let parameters = parameters.unwrap_or_else(|| {
        Map::from_iter([
            ("type".to_owned(), "object".into()),
            ("properties".to_owned(), Map::new().into()),
        ])
        .into()
    });
    let mut tool = Tool::new(name, parameters);
    tool.description = description;
    tool.strict = strict;
    Ok(tool)
}

/// A tool as a file has it. Unknown fields are refused: a misspelt one would be lost silently.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolObject {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
    strict: Option<bool>,
}

fn json(flag: &str, path: &Path) -> Result<Value, Failure> {
    serde_json::from_slice(&read(flag, path)?)
        .map_err(|error| Failure::usage(format!("{flag} {}: {error}", path.display())))
}

fn read(flag: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    file::read(path, MAX_FILE_MIB)
        .map_err(|unread| Failure::usage(format!("{flag} {}: {}", path.display(), unread.why())))
}

/// Told by the bytes: names lie, and a wrong media type is refused by providers.
fn media_type(data: &[u8]) -> Option<&'static str> {
    if data.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if data.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if data.starts_with(b"GIF87a") || data.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// More than any provider takes in one request.
const MAX_FILE_MIB: u64 = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pictures_are_told_by_their_first_bytes() {
        for (data, expected) in [
            (&b"\x89PNG\r\n\x1a\n..."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"RIFF", None),
            (b"<svg/>", None),
            (b"", None),
        ] {
            assert_eq!(media_type(data), expected, "{data:?}");
        }
    }

    #[test]
    fn addresses_are_left_to_the_provider() {
        for url in [
            "https://host/a.png",
            "http://host/a",
            "data:image/png;base64,AAAA",
        ] {
            assert_eq!(image(url).unwrap(), Image::Url(url.to_owned()));
        }
    }

    #[test]
    fn a_tool_is_read_bare_and_wrapped() {
        let bare = json!({"name": "t", "description": "d", "parameters": {"type": "object"}});
        let wrapped = json!({"type": "function", "function": bare.clone()});
        assert_eq!(tool(bare).unwrap(), tool(wrapped).unwrap());
        assert!(tool(json!({"name": "t"})).unwrap().parameters.is_object());
    }

    #[test]
    fn a_misspelt_field_of_a_tool_is_named() {
        let error = tool(json!({"name": "t", "parametres": {}})).unwrap_err();
        assert!(error.contains("parametres"), "{error}");
        assert!(
            tool(json!({"description": "d"}))
                .unwrap_err()
                .contains("name")
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_named_with_its_flag() {
        let error = schema(Path::new("no/such.json")).unwrap_err().line();
        assert!(error.starts_with("--schema no/such.json: "), "{error}");
    }
}
