//! Signatures, measures and what is refused of a picture.

use proptest::prelude::*;

use super::*;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = PNG.to_vec();
    bytes.extend(13_u32.to_be_bytes());
    bytes.extend(b"IHDR");
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    // A segment of application data, a table that shares the frames' range, fill bytes.
    bytes.extend([0xff, 0xe0, 0, 4, 1, 2]);
    bytes.extend([0xff, 0xc4, 0, 3, 9]);
    bytes.extend([0xff, 0xff, 0xff, 0xc0, 0, 11, 8]);
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend([1, 1, 0x11, 0]);
    bytes
}

fn chunk(name: &str, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [&length[..], name.as_bytes(), data, &[0; 4]].concat()
}

#[test]
fn a_format_is_told_by_its_signature() {
    for (bytes, format) in [
        (png(1, 1), Some(ImageFormat::Png)),
        (jpeg(1, 1), Some(ImageFormat::Jpeg)),
        (b"GIF89a".to_vec(), None),
        (b"\x89PNG".to_vec(), None),
        (vec![], None),
    ] {
        assert_eq!(ImageFormat::of(&bytes), format);
        assert_eq!(Asset::image(bytes).format(), format);
    }
    assert_eq!(Asset::raw(serde_json::json!({"type": "x"})).format(), None);
    for (word, format) in [
        ("png", Some(ImageFormat::Png)),
        ("jpg", Some(ImageFormat::Jpeg)),
        ("jpeg", Some(ImageFormat::Jpeg)),
        ("gif", None),
    ] {
        assert_eq!(ImageFormat::parse(word), format);
    }
}

#[test]
fn measures_are_read_from_both_formats() {
    assert_eq!(size(&png(640, 480)), Some((640, 480)));
    assert_eq!(size(&jpeg(640, 480)), Some((640, 480)));
    for unreadable in [
        PNG.to_vec(),
        JPEG.to_vec(),
        png(1, 1)[..20].to_vec(),
        jpeg(1, 1)[..16].to_vec(),
        // A length of zero, which would otherwise go nowhere for ever.
        vec![0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0],
    ] {
        assert_eq!(size(&unreadable), None);
    }
}

#[test]
fn what_the_api_refuses_is_refused_here() {
    assert_eq!(problem(&png(300, 300)), None);
    assert_eq!(problem(&jpeg(300, 300)), None);
    let mut most = png(300, 300);
    most.resize(MAX_IMAGE_BYTES, 0);
    assert_eq!(problem(&most), None);
    most.push(0);
    assert!(problem(&most).unwrap().contains("16777217"));
    assert!(problem(&[]).unwrap().contains("empty"));
    assert!(problem(b"GIF89a").unwrap().contains("neither"));
}

#[test]
fn an_animation_is_refused_and_a_picture_behind_which_one_is_named_is_not() {
    let animated = [png(300, 300), chunk("acTL", &[0; 8]), chunk("IDAT", &[])].concat();
    assert!(problem(&animated).unwrap().contains("animated"));
    let still = [png(300, 300), chunk("IDAT", b"acTL"), chunk("acTL", &[])].concat();
    assert_eq!(problem(&still), None);
}

#[test]
fn odd_measures_are_doubted_and_unknown_ones_are_not() {
    for (width, height, fits) in [
        (280, 280, true),
        (256, 307, true),
        (256, 256, false),
        (255, 400, false),
        (1568, 1568, true),
        (1569, 400, false),
    ] {
        assert_eq!(
            doubt(&png(width, height)).is_none(),
            fits,
            "{width}x{height}"
        );
    }
    assert_eq!(doubt(PNG), None);
}

#[test]
fn a_picture_counts_two_tokens_a_tile() {
    assert_eq!(Asset::image(png(280, 280)).tokens(), 200);
    assert_eq!(Asset::image(png(281, 280)).tokens(), 220);
    assert_eq!(
        Asset::image(png(u32::MAX, u32::MAX)).tokens(),
        2 * 153_391_690_u64.pow(2)
    );
    assert_eq!(Asset::image(PNG).tokens(), 0);
}

proptest! {
    #[test]
    fn any_bytes_behind_a_signature_are_measured_without_a_panic(
        jpeg in any::<bool>(),
        bytes in prop::collection::vec(prop_oneof![Just(0xff), Just(0), any::<u8>()], 0..64),
    ) {
        let mut all = if jpeg { vec![0xff, 0xd8] } else { PNG.to_vec() };
        all.extend(bytes);
        let _ = (size(&all), doubt(&all), problem(&all));
    }
}
