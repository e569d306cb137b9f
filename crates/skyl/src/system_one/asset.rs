//! Pictures beside the state, by their bytes.
//!
//! The API takes PNG and JPEG, tells them by their signature, and wants each under a name that the
//! state or a question mentions. What it is known to refuse is refused here, before megabytes are
//! sent; what its sources disagree about (the smallest side) is a warning.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::system_one::state::Content;

/// Something beside the state that its text refers to by name: a picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Asset(Kind);

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Image(Bytes),
    Raw(Content),
}

impl Asset {
    /// A PNG or JPEG picture of these bytes, at most 16 MiB; sent as base64 in the body.
    #[must_use]
    pub fn image(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Image(bytes.into()))
    }

    /// An asset in the provider's own JSON, sent untouched. It needs a string `type`.
    #[must_use]
    pub fn raw(json: impl Into<Content>) -> Self {
        Self(Kind::Raw(json.into()))
    }

    /// The format of a picture, by its signature; `None` for anything else.
    #[must_use]
    pub fn format(&self) -> Option<ImageFormat> {
        match &self.0 {
            Kind::Image(bytes) => ImageFormat::of(bytes),
            Kind::Raw(_) => None,
        }
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.0
    }

    /// Roughly what a picture counts in tokens: 2 for every 28 × 28 pixels; 0 where unknown.
    pub(super) fn tokens(&self) -> u64 {
        let Kind::Image(bytes) = &self.0 else {
            return 0;
        };
        let (width, height) = size(bytes).unwrap_or((0, 0));
        let tiles = |side: u32| u64::from(side.div_ceil(28));
        tiles(width)
            .saturating_mul(tiles(height))
            .saturating_mul(TOKENS_PER_TILE)
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Image(bytes) => write!(f, "Asset(image, {} bytes)", bytes.len()),
            Kind::Raw(json) => write!(f, "Asset(raw, {} bytes)", json.as_json().len()),
        }
    }
}

/// The formats of pictures the API takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

impl ImageFormat {
    /// The format whose signature the bytes begin with.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(PNG) {
            Some(Self::Png)
        } else if bytes.starts_with(JPEG) {
            Some(Self::Jpeg)
        } else {
            None
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
        }
    }

    /// Reads the word on the wire; `jpg` is JPEG too.
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "png" => Some(Self::Png),
            "jpg" | "jpeg" => Some(Self::Jpeg),
            _ => None,
        }
    }
}

/// What the API would refuse about a picture.
pub(super) fn problem(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("the picture is empty".to_owned());
    }
    if bytes.len() > MAX_IMAGE_BYTES {
        return Some(format!(
            "the picture has {} bytes, at most {MAX_IMAGE_BYTES} are taken",
            bytes.len()
        ));
    }
    if ImageFormat::of(bytes).is_none() {
        return Some("the bytes are neither PNG nor JPEG".to_owned());
    }
    is_animated(bytes).then(|| "animated pictures are not taken".to_owned())
}

/// What the API may refuse about a picture: its measures, where they can be read.
pub(super) fn doubt(bytes: &[u8]) -> Option<String> {
    let (width, height) = size(bytes)?;
    let area = u64::from(width) * u64::from(height);
    let fits = SIDE.contains(&width) && SIDE.contains(&height) && AREA.contains(&area);
    (!fits).then(|| {
        format!(
            "a picture of {width} × {height} pixels may be refused: sides from {} to {} and an \
             area from {} to {} are taken",
            SIDE.start(),
            SIDE.end(),
            AREA.start(),
            AREA.end()
        )
    })
}

pub(super) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn from_base64(text: &str) -> Option<Bytes> {
    STANDARD.decode(text).ok().map(Bytes::from)
}

/// Width and height in pixels, if they can be read.
fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    match ImageFormat::of(bytes)? {
        ImageFormat::Png => {
            let header = bytes.get(12..24)?.strip_prefix(b"IHDR")?;
            let (width, height) = header.split_first_chunk()?;
            let height = height.first_chunk()?;
            Some((u32::from_be_bytes(*width), u32::from_be_bytes(*height)))
        }
        ImageFormat::Jpeg => jpeg_size(bytes),
    }
}

/// The measures in the frame header, which follows any number of other segments.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        let (marker, after) = match rest {
            // Fill bytes may stand before a marker.
            [0xff, 0xff, ..] => {
                rest = &rest[1..];
                continue;
            }
            [0xff, marker, after @ ..] => (*marker, after),
            _ => return None,
        };
        let length = usize::from(u16::from_be_bytes(*after.first_chunk()?));
        // All frame headers but those of tables that share their range.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [height @ .., c, d] = *after.get(3..7)?.first_chunk::<4>()?;
            let width = u16::from_be_bytes([c, d]);
            return Some((width.into(), u16::from_be_bytes(height).into()));
        }
        // A length counts its own two bytes; without the check, zero would loop for ever.
        rest = after.get(length.max(2)..)?;
    }
}

/// Whether a PNG announces an animation, which it must do before its first picture.
fn is_animated(bytes: &[u8]) -> bool {
    let Some(mut rest) = bytes.strip_prefix(PNG) else {
        return false;
    };
    while let Some((length, after)) = rest.split_first_chunk() {
        match after.first_chunk() {
            Some(b"acTL") => return true,
            Some(b"IDAT") | None => return false,
            Some(_) => {}
        }
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        // The name and the checksum are four bytes each.
        rest = after.get(length.saturating_add(8)..).unwrap_or_default();
    }
    false
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// The provider's documents (2026): 16 MiB a picture.
pub(super) const MAX_IMAGE_BYTES: usize = 16 << 20;

/// Sides in pixels; one source has 280 for the smallest.
const SIDE: std::ops::RangeInclusive<u32> = 256..=1568;

/// Areas in pixels.
const AREA: std::ops::RangeInclusive<u64> = 78_400..=2_458_624;

const TOKENS_PER_TILE: u64 = 2;

#[cfg(test)]
mod tests;
