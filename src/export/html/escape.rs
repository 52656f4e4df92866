//! Escapes for HTML: text in elements, attributes and fragments of URLs.

use crate::base::text::{clean_text, percent_encoded};

/// Escapes text for an element.
pub(super) fn escape(text: &str) -> String {
    clean_text(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes text for an attribute in double quotes.
pub(super) fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;").replace(['\n', '\t'], " ")
}

/// Returns text as the value of an attribute, without quotes if it needs none.
pub(super) fn value(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.into(),
        false => format!("\"{}\"", attribute(text)),
    }
}

/// Encodes text for a URL as UTF-8 in percent signs.
pub(super) fn fragment(text: &str) -> String {
    percent_encoded(&clean_text(text).replace(['\n', '\t'], " "), b"-_.~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_attributes_and_fragments() {
        assert_eq!(attribute("a\"b'<c>&\n"), "a&quot;b'&lt;c&gt;&amp; ");
        assert_eq!([value("a-1"), value("a b"), value("")], ["a-1", "\"a b\"", "\"\""]);
        assert_eq!(fragment("a b\"é#%"), "a%20b%22%C3%A9%23%25");
    }
}
