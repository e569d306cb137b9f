//! One page with everything: figures and pictures, and nothing that is loaded from elsewhere.

use crate::measure::Recovery;
use crate::plot::escape;
use crate::report::{Report, Row, decimal};

/// Makes a page of reports: for each its table and its pictures, all in one file.
#[must_use]
pub fn html(reports: &[Report]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>skyl simulate</title>\n<style>{STYLE}</style>\n<main>\n"
    );
    for report in reports {
        page.push_str(&section(report));
    }
    page.push_str("</main>\n</html>\n");
    page
}

fn section(report: &Report) -> String {
    let header: String = COLUMNS.iter().map(|column| cell("th", column)).collect();
    let table: String = report.rows.iter().map(table_row).collect();
    let pictures = report.pictures();
    let pictures: Vec<String> = pictures
        .iter()
        .map(|picture| format!("<div class=\"wide\">{}</div>\n", picture.svg()))
        .collect();
    format!(
        "<section>\n<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n<p>{}</p>\n\
         <div class=\"wide\"><table>\n<tr>{header}</tr>\n{table}</table></div>\n{}</section>\n",
        escape(report.title()),
        escape(report.name()),
        escape(report.about()),
        pictures.concat()
    )
}

fn table_row(row: &Row) -> String {
    let cells: String = cells(row).iter().map(|text| cell("td", text)).collect();
    format!("<tr>{cells}</tr>\n")
}

fn cell(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>", escape(text))
}

fn cells(row: &Row) -> [String; 13] {
    let optional = |figure: Option<f64>| figure.map_or_else(|| "–".to_owned(), decimal);
    [
        row.policy.clone(),
        decimal(row.failure_rate),
        row.clients.to_string(),
        decimal(row.calls.mean),
        decimal(row.load),
        optional(row.calls_per_success),
        decimal(row.goodput),
        optional(row.p50_ms),
        optional(row.p95_ms),
        optional(row.p99_ms),
        decimal(row.time_ms.mean),
        decimal(row.peak_over_mean),
        match row.recovery {
            Recovery::NotAsked => "–".to_owned(),
            Recovery::AfterMs(ms) => decimal(ms / 1e3),
            Recovery::Never => "never".to_owned(),
        },
    ]
}

const COLUMNS: [&str; 13] = [
    "policy",
    "failure rate",
    "clients",
    "calls",
    "calls per call begun",
    "calls per success",
    "share served",
    "p50, ms",
    "p95, ms",
    "p99, ms",
    "last, ms",
    "peak over mean",
    "recovers after, s",
];

const STYLE: &str = "
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;margin:0;
color:#24292f;background:#fff}
main{max-width:1080px;margin:0 auto;padding:24px}
section{margin-bottom:64px}
h1{font-size:24px;margin:0}
.quiet{color:#57606a;margin:0}
.wide{overflow-x:auto;margin:16px 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:4px 10px;text-align:right;border-bottom:1px solid #d8dee4;white-space:nowrap}
th{white-space:normal;vertical-align:bottom}
th:first-child,td:first-child{text-align:left}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}.quiet{color:#9da7b3}
th,td{border-color:#30363d}}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Scenario, Watch};

    #[test]
    fn a_page_has_everything_in_it_and_loads_nothing() {
        let text = "title = \"<b>\"\npolicies = [\"none\"]\n[fleet]\nclients = [3, 5]\n";
        let scenario = Scenario::from_toml("x", text).unwrap();
        let report = Plan::new(&scenario).run(&Watch::new()).unwrap();
        let page = html(&[report]);
        assert!(page.contains("<h1>&lt;b&gt;</h1>") && !page.contains("<b>"));
        assert_eq!(page.matches("<svg ").count(), 3);
        // The one address is the name of the language of the pictures.
        let addresses = page.matches("http").count();
        assert_eq!(
            addresses,
            page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
        );
        assert!(!page.contains("<script") && !page.contains("url("));
        for tag in [
            "div", "table", "tr", "td", "th", "svg", "section", "text", "p",
        ] {
            let open = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
