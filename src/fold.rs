//! Text in the form in which it is compared when something is looked for: without case.

/// Appends the folded form of a text.
pub fn fold_into(out: &mut String, text: &str) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        out[start..].make_ascii_lowercase();
    } else {
        out.extend(text.chars().flat_map(char::to_lowercase));
    }
}
