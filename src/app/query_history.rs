//! The queries that were typed, to be called back.

/// The most that is kept.
const MOST: usize = 100;

/// The queries, the last one last.
#[derive(Debug, Default)]
pub struct QueryHistory {
    all: Vec<String>,
    /// Which one is in the line, and what was typed before.
    shown: Option<(usize, String)>,
}

impl QueryHistory {
    /// Those of an earlier time, the last one last.
    pub fn new(all: &[String]) -> Self {
        let mut queries = Self::default();
        all.iter().for_each(|query| queries.note(query));
        queries
    }

    /// All of them, the last one last: what is to be kept for a later time.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    /// Takes a query that was asked; one that was asked before moves to the end.
    pub fn note(&mut self, query: &str) {
        self.shown = None;
        let query = query.trim();
        if query.is_empty() {
            return;
        }
        self.all.retain(|other| other != query);
        self.all.push(query.into());
        let over = self.all.len().saturating_sub(MOST);
        self.all.drain(..over);
    }

    /// The query before the one in the line, or the one behind it; after the last one what was typed.
    pub fn next(&mut self, line: &str, forward: bool) -> Option<String> {
        let (at, typed) = self.shown.take().unwrap_or_else(|| (self.all.len(), line.into()));
        let is_same = |at: &usize| self.all.get(*at).is_some_and(|query| query == line.trim());
        let to = match forward {
            true => (at + 1..=self.all.len()).find(|at| !is_same(at)),
            false => (0..at).rev().find(|at| !is_same(at)),
        };
        let text = to.map(|to| self.all.get(to).unwrap_or(&typed).clone());
        self.shown = Some((to.unwrap_or(at), typed));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_through_what_was_asked() {
        let mut queries = QueryHistory::new(&["jwt", "redis", "jwt", " "].map(String::from));
        assert_eq!(queries.all(), ["redis", "jwt"]);
        let mut next = |line: &str, forward| queries.next(line, forward).unwrap_or_else(|| "none".into());
        assert_eq!(next("coo", false), "jwt");
        assert_eq!(next("jwt", false), "redis");
        assert_eq!(next("redis", false), "none");
        assert_eq!(next("redis", true), "jwt");
        assert_eq!(next("jwt", true), "coo", "what was typed is not lost");
        assert_eq!(next("coo", true), "none");
        (0..300).for_each(|at| queries.note(&at.to_string()));
        assert_eq!((queries.all().len(), queries.all()[0].as_str()), (MOST, "200"));
        assert_eq!(queries.next("299", false).as_deref(), Some("298"), "the one in the line is passed over");
    }
}
