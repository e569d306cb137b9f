//! The line of a key, for what is refused only once the file has been read.

#[cfg(test)]
mod tests;

use crate::policy::InvalidPolicy;

/// With the feature `serde`.
impl InvalidPolicy {
    /// The line of the text, counted from 1, that sets this figure; `None` if none does.
    ///
    /// For texts that are a policy file, TOML or JSON, and were read without an error: a figure may
    /// fit its key and still not fit the others, or not fit the caller's own limits.
    ///
    /// ```
    /// # use skyl_retry::RetryPolicyBuilder;
    /// let text = "max_retries = 2\nmax_delay = \"100ms\"\n";
    /// let builder: RetryPolicyBuilder = toml::from_str(text)?;
    /// let invalid = builder.build().unwrap_err();
    /// assert_eq!(invalid.key(), "max_delay");
    /// assert_eq!(invalid.line_in(text), Some(2));
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    #[must_use]
    pub fn line_in(&self, text: &str) -> Option<usize> {
        Scan::new(text).find(self.key())
    }
}

/// Walks over a text and knows which key each place belongs to.
///
/// It reads keys, headers, braces, strings and comments, and nothing else: the text has passed a
/// real parser before.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    // The table of the last header.
    table: String,
    // The keys of the braces that are open, outermost first.
    open: Vec<String>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            table: String::new(),
            open: Vec::new(),
        }
    }

    fn find(mut self, wanted: &str) -> Option<usize> {
        // The last word, the line it stands on, and whether it is the first thing on it.
        let mut word: Option<(String, usize)> = None;
        let mut key = String::new();
        let mut fresh_line = true;
        while let Some(char) = self.text[self.at..].chars().next() {
            let begins_line = std::mem::replace(&mut fresh_line, false);
            match char {
                '\n' => {
                    self.line += 1;
                    fresh_line = true;
                }
                char if char.is_whitespace() => fresh_line = begins_line,
                '#' => {
                    self.take(|char| char != '\n');
                    continue;
                }
                '"' | '\'' => {
                    word = Some((self.string(char).to_owned(), self.line));
                    continue;
                }
                '[' if begins_line && self.open.is_empty() => {
                    let header = self.take(|char| char != ']' && char != '\n');
                    self.table = header.trim_matches(['[', ' ', '\t']).to_owned();
                    if self.table == wanted {
                        return Some(self.line);
                    }
                    continue;
                }
                '=' | ':' => {
                    if let Some((name, line)) = word.take() {
                        key = self.path(&name);
                        if key == wanted {
                            return Some(line);
                        }
                    }
                }
                '{' => self.open.push(std::mem::take(&mut key)),
                '}' => drop(self.open.pop()),
                _ if is_bare(char) => {
                    word = Some((self.take(is_bare).to_owned(), self.line));
                    continue;
                }
                _ => {}
            }
            self.at += char.len_utf8();
        }
        None
    }

    /// The full name of a key at this place.
    fn path(&self, name: &str) -> String {
        match self.open.last().unwrap_or(&self.table) {
            outer if outer.is_empty() => name.to_owned(),
            outer => format!("{outer}.{name}"),
        }
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(|char| !wanted(char)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Steps over a string; in double quotes a backslash escapes.
    fn string(&mut self, quote: char) -> &'a str {
        let content = &self.text[self.at + 1..];
        let mut escaped = false;
        let end = content.find(|char| {
            let ends = char == quote && !escaped;
            escaped = char == '\\' && !escaped && quote == '"';
            ends
        });
        let end = end.unwrap_or(content.len());
        self.line += content[..end].matches('\n').count();
        self.at = (self.at + end + 2).min(self.text.len());
        &content[..end]
    }
}

fn is_bare(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.')
}
