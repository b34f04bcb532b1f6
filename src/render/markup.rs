//! Text in markup: HTML, SVG and other XML. The crates for it let characters pass that XML and HTML do not
//! allow. Not for terminals (see `table`).

/// Appends a text for use between tags and in attributes. Line breaks and tabs become blanks; characters that
/// XML 1.0 or HTML does not allow become U+FFFD.
pub(crate) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// The [`escape`]d text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(
            escaped("a<b & 'c' \"d\">\u{0}\n\u{85}é"),
            "a&lt;b &amp; &#39;c&#39; &quot;d&quot;&gt;\u{fffd} \u{fffd}é"
        );
    }
}
