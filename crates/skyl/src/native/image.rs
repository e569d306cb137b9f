//! A picture as base64 or an address, whatever form the caller gave it in.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::dialect::Fault;
use crate::message::Image;

/// A picture, ready for the wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Picture<'a> {
    /// The media type and the bytes in base64.
    Inline {
        media_type: &'a str,
        data: Cow<'a, str>,
    },
    /// An address the provider fetches.
    Url(&'a str),
}

impl<'a> Picture<'a> {
    /// Reads an image part. A `data:` address is data, since no provider can fetch one.
    ///
    /// # Errors
    /// `Unsupported` for a `data:` address that is not base64 with a media type.
    pub(crate) fn read(image: &'a Image) -> Result<Self, Fault> {
        let url = match image {
            Image::Data { media_type, data } => {
                return Ok(Self::Inline {
                    media_type,
                    data: STANDARD.encode(data).into(),
                });
            }
            Image::Url(url) => url.trim(),
        };
        let Some(rest) = url
            .get(..5)
            .filter(|s| s.eq_ignore_ascii_case("data:"))
            .map(|_| &url[5..])
        else {
            return Ok(Self::Url(url));
        };
        rest.split_once(',')
            .and_then(|(head, data)| Some((head.strip_suffix(";base64")?, data)))
            .filter(|(media_type, data)| !media_type.is_empty() && !data.is_empty())
            .map(|(media_type, data)| Self::Inline {
                media_type,
                data: data.into(),
            })
            .ok_or_else(|| Fault::unsupported("an image's data: address must be base64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_base64_and_a_data_address_is_data() {
        let image = Image::Data {
            media_type: "image/png".into(),
            data: vec![0xff, 0xfe, 0xfd],
        };
        let expected = Picture::Inline {
            media_type: "image/png",
            data: "//79".into(),
        };
        assert_eq!(Picture::read(&image).unwrap(), expected);
        let image = Image::Url("DATA:image/png;base64,//79".into());
        assert_eq!(Picture::read(&image).unwrap(), expected);
    }

    #[test]
    fn an_address_stays_one_and_odd_data_is_refused() {
        let url = Image::Url("https://x.test/data:a.png".into());
        assert_eq!(
            Picture::read(&url).unwrap(),
            Picture::Url("https://x.test/data:a.png")
        );
        for odd in [
            "data:",
            "data:image/png,x",
            "data:;base64,x",
            "data:image/png;base64,",
        ] {
            assert!(Picture::read(&Image::Url(odd.into())).is_err(), "{odd}");
        }
        assert!(Picture::read(&Image::Url("é".into())).is_ok());
    }
}
