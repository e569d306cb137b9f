//! Content codings and forms.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

fn body() -> String {
    questions(&json!({"n": {"type": "noul"}})).to_string()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    compress_to_vec(content, CompressionLevel::Fastest)
}

fn coded(coding: &str, body: impl Into<Bytes>) -> (u16, Value) {
    send(&with_header(post(body), "content-encoding", coding))
}

#[test]
fn the_answer_is_the_same_in_every_coding() {
    let plain = send(&post(body()));
    assert_eq!(plain.0, 200);
    for coding in ["", "identity", "Identity, identity"] {
        assert_eq!(coded(coding, body()), plain, "{coding}");
    }
    for coding in ["gzip", "GZIP", "x-gzip", "identity, gzip"] {
        assert_eq!(coded(coding, gzip(body().as_bytes())), plain, "{coding}");
    }
    assert_eq!(coded("zstd", zstd(body().as_bytes())), plain);
}

#[test]
fn members_and_frames_are_joined() {
    let plain = send(&post(body()));
    let text = body();
    let (start, end) = text.as_bytes().split_at(20);
    assert_eq!(coded("gzip", [gzip(start), gzip(end)].concat()), plain);
    assert_eq!(coded("zstd", [zstd(start), zstd(end)].concat()), plain);
}

#[test]
fn a_coding_nobody_knows_is_refused() {
    for coding in ["br", "deflate", "gzip, zstd", "gzip, gzip"] {
        let detail = refused(coded(coding, body()), 415);
        assert_eq!(detail, format!("Unsupported content encoding: {coding}"));
    }
}

#[test]
fn a_body_that_does_not_decode_is_refused() {
    let packed = gzip(body().as_bytes());
    let framed = zstd(body().as_bytes());
    let trailing = [&framed[..], b"x"].concat();
    for (coding, bytes) in [
        ("gzip", body().into_bytes()),
        ("gzip", packed[..packed.len() - 9].to_vec()),
        ("gzip", Vec::new()),
        ("zstd", body().into_bytes()),
        ("zstd", framed[..framed.len() - 5].to_vec()),
        ("zstd", trailing),
        ("zstd", Vec::new()),
    ] {
        let detail = refused(coded(coding, bytes), 400);
        assert_eq!(detail, "There was an error decoding the body", "{coding}");
    }
}

#[test]
fn a_bomb_is_refused_before_it_fills_the_memory() {
    let zeros = vec![b' '; 33 * 1024 * 1024];
    let limit = 32 * 1024 * 1024;
    let expected = format!("sandbox: the body has more than {limit} bytes when decoded");
    let gzipped = gzip(&zeros);
    assert!(gzipped.len() < 100_000);
    assert_eq!(refused(coded("gzip", gzipped), 413), expected);
    let framed = zstd(&zeros);
    assert!(framed.len() < 100_000);
    assert_eq!(refused(coded("zstd", framed), 413), expected);
    // Many small frames instead of a large one.
    let frame = zstd(&zeros[..1024 * 1024]);
    assert_eq!(refused(coded("zstd", frame.repeat(40)), 413), expected);
}

#[test]
fn a_window_larger_than_any_body_is_refused() {
    // Magic number, no single segment, a window of 2^(10 + 30) bytes, and an empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf0, 0x01, 0x00, 0x00];
    assert_eq!(coded("zstd", frame.to_vec()).0, 400);
}

fn form(content_type: &str, body: &str) -> (u16, Value) {
    send(&with_header(
        post(body.to_owned()),
        "content-type",
        content_type,
    ))
}

fn part(disposition: &str, content: &str) -> String {
    format!("--b\r\nContent-Disposition: {disposition}\r\n\r\n{content}\r\n")
}

#[test]
fn a_form_has_the_request_in_a_part_of_that_name() {
    let plain = send(&post(body()));
    let request = part("form-data; name=\"request\"", &body());
    for form_body in [
        format!("{request}--b--\r\n"),
        format!("{request}--b--"),
        format!("a preamble\r\n{request}--b--\r\nan epilogue"),
        format!("{}--b--", request.replace("--b\r\n", "--b \t\r\n")),
        format!(
            "{}--b--",
            part("form-data; filename=\"x; name=y\"; name=request", &body())
        ),
        format!(
            "{}--b--",
            request.replace("Content-D", "content-TYPE: application/json\r\ncontent-d")
        ),
    ] {
        let answer = form("multipart/form-data; boundary=b", &form_body);
        assert_eq!(answer, plain, "{form_body}");
    }
    for content_type in [
        "Multipart/Form-Data; boundary=\"b\"",
        "multipart/form-data;charset=utf-8;boundary=b",
    ] {
        let answer = form(content_type, &format!("{request}--b--"));
        assert_eq!(answer, plain, "{content_type}");
    }
}

#[test]
fn a_form_without_a_request_lacks_it() {
    let other = part("form-data; name=\"other\"", "{}");
    let detail = refused(
        form("multipart/form-data; boundary=b", &format!("{other}--b--")),
        422,
    );
    let expected = json!([{"type": "missing", "loc": ["body", "request"], "msg": "Field required", "input": null}]);
    assert_eq!(detail, expected);
    // The part is read like a body.
    let request = part("form-data; name=request", "{");
    assert_eq!(
        form(
            "multipart/form-data; boundary=b",
            &format!("{request}--b--")
        )
        .0,
        422
    );
}

#[test]
fn a_broken_form_is_refused() {
    let request = part("form-data; name=\"request\"", &body());
    let long = "a".repeat(71);
    let endless = format!("--b\r\nX: {}\r\n\r\n\r\n--b--", "x".repeat(9_000));
    let many = part("form-data; name=\"request\"", "{}").repeat(300);
    for (content_type, form_body) in [
        ("multipart/form-data", format!("{request}--b--")),
        ("multipart/form-data; boundary=", format!("{request}--b--")),
        (
            "multipart/form-data; boundary=\"b",
            format!("{request}--b--"),
        ),
        (
            &format!("multipart/form-data; boundary={long}"),
            format!("{request}--b--"),
        ),
        ("multipart/form-data; boundary=c", format!("{request}--b--")),
        // No end, no part after a delimiter, twice the same name, no name, another disposition.
        ("multipart/form-data; boundary=b", request.clone()),
        (
            "multipart/form-data; boundary=b",
            format!("{request}--b\r\n"),
        ),
        (
            "multipart/form-data; boundary=b",
            format!("{request}{request}--b--"),
        ),
        (
            "multipart/form-data; boundary=b",
            format!("{}--b--", part("form-data", "{}")),
        ),
        (
            "multipart/form-data; boundary=b",
            format!("{}--b--", part("attachment; name=\"request\"", "{}")),
        ),
        (
            "multipart/form-data; boundary=b",
            format!("{}--b--", part("form-data; name=\"request", "{}")),
        ),
        (
            "multipart/form-data; boundary=b",
            "--b\r\n\r\n{}\r\n--b--".to_owned(),
        ),
        ("multipart/form-data; boundary=b", endless),
        ("multipart/form-data; boundary=b", format!("{many}--b--")),
        ("multipart/form-data; boundary=b", String::new()),
    ] {
        let detail = refused(form(content_type, &form_body), 400);
        assert_eq!(
            detail, "There was an error parsing the body",
            "{content_type} {form_body:.60}"
        );
    }
}

#[test]
fn any_other_content_type_is_read_as_json() {
    let plain = send(&post(body()));
    for content_type in [
        "application/json",
        "text/plain",
        "multipart/mixed; boundary=b",
    ] {
        assert_eq!(form(content_type, &body()), plain, "{content_type}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_answered(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        coding in "gzip|zstd|identity",
        framed in any::<bool>(),
    ) {
        let mut request = with_header(post(bytes), "content-encoding", &coding);
        if framed {
            request = with_header(request, "content-type", "multipart/form-data; boundary=b");
        }
        prop_assert!(matches!(send(&request).0, 400 | 422));
    }

    #[test]
    fn a_damaged_frame_is_answered(at in 0_usize..1000, bit in 0_u32..8) {
        let text = body().repeat(3);
        for (coding, mut bytes) in [("gzip", gzip(text.as_bytes())), ("zstd", zstd(text.as_bytes()))] {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let (status, _) = coded(coding, bytes);
            prop_assert!(matches!(status, 400 | 413 | 422), "{coding}: {status}");
        }
    }

    #[test]
    fn parts_come_out_as_they_went_in(
        contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..5),
    ) {
        let boundary = "0123456789abcdef";
        let mut form = Vec::new();
        for (n, content) in contents.iter().enumerate() {
            form.extend(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{n}\"\r\n\r\n").bytes());
            form.extend(content);
            form.extend(b"\r\n");
        }
        form.extend(format!("--{boundary}--\r\n").bytes());
        let parts = multipart::parts(boundary, &form.into()).unwrap();
        let back: Vec<_> = parts.iter().map(|part| part.content.to_vec()).collect();
        prop_assert_eq!(back, contents);
    }
}
