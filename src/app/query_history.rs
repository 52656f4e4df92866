//! History of search queries.

/// Maximum number of queries.
const MOST: usize = 100;

/// Queries, most recent last.
#[derive(Debug, Default)]
pub struct QueryHistory {
    /// All queries, most recent last.
    pub all: Vec<String>,
    /// Index of the query in the input line, and the unfinished input.
    shown: Option<(usize, String)>,
}

impl QueryHistory {
    /// Creates a history from earlier queries, most recent last.
    pub fn new(all: &[String]) -> Self {
        let mut queries = Self::default();
        all.iter().for_each(|query| queries.note(query));
        queries
    }

    /// Adds a query; a repeated one moves to the end.
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

    /// Returns the query before or after the one in the input line; after the last one, the unfinished input.
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
    fn recalls_earlier_queries() {
        let mut queries = QueryHistory::new(&["jwt", "redis", "jwt", " "].map(String::from));
        assert_eq!(queries.all, ["redis", "jwt"]);
        let mut next = |line: &str, forward| queries.next(line, forward).unwrap_or_else(|| "none".into());
        assert_eq!(next("coo", false), "jwt");
        assert_eq!(next("jwt", false), "redis");
        assert_eq!(next("redis", false), "none");
        assert_eq!(next("redis", true), "jwt");
        assert_eq!(next("jwt", true), "coo", "the unfinished input is kept");
        assert_eq!(next("coo", true), "none");
        (0..300).for_each(|at| queries.note(&at.to_string()));
        assert_eq!((queries.all.len(), queries.all[0].as_str()), (MOST, "200"));
        assert_eq!(queries.next("299", false).as_deref(), Some("298"), "the query in the line is skipped");
    }
}
