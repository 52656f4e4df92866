//! Secrets in texts: rules that find passwords, keys and tokens, and a redaction that replaces them. Without I/O.
//!
//! [`Rules`] finds secrets: one pass finds the keywords of all rules, then each rule runs only near its keyword. The
//! built-in rules are data in `assets/secrets.toml`. [`SecretCollector`] collects the values in all texts, then
//! [`SecretReplacer`] replaces each value by the same mark everywhere. Rules cannot find every secret; texts for users must
//! say so.

mod assignment;
mod encoded;
mod escapes;
mod manifest;
mod private_key;
mod redaction;
mod rule;
mod rule_file;
mod rules;
mod secret;
mod sentence;
mod value;
mod wrapped;

pub use redaction::{Secret, SecretCollector, SecretReplacer};
pub use rules::{CustomRules, Rules};
pub use secret::{RuleId, SecretMatch, sample};
