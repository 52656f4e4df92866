//! The prices of models: the embedded table, the tables in pi's directory, and those of the user.

use std::fs;
use std::path::Path;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::disk::locate::Environment;
use crate::session::stats::prices::Prices;

/// Returns the prices of all models, with those of the user. A model table in pi's directory counts as in pi (1.6.0):
/// `models-store.json`, the tables that pi downloaded, if they are newer than the embedded one, and then `models.json`.
/// `published` is the date of the embedded table, in milliseconds since 1970.
pub(crate) fn all(embedded: (Prices, i64), user: &Prices) -> Prices {
    of(&Environment::current().agent(), embedded, user)
}

fn of(agent: &Path, (mut prices, published): (Prices, i64), user: &Prices) -> Prices {
    let store = read(&agent.join("models-store.json"));
    for (provider, table) in store.as_object().into_iter().flatten() {
        if table["lastModified"].as_i64().is_none_or(|modified| modified > published) {
            prices.add_provider(provider, table);
        }
    }
    let models = read(&agent.join("models.json"));
    for (provider, table) in models["providers"].as_object().into_iter().flatten() {
        prices.add_provider(provider, table);
    }
    prices.extend(&user.providers);
    prices
}

/// Reads a JSON file that may have comments and trailing commas; `null` if it is missing or invalid.
fn read(path: &Path) -> Value {
    let mut text = fs::read_to_string(path).unwrap_or_default();
    for removed in ["//[^\n]*", r",(\s*[}\]])"] {
        let Ok(pattern) = Regex::new(&format!(r#""(?:\\.|[^"\\])*"|{removed}"#)) else { continue };
        let kept = |found: &Captures<'_>| match found.get(1) {
            Some(end) => end.as_str().to_string(),
            None => {
                Some(&found[0]).filter(|text| text.starts_with('"')).map_or_else(String::new, |text| text.to_string())
            }
        };
        text = pattern.replace_all(&text, kept).into_owned();
    }
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_table_that_names_a_model_counts() {
        let agent = tempfile::tempdir().unwrap();
        let price = |prices: &Prices, provider: &str, model: &str| {
            prices.of(provider, model).map(|prices| (prices.rates, prices.tiers.clone()))
        };
        let published = 1_795_132_800_000_i64;
        let mut embedded = Prices::default();
        let cost = serde_json::json!({"input": 5, "output": 25, "cacheRead": 0.5, "cacheWrite": 6.25});
        embedded.add_provider("anthropic", &serde_json::json!({"models": [{"id": "claude-opus-4-5", "cost": cost}]}));
        let of = |user: &Prices| super::of(agent.path(), (embedded.clone(), published), user);
        assert_eq!(of(&Prices::default()), embedded, "no tables");
        let model = |id: &str, input: u32| serde_json::json!({"id": id, "cost": {"input": input, "output": 2, "cacheRead": 3, "cacheWrite": 4}});
        let store = serde_json::json!({
            "anthropic": {"lastModified": published, "models": [model("claude-opus-4-5", 1)]},
            "openai": {"lastModified": published + 1, "models": [model("gpt-6.2-sol", 1), model("new", 7)]},
            "local": {"models": [model("one", 8)]},
            "odd": 5,
        });
        fs::write(agent.path().join("models-store.json"), store.to_string()).unwrap();
        let models = r#"{ // comments, "providers": {}
            "providers": {
                "openai": { "modelOverrides": { "new": { "cost": { "output": 0.5, "tiers": [
                    {"inputTokensAbove": 100, "input": 14, "output": 15, "cacheRead": 16, "cacheWrite": 17}, ] } } } },
                "mine": { "baseUrl": "http://127.0.0.1/v1", "models": [
                    {"id": "free"}, {"id": "paid", "cost": {"input": 9, "output": 0, "cacheRead": 0, "cacheWrite": 0}}, ] },
            },
        }"#;
        fs::write(agent.path().join("models.json"), format!("\u{feff}{models}")).unwrap();
        let mut user = Prices::default();
        user.add_provider("mine", &serde_json::json!({"models": [model("other", 10)]}));
        let prices = of(&user);
        let flat = |input: f64| Some(([input, 2.0, 3.0, 4.0], Vec::new()));
        let same = price(&embedded, "anthropic", "claude-opus-4-5");
        assert_eq!(price(&prices, "anthropic", "claude-opus-4-5"), same, "older than the embedded table");
        assert_eq!(price(&prices, "openai", "gpt-6.2-sol"), flat(1.0));
        assert_eq!(price(&prices, "local", "one"), flat(8.0));
        let tiers = vec![(100.0, [14.0, 15.0, 16.0, 17.0])];
        assert_eq!(price(&prices, "openai", "new"), Some(([7.0, 0.5, 3.0, 4.0], tiers)));
        assert_eq!(price(&prices, "mine", "paid"), Some(([9.0, 0.0, 0.0, 0.0], Vec::new())));
        assert_eq!((price(&prices, "mine", "free"), price(&prices, "mine", "other")), (None, flat(10.0)));
        fs::write(agent.path().join("models.json"), "no JSON").unwrap();
        assert!(of(&user).of("openai", "new").is_some());
    }
}
