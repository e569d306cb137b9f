//! Images: the header that asks for them, where their bytes are, and what speaks of them.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";
const JPEG: &[u8] = b"\xff\xd8\xffrest";

fn images(request: Request) -> Request {
    with_header(request, "typesafe-danger-zone-images", "true")
}

fn inline(bytes: &[u8]) -> Value {
    json!({"type": "image", "format": "png", "data_base64": STANDARD.encode(bytes)})
}

/// A request for a box in one image, under the name `img`.
fn boxed(asset: &Value) -> Value {
    json!({
        "state": {"photo": "img"},
        "model": "jev-preview",
        "assets": {"img": asset},
        "questions": {"valve": {"type": "box", "instructions": "the red valve in `photo`"}},
    })
}

fn ask_images(body: &Value) -> (u16, Value) {
    send(&images(post(body.to_string())))
}

#[test]
fn a_box_lies_inside_the_image() {
    for n in 0..200 {
        let mut body = boxed(&inline(PNG));
        body["questions"]["valve"]["instructions"] = json!(n.to_string());
        let (status, answer) = ask_images(&body);
        assert_eq!((status, &answer["model"]), (200, &json!("jev-1.14.0")));
        let valve = &answer["answers"]["valve"];
        let members: Vec<_> = valve.as_object().unwrap().keys().collect();
        assert_eq!(members, ["type", "box", "confidence"]);
        let [top, bottom, left, right] =
            ["top", "bottom", "left", "right"].map(|edge| valve["box"][edge].as_f64().unwrap());
        assert!(0.0 <= top && top < bottom && bottom <= 1.0, "{valve}");
        assert!(0.0 <= left && left < right && right <= 1.0, "{valve}");
        assert!((0.0..=1.0).contains(&valve["confidence"].as_f64().unwrap()));
    }
}

#[test]
fn odd_boxes_are_odd_in_their_own_way() {
    let odd = |model: &str| {
        let mut body = boxed(&inline(PNG));
        body["model"] = json!(model);
        ask_images(&body).1["answers"]["valve"].take()
    };
    assert_eq!(odd("sandbox-answer-out-of-range")["box"]["bottom"], 17.0);
    assert!(odd("sandbox-answer-incomplete").get("box").is_none());
    assert_eq!(odd("sandbox-answer-mistyped")["type"], "noul");
}

#[test]
fn images_need_a_header() {
    let without_assets = questions(&json!({"b": {"type": "box"}}));
    let mut without_box = boxed(&inline(PNG));
    without_box["questions"] = json!({"n": {"type": "noul"}});
    for body in [boxed(&inline(PNG)), without_assets, without_box] {
        assert_eq!(ask_images(&body).0, 200);
        let plain = post(body.to_string());
        let off = with_header(
            post(body.to_string()),
            "typesafe-danger-zone-images",
            "false",
        );
        for request in [plain, off] {
            let detail = refused(send(&request), 400);
            assert_eq!(detail["error_type"], "api_usage_error");
        }
    }
}

#[test]
fn an_image_counts_a_thousand_tokens() {
    let tokens = |body: &Value| {
        let usage = ask_images(body).1["usage"].take();
        assert_eq!(usage["output_tokens"], 25);
        usage["input_tokens"].as_u64().unwrap()
    };
    let mut none = boxed(&inline(PNG));
    none.as_object_mut().unwrap().remove("assets");
    let mut two = boxed(&inline(PNG));
    two["assets"] = json!({"img": inline(PNG), "photo": inline(JPEG)});
    assert_eq!(tokens(&boxed(&inline(PNG))), tokens(&none) + 1000);
    assert_eq!(tokens(&two), tokens(&none) + 2000);
}

#[test]
fn an_asset_holds_its_bytes_or_names_a_part() {
    for asset in [
        json!({"type": "image"}),
        json!({"type": "image", "format": "png"}),
        json!({"data_base64": STANDARD.encode(PNG)}),
    ] {
        let detail = refused(ask_images(&boxed(&asset)), 400);
        assert_eq!(
            detail,
            "Asset needs a part, or data_base64 and a format: img"
        );
    }
    let broken = json!({"format": "png", "data_base64": "%%%"});
    let detail = refused(ask_images(&boxed(&broken)), 400);
    assert_eq!(detail, "Asset is not valid base64: img");
    let lost = json!({"type": "image", "part": "asset-0"});
    let detail = refused(ask_images(&boxed(&lost)), 400);
    assert_eq!(detail, "Asset part not found: asset-0");
    // The type is optional in the provider's schema.
    let untyped = json!({"format": "jpeg", "data_base64": STANDARD.encode(JPEG)});
    assert_eq!(ask_images(&boxed(&untyped)).0, 200);
}

#[test]
fn an_image_is_told_by_its_first_bytes() {
    // Whatever format it claims.
    for bytes in [PNG, JPEG, b"\x89PNG\r\n\x1a\n"] {
        assert_eq!(ask_images(&boxed(&inline(bytes))).0, 200);
    }
    for bytes in [&b"GIF89a"[..], b"", b"\x89PNG", b"text"] {
        let detail = refused(ask_images(&boxed(&inline(bytes))), 400);
        assert_eq!(detail, "Asset is neither a PNG nor a JPEG image: img");
    }
}

#[test]
fn an_image_has_at_most_16_mebibytes() {
    let named = boxed(&json!({"type": "image", "part": "asset-0"}));
    let mut bytes = PNG.to_vec();
    bytes.resize(16 * 1024 * 1024, 0);
    assert_eq!(form(&named, &[("asset-0", &bytes)]).0, 200);
    bytes.push(0);
    let detail = refused(form(&named, &[("asset-0", &bytes)]), 400);
    assert_eq!(detail, "Asset is too large: img");
}

#[test]
fn something_has_to_speak_of_an_asset() {
    let image = || json!({"img": inline(PNG)});
    let mut body = questions(&json!({"n": {"type": "noul"}}));
    body["assets"] = image();
    assert_eq!(refused(ask_images(&body), 400), "Asset is not used: img");
    for (place, value) in [
        ("/state", json!("see img, please")),
        ("/state", json!([{"deep": ["img"]}])),
        (
            "/questions/n",
            json!({"type": "noul", "instructions": "img?"}),
        ),
        (
            "/questions/n",
            json!({"type": "noul", "criteria": {"true": "img"}}),
        ),
        (
            "/questions/n",
            json!({"type": "choice", "criteria": {"a": {"like": "img"}}}),
        ),
        (
            "/questions/n",
            json!({"type": "score", "criteria": ["img"]}),
        ),
    ] {
        let mut body = body.clone();
        *body.pointer_mut(place).unwrap() = value;
        assert_eq!(ask_images(&body).0, 200, "{body}");
    }
    // Names of members and fields nobody knows do not count.
    for (place, value) in [
        ("/state", json!({"img": "photo"})),
        (
            "/questions/n",
            json!({"type": "choice", "criteria": {"img": null}}),
        ),
        ("/questions/n", json!({"type": "noul", "note": "img"})),
    ] {
        let mut body = body.clone();
        *body.pointer_mut(place).unwrap() = value;
        assert_eq!(
            refused(ask_images(&body), 400),
            "Asset is not used: img",
            "{body}"
        );
    }
    let mut nameless = body;
    nameless["assets"] = json!({"": inline(PNG)});
    assert_eq!(refused(ask_images(&nameless), 400), "Asset is not used: ");
}

#[test]
fn there_is_an_end_to_assets() {
    let many = |count: usize| {
        let asset = inline(PNG);
        let assets: Map<_, _> = (0..count)
            .map(|n| (format!("<{n}>"), asset.clone()))
            .collect();
        let state: String = assets.keys().map(String::as_str).collect();
        json!({
            "state": state,
            "model": "jev-preview",
            "assets": assets,
            "questions": {"n": {"type": "noul"}},
        })
    };
    // Five are more than fit under the lower ceiling of tokens with none to spare.
    assert_eq!(ask_images(&many(5)).0, 200);
    let too_long = json!({"error_type": "max_tokens_exceeded"});
    assert_eq!(refused(ask_images(&many(256)), 400), too_long);
    let detail = refused(ask_images(&many(257)), 400);
    assert_eq!(detail, "sandbox: at most 256 assets are taken");
}

/// A form with these parts beside the request.
fn form(body: &Value, parts: &[(&str, &[u8])]) -> (u16, Value) {
    let mut bytes = format!(
        "--b\r\nContent-Disposition: form-data; name=\"request\"\r\nContent-Type: application/json\r\n\r\n{body}\r\n"
    )
    .into_bytes();
    for (name, content) in parts {
        let head = format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{name}\"\r\nContent-Type: image/png\r\n\r\n"
        );
        bytes.extend(head.bytes());
        bytes.extend(*content);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"--b--\r\n");
    let request = images(post(bytes));
    send(&with_header(
        request,
        "content-type",
        "multipart/form-data; boundary=b",
    ))
}

#[test]
fn a_part_gives_the_same_answer_as_the_bytes_inline() {
    let named = boxed(&json!({"type": "image", "part": "asset-0"}));
    let by_part = form(&named, &[("asset-0", PNG)]);
    assert_eq!(by_part.0, 200);
    assert_eq!(by_part, ask_images(&boxed(&inline(PNG))));
    // With a part, the bytes inline are ignored.
    let both = boxed(&json!({"type": "image", "part": "asset-0", "data_base64": "%%%"}));
    assert_eq!(form(&both, &[("asset-0", PNG)]), by_part);
}

#[test]
fn each_part_belongs_to_exactly_one_asset() {
    let named = boxed(&json!({"type": "image", "part": "asset-0"}));
    let detail = refused(form(&named, &[("asset-0", PNG), ("asset-1", PNG)]), 400);
    assert_eq!(detail, "Unused part: asset-1");
    let mut twice = named.clone();
    twice["assets"]["photo"] = json!({"type": "image", "part": "asset-0"});
    let detail = refused(form(&twice, &[("asset-0", PNG)]), 400);
    assert_eq!(detail, "Asset part not found: asset-0");
    let mut none = named;
    none.as_object_mut().unwrap().remove("assets");
    let detail = refused(form(&none, &[("asset-0", PNG)]), 400);
    assert_eq!(detail, "Unused part: asset-0");
}

#[test]
fn an_image_counts_by_its_bytes_and_not_by_its_name() {
    let named = |reference: &str, bytes: &[u8]| {
        let body = json!({
            "state": format!("look at {reference}"),
            "model": "jev-preview",
            "assets": {reference: inline(bytes)},
            "questions": {"b": {"type": "box", "instructions": "the valve"}},
        });
        ask_images(&body).1["answers"].take()
    };
    assert_eq!(named("<image:1>", PNG), named("<image:\"2\">", PNG));
    assert_ne!(named("<image:1>", PNG), named("<image:1>", JPEG));
}
