//! A small writer of SVG.

use std::fmt::Write as _;

/// A picture under way.
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands in relation to its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.write(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>\n",
            short(x),
            short(y),
            escape(text)
        ));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.write(format_args!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{class}\"/>\n",
            short(from.0),
            short(from.1),
            short(to.0),
            short(to.1)
        ));
    }

    pub(super) fn rectangle(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), class: &str) {
        self.write(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{class}\"/>\n",
            short(x),
            short(y),
            short(w),
            short(h)
        ));
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let mut path = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            path.push(if at == 0 { 'M' } else { 'L' });
            path.push_str(&short(*x));
            path.push(' ');
            path.push_str(&short(*y));
        }
        self.write(format_args!("<path d=\"{path}\" class=\"{class}\"/>\n"));
    }

    /// The whole picture. `title` is what a screen reader says.
    pub(super) fn finish(self, title: &str) -> String {
        let (w, h) = (short(self.width), short(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
             <rect width=\"{w}\" height=\"{h}\" class=\"paper\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }

    fn write(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _infallible = self.body.write_fmt(element);
    }
}

/// The width of a text in the small size, as near as can be known without the font.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | 't' | 'f' | 'r' | '.' | ',' | '-' | ' ' | '\u{202f}' => 4.2,
            'm' | 'w' | 'M' | 'W' | '%' => 10.0,
            _ => 6.9,
        })
        .sum()
}

/// The class of the n-th colour; there are eight.
pub(super) fn colour(at: usize) -> String {
    format!("c{}", at % 8)
}

/// Text that may stand between tags and in quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no way to write these.
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate to a tenth of a pixel.
fn short(figure: f64) -> String {
    let text = format!("{figure:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Two sets of colours: the second where the reader's screen is dark.
///
/// The hues are those of Okabe and Ito, "Color Universal Design", 2008, in an order that puts the
/// most different ones first.
const STYLE: &str = "
text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#24292f}
.title{font-size:17px;font-weight:600}
.name{font-size:14px;font-weight:600}
.strong{font-weight:600}
.quiet{fill:#57606a}
.axis{stroke:#8c959f;stroke-width:1}
.grid{stroke:#d8dee4;stroke-width:1}
.limit{stroke:#24292f;stroke-width:1.2;stroke-dasharray:5 4}
.band{fill:#cf222e;opacity:.10}
.paper{fill:#ffffff}
.halo{stroke:#ffffff;stroke-width:4;stroke-linejoin:round;paint-order:stroke}
.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}
.area{stroke-width:1;stroke-linejoin:round;fill-opacity:.55}
path.c0{stroke:#d55e00}path.c1{stroke:#0072b2}path.c2{stroke:#009e73}path.c3{stroke:#aa3f87}
path.c4{stroke:#8a6d00}path.c5{stroke:#3a9bd9}path.c6{stroke:#6e7781}path.c7{stroke:#7048c8}
text.c0{fill:#b04e00}text.c1{fill:#0072b2}text.c2{fill:#007a59}text.c3{fill:#aa3f87}
text.c4{fill:#7a6000}text.c5{fill:#2077ad}text.c6{fill:#57606a}text.c7{fill:#7048c8}
.area.c0{fill:#d55e00}.area.c1{fill:#0072b2}.area.c2{fill:#009e73}.area.c3{fill:#aa3f87}
.area.c4{fill:#8a6d00}.area.c5{fill:#3a9bd9}.area.c6{fill:#6e7781}.area.c7{fill:#7048c8}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.quiet{fill:#9da7b3}.axis{stroke:#6e7681}.grid{stroke:#30363d}
.limit{stroke:#e6edf3}.band{fill:#ff7b72;opacity:.16}.paper{fill:#0d1117}.halo{stroke:#0d1117}
path.c0{stroke:#ff8c42}path.c1{stroke:#58a6ff}path.c2{stroke:#2fcf9a}path.c3{stroke:#e07cc0}
path.c4{stroke:#e3c341}path.c5{stroke:#8ecbff}path.c6{stroke:#9da7b3}path.c7{stroke:#b794ff}
text.c0{fill:#ff8c42}text.c1{fill:#58a6ff}text.c2{fill:#2fcf9a}text.c3{fill:#e07cc0}
text.c4{fill:#e3c341}text.c5{fill:#8ecbff}text.c6{fill:#9da7b3}text.c7{fill:#b794ff}
.area.c0{fill:#ff8c42}.area.c1{fill:#58a6ff}.area.c2{fill:#2fcf9a}.area.c3{fill:#e07cc0}
.area.c4{fill:#e3c341}.area.c5{fill:#8ecbff}.area.c6{fill:#9da7b3}.area.c7{fill:#b794ff}
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        assert_eq!(
            escape("<a b=\"&\">\u{1b}"),
            "&lt;a b=&quot;&amp;&quot;&gt;\u{fffd}"
        );
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            (short(3.0), short(-0.01), short(2.26)),
            ("3".into(), "0".into(), "2.3".into())
        );
    }
}
