//! Personal data in texts: home and project directories, names of users and hosts, e-mail and IP addresses.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use regex::{Captures, Regex};

use crate::base::named::named;
use crate::base::sort;

named! {
    /// A group of personal data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
    pub enum PersonalData {
        /// Home and project directories.
        Paths = "paths",
        /// Names of users and hosts, e-mail and IP addresses.
        People = "people",
    }
}

/// User names that are common words.
const COMMON_USERS: [&str; 8] = ["root", "user", "admin", "home", "dev", "app", "pi", "ubuntu"];

/// Replaces personal data by marks such as `[home]`.
#[derive(Debug)]
pub struct PersonalReplacer {
    /// Patterns in the order in which they are applied, with the kind of data.
    patterns: Vec<(Regex, &'static str)>,
    /// The number of replaced places by kind.
    counts: RefCell<BTreeMap<&'static str, u64>>,
}

/// The known personal data.
#[derive(Clone, Debug, Default)]
pub struct KnownPersonalData {
    /// The home directory.
    pub home: String,
    /// The working directories of the sessions.
    pub cwds: Vec<String>,
    /// The user name.
    pub user: Option<String>,
    /// The host name.
    pub host: Option<String>,
}

impl PersonalReplacer {
    /// Creates the replacer for some groups.
    pub fn new(groups: &[PersonalData], known: &KnownPersonalData) -> Self {
        let mut patterns: Vec<(String, &'static str)> = Vec::new();
        let homes = known.cwds.iter().map(String::as_str).chain([&*known.home]);
        let homes: Vec<String> = homes.filter_map(home_of).collect();
        if groups.contains(&PersonalData::Paths) {
            let mut cwds: Vec<&String> = known.cwds.iter().filter(|cwd| cwd.len() > 1).collect();
            sort::by_key(&mut cwds, |cwd| std::cmp::Reverse(cwd.len()));
            patterns.extend(cwds.iter().map(|cwd| (format!(r"{}\b", regex::escape(cwd)), "project")));
            let home = Some(&known.home).filter(|home| home.len() > 1);
            patterns.extend(home.map(|home| (format!(r"{}\b", regex::escape(home)), "home")));
            patterns.push((HOMES.into(), "home"));
            // Directories of pi's sessions: `--home-dev-app--`.
            let folders =
                known.cwds.iter().chain(home).map(|dir| dir.trim_start_matches('/').replace(['/', '\\', ':'], "-"));
            let folders = folders.filter(|folder| folder.contains('-'));
            patterns.extend(folders.map(|folder| (format!(r"--{}", regex::escape(&folder)), "project")));
        }
        if groups.contains(&PersonalData::People) {
            patterns.push((r"[\p{L}0-9._%+-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)*\.\p{L}{2,}".into(), "email"));
            let users = known.user.iter().chain(&homes).filter(|user| user.chars().count() > 2);
            let users = users.filter(|user| !COMMON_USERS.contains(&&***user));
            patterns.extend(users.map(|user| (format!(r"\b{}\b", regex::escape(user)), "user")));
            let host = known.host.iter().filter(|host| host.len() > 3 && *host != "localhost");
            patterns.extend(host.map(|host| (format!(r"\b{}\b", regex::escape(host)), "host")));
            patterns.push((r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b".into(), "ip"));
            patterns.push((r"\b[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}\b".into(), "ip"));
        }
        let patterns = patterns.into_iter().filter_map(|(pattern, kind)| Some((Regex::new(&pattern).ok()?, kind)));
        Self { patterns: patterns.collect(), counts: RefCell::default() }
    }

    /// Replaces personal data in a text.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (pattern, kind) in &self.patterns {
            let mut count = 0;
            let replaced = pattern.replace_all(&text, |found: &Captures<'_>| {
                let found = &found[0];
                if *kind == "ip" && !is_address(found) {
                    return found.to_owned();
                }
                count += 1;
                format!("[{kind}]")
            });
            if count > 0 {
                text = Cow::Owned(replaced.into_owned());
                *self.counts.borrow_mut().entry(kind).or_default() += count;
            }
        }
        text
    }

    /// Returns each kind of data with the number of replaced places.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.borrow().clone()
    }
}

/// Home directories of any user.
const HOMES: &str = r#"(?:/home/|/Users/|\b[A-Za-z]:[\\/]+Users[\\/]+)[^/\\\s"'`:;,<>|(){}\[\]]+"#;

/// Returns the user in the path of a home directory.
fn home_of(path: &str) -> Option<String> {
    let start = ["/home/", "/Users/", "C:\\Users\\"].iter().find_map(|start| path.strip_prefix(start))?;
    let user = start.split(['/', '\\']).next().unwrap_or_default();
    (!user.is_empty()).then(|| user.to_owned())
}

/// Returns `true` if a text is an address of another machine.
fn is_address(text: &str) -> bool {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return !(address.is_loopback() || address.is_unspecified() || address.is_broadcast());
    }
    let groups = text.split(':').filter(|group| !group.is_empty()).count();
    groups > 3 && text.parse::<Ipv6Addr>().is_ok_and(|address| !address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn personal_data_is_replaced() {
        let known = KnownPersonalData {
            home: "/home/ada".into(),
            cwds: vec!["/home/ada/work/shop".into(), "/Users/grace/x".into()],
            user: Some("ada".into()),
            host: Some("engine-7".into()),
        };
        let all = PersonalReplacer::new(PersonalData::ALL, &known);
        for (text, wanted) in [
            ("see /home/ada/work/shop/a.rs and /home/ada/.ssh", "see [project]/a.rs and [home]/.ssh"),
            ("/home/ada/work/shopping", "[home]/work/shopping"),
            ("/home/bob/x, C:\\Users\\bob\\x", "[home]/x, [home]\\x"),
            ("mail ada@example.com or grace", "mail [email] or [user]"),
            ("ada@engine-7: ping 10.1.2.3 and 127.0.0.1", "[user]@[host]: ping [ip] and 127.0.0.1"),
            ("fe80:1:2:3::7 std::io a::b 12:34:56", "[ip] std::io a::b 12:34:56"),
            ("--home-ada-work-shop--", "[project]--"),
            ("Canada, adapter", "Canada, adapter"),
        ] {
            assert_eq!(all.apply(text), wanted);
        }
        assert_eq!(all.counts()["ip"], 2);
        let none = PersonalReplacer::new(&[], &known);
        assert!(matches!(none.apply("/home/ada"), Cow::Borrowed(_)));
    }
}
