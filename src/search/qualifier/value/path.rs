//! Normalized paths for comparison: folded, with `/` as separator, `~` expanded, split into components.

use crate::base::normalize::fold;
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;

/// A path to search for.
pub(crate) struct Path {
    /// The whole path.
    pub(crate) text: String,
    /// The components in order.
    pub(crate) components: Vec<String>,
    /// `true` if the path is absolute.
    pub(crate) is_absolute: bool,
}

impl Path {
    pub(crate) fn new(Text(path): &Text, here: &QueryScope) -> Self {
        let path = path.replace('\\', "/");
        let is_home = path == "~" || path.starts_with("~/");
        let text = fold(&if is_home { path.replacen('~', here.home.trim_end_matches('/'), 1) } else { path });
        Self { components: components(&text).map(str::to_string).collect(), is_absolute: is_absolute(&text), text }
    }
}

/// Returns `true` if a normalized path is absolute.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..3) == Some(":/")
}

/// Iterates over the components of a path.
pub(crate) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::here;

    #[test]
    fn expands_and_folds_paths() {
        let path = |text: &str| Path::new(&Text(text.into()), &here());
        assert_eq!((path("~/Code/./app/").text.as_str(), path("~").is_absolute), ("/home/dev/code/./app/", true));
        assert_eq!(path("~/Code//./app/").components, ["home", "dev", "code", "app"]);
        assert!(path(r"C:\Work").is_absolute && !path("~x/y").is_absolute && !path("a/b").is_absolute);
    }
}
