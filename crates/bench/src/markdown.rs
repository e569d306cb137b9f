//! Tables in Markdown, and back.

/// The rows of a table.
pub(crate) type Cells = Vec<Vec<String>>;

/// A table with a title; the first column is text, the others are figures.
pub(crate) fn markdown(title: &str, head: &[String], rows: &Cells) -> String {
    let rule = head
        .iter()
        .enumerate()
        .map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    let mut out = format!("### {title}\n\n");
    for row in [&head.to_vec(), &rule].into_iter().chain(rows) {
        out.extend(row.iter().map(|cell| format!("| {cell} ")));
        out.push_str("|\n");
    }
    out
}

/// The rows of every table in a text, each with its title and without its head.
pub(crate) fn rows(text: &str) -> Vec<(String, Vec<String>)> {
    let mut title = "";
    let mut rows = Vec::new();
    let mut in_body = false;
    for line in text.lines() {
        if let Some(found) = line.strip_prefix("### ") {
            (title, in_body) = (found, false);
        } else if line.starts_with("| ---") {
            in_body = true;
        } else if let Some(cells) = line.strip_prefix("| ").filter(|_| in_body) {
            let cells = cells.trim_end_matches('|').split('|');
            let cells = cells.map(|cell| cell.trim().to_owned());
            rows.push((title.to_owned(), cells.collect()));
        }
    }
    rows
}
