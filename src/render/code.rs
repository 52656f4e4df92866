//! Syntax highlighting: detects the language and tags each piece of code with a [`Tone`].

use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use syntect::dumps;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::base::text::{Span, Tone, clean_lines, push_span};
use crate::render::spans_of;

/// The maximum number of highlighted bytes of a code block; the rest is plain. The highlighter processes 0.1 (TypeScript)
/// to 1.6 MB (JSON) per second, and needs up to 0.25 s more to load a language.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
/// The maximum number of highlighted lines of a code block.
const MAX_LINES: usize = 2_000;
/// The maximum length in bytes of a highlighted line. Longer lines are data or minified code, and the time for a line is
/// quadratic in its length in bad cases.
const MAX_LINE_BYTES: usize = 500;

/// The time limits for all code of a document and for one code block. In some languages, a line can take 0.25 s.
const DOCUMENT_TIME_LIMIT: Duration = Duration::from_secs(2);
const CODE_TIME_LIMIT: Duration = Duration::from_secs(1);
/// The maximum number of languages in a document, and in the cache shared by documents.
const MAX_LANGUAGES: usize = 6;
const MAX_CACHED_LANGUAGES: usize = 12;

/// Common fence tags that the syntax set only has under another name or extension, by that name.
const ALIASES: [(&str, &[&str]); 13] = [
    ("sh", &["shell", "console", "shellscript", "shell-session"]),
    ("go", &["golang"]),
    ("cs", &["csharp", "c#"]),
    ("c++", &["cpp"]),
    ("fs", &["fsharp"]),
    ("json", &["jsonc", "json5", "jsonl", "ndjson"]),
    ("js", &["mjs", "cjs"]),
    ("tsx", &["jsx"]),
    ("ts", &["mts", "cts"]),
    ("py", &["python3"]),
    ("dockerfile", &["docker"]),
    ("diff", &["patch"]),
    ("m", &["objc"]),
];

/// Highlights `code` and returns one item per line. `language` is a fence tag (`ts`, `rust,ignore`, `{.python}`), a file
/// extension or a file name. Code of an unknown language and code beyond the limits has [`Tone::Code`].
pub(crate) fn highlight(language: &str, code: &str, budget: &mut HighlightBudget<'_>) -> Vec<Vec<Span>> {
    if code.is_empty() {
        return Vec::new();
    }
    let begun = budget.spent();
    let mut highlighter = budget.highlighter(language);
    let (mut bytes, mut count) = (0, 0);
    clean_lines(code.strip_suffix('\n').unwrap_or(code))
        .map(|line| {
            count += 1;
            bytes += line.len();
            let is_late = |spent: Duration| spent > DOCUMENT_TIME_LIMIT || spent - begun > CODE_TIME_LIMIT;
            if count > MAX_LINES || bytes > MAX_BYTES || (highlighter.is_some() && is_late(budget.spent())) {
                highlighter = None;
            }
            let spans = highlighter.as_mut().filter(|_| line.len() <= MAX_LINE_BYTES).map(|with| with.line(&line));
            match spans {
                Some(Some(spans)) => spans,
                Some(None) => {
                    highlighter = None; // its state is invalid after a failure
                    spans_of(Tone::Code, line)
                }
                None => spans_of(Tone::Code, line),
            }
        })
        .collect()
}

/// Returns the language of a path for [`highlight`]: the extension, or the file name if there is none.
pub(crate) fn language_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => extension,
        _ => name,
    }
}

/// Returns `true` if the language has a syntax.
pub(crate) fn is_known(language: &str) -> bool {
    syntax_of(&syntaxes(None), language).is_some()
}

/// All syntaxes. Each used syntax keeps some megabytes of compiled patterns.
struct SyntaxCache {
    set: Arc<SyntaxSet>,
    /// The names of the used syntaxes.
    used: Vec<String>,
}

/// The syntaxes, loaded for the first code block and reloaded after too many languages.
static SYNTAXES: Mutex<Option<SyntaxCache>> = Mutex::new(None);

/// Loads the syntaxes that `tests/docs/syntaxes.rs` selects and shortens.
fn embedded_syntaxes() -> SyntaxSet {
    /// The maximum size of the unpacked syntaxes in bytes.
    const MAX_SYNTAX_BYTES: usize = 8 << 20;
    let packed: &[u8] = include_bytes!("../../assets/syntaxes.bin");
    // Unpacking in one step needs no window, which is larger than the result.
    let set = zstd::bulk::decompress(packed, MAX_SYNTAX_BYTES)
        .ok()
        .and_then(|data| dumps::from_uncompressed_data(&data).ok());
    set.unwrap_or_default()
}

/// Returns the syntaxes, and registers the use of the one with the given name.
fn syntaxes(name: Option<&str>) -> Arc<SyntaxSet> {
    let mut loaded = SYNTAXES.lock();
    let is_new = |used: &[String]| name.is_some_and(|name| !used.iter().any(|used| used == name));
    if loaded.as_ref().is_some_and(|loaded| loaded.used.len() >= MAX_CACHED_LANGUAGES && is_new(&loaded.used)) {
        *loaded = None;
    }
    let load = || SyntaxCache { set: Arc::new(embedded_syntaxes()), used: Vec::new() };
    let loaded = loaded.get_or_insert_with(load);
    loaded.used.extend(name.filter(|_| is_new(&loaded.used)).map(String::from));
    loaded.set.clone()
}

/// The limits of time and languages for the code of one document.
pub(crate) struct HighlightBudget<'a> {
    /// Returns the time spent on the document so far.
    clock: &'a dyn Fn() -> Duration,
    /// The names of the languages in the document.
    languages: Vec<String>,
}

impl<'a> HighlightBudget<'a> {
    /// Creates an unused budget. `clock` returns the time spent on the document so far, or a huge time once the document
    /// is no longer wanted.
    pub(crate) fn new(clock: &'a dyn Fn() -> Duration) -> Self {
        Self { clock, languages: Vec::new() }
    }

    fn spent(&self) -> Duration {
        (self.clock)()
    }

    /// Returns a highlighter if the language is known and within the limits.
    fn highlighter(&mut self, language: &str) -> Option<Highlighter> {
        if self.spent() > DOCUMENT_TIME_LIMIT {
            return None;
        }
        let name = syntax_of(&syntaxes(None), language)?.name.clone();
        if !self.languages.contains(&name) {
            if self.languages.len() == MAX_LANGUAGES {
                return None;
            }
            self.languages.push(name.clone());
        }
        let set = syntaxes(Some(&name));
        let state = ParseState::new(set.find_syntax_by_name(&name)?);
        Some(Highlighter { set, state, stack: ScopeStack::new() })
    }
}

fn syntax_of<'s>(set: &'s SyntaxSet, language: &str) -> Option<&'s SyntaxReference> {
    let token = language
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':' | ';' | '='))
        .map(|part| part.trim_start_matches('.'))
        .find(|part| !part.is_empty())?;
    let is_alias = |tags: &[&str]| tags.iter().any(|tag| tag.eq_ignore_ascii_case(token));
    let alias = ALIASES.iter().find(|(_, tags)| is_alias(tags)).map_or(token, |(known, _)| known);
    // `.bashrc` is listed with its dot, `.python` without.
    let dotted = language.trim();
    set.find_syntax_by_extension(dotted)
        .or_else(|| set.find_syntax_by_token(alias))
        .or_else(|| set.find_syntax_by_token(language_of(alias)))
        .filter(|syntax| !matches!(syntax.name.as_str(), "" | "Plain Text")) // an omitted syntax has no name
}

/// The state of the highlighter between two lines.
struct Highlighter {
    set: Arc<SyntaxSet>,
    state: ParseState,
    stack: ScopeStack,
}

impl Highlighter {
    /// Highlights the next line. Returns `None` if the highlighter fails.
    fn line(&mut self, line: &str) -> Option<Vec<Span>> {
        let with_end = format!("{line}\n"); // the syntaxes expect lines with line breaks
        let changes = self.state.parse_line(&with_end, &self.set).ok()?;
        let mut spans: Vec<Span> = Vec::new();
        let mut from = 0;
        for (at, change) in changes {
            self.add(&mut spans, line.get(from..at.min(line.len()))?);
            self.stack.apply(&change).ok()?;
            from = at.min(line.len());
        }
        self.add(&mut spans, line.get(from..)?);
        Some(spans)
    }

    fn add(&self, spans: &mut Vec<Span>, text: &str) {
        if !text.is_empty() {
            push_span(spans, tone_of(&self.stack), text);
        }
    }
}

/// Returns the tone of the innermost scope in [`SCOPES`].
fn tone_of(stack: &ScopeStack) -> Tone {
    static TONES: OnceLock<Vec<(Scope, Tone)>> = OnceLock::new();
    let scopes = SCOPES.iter().flat_map(|(tone, names)| names.iter().map(move |name| (name, *tone)));
    let tones = TONES.get_or_init(|| scopes.filter_map(|(name, tone)| Some((Scope::new(name).ok()?, tone))).collect());
    let tone = |scope: &Scope| tones.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, tone)| *tone);
    stack.as_slice().iter().rev().find_map(tone).unwrap_or(Tone::Code)
}

/// The scopes of each tone; the first match wins. `assets/syntaxes.bin` contains no other scopes.
pub const SCOPES: [(Tone, &[&str]); 9] = [
    (Tone::Comment, &["comment"]),
    (Tone::Str, &["string"]),
    (Tone::Number, &["constant"]),
    (Tone::Keyword, &["keyword", "storage"]),
    (Tone::Function, &["entity.name.function", "support.function", "variable.function"]),
    (
        Tone::Type,
        &[
            "entity.name.type",
            "entity.name.class",
            "entity.name.struct",
            "entity.name.enum",
            "entity.name.trait",
            "entity.name.interface",
            "entity.other.inherited-class",
            "support.class",
            "support.type",
        ],
    ),
    (Tone::Keyword, &["entity.name.tag"]),
    (Tone::Heading, &["markup.heading"]),
    // Code within a string, such as `${name}`, must not look like the string.
    (Tone::Code, &["meta.interpolation", "meta.template.expression", "meta.embedded"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_syntaxes_highlight_like_those_they_were_made_from() {
        const CODE: &str = "# a\n// b\n/* c */ fn main() { let x = \"d\\n\" + 'e' + 1.5e3; }\n<p class=\"x\">\n<script>\nlet a = `b${c}`\n\
                            </script>\n<style>a { color: red }</style></p>\n---\nkey: [1, true] # f\n```rust\nlet y = 2;\n```\n@x $y %z\n";
        let (all, ours) = (Arc::new(two_face::syntax::extra_newlines()), Arc::new(embedded_syntaxes()));
        let named: Vec<_> = ours.syntaxes().iter().filter(|syntax| !syntax.name.is_empty()).collect();
        assert!(named.len() > 100, "{}", named.len());
        // CI compares all of them.
        let step = if std::env::var_os("PITREE_LONG_TESTS").is_some() { 1 } else { 8 };
        for syntax in named.into_iter().step_by(step) {
            let parse = |set: &Arc<SyntaxSet>| {
                let state = ParseState::new(set.find_syntax_by_name(&syntax.name).unwrap());
                let mut highlighter = Highlighter { set: set.clone(), state, stack: ScopeStack::new() };
                CODE.lines().map(|line| highlighter.line(line)).collect::<Vec<_>>()
            };
            assert_eq!(parse(&ours), parse(&all), "{}", syntax.name);
            let same = all.find_syntax_by_name(&syntax.name).unwrap();
            assert_eq!(same.file_extensions, syntax.file_extensions);
        }
    }

    /// Highlights, however long it takes.
    fn highlight(language: &str, code: &str) -> Vec<Vec<Span>> {
        super::highlight(language, code, &mut HighlightBudget::new(&|| Duration::ZERO))
    }

    /// The lines with keywords in them.
    fn highlighted(lines: &[Vec<Span>]) -> usize {
        lines.iter().filter(|line| line.iter().any(|span| span.tone == Tone::Keyword)).count()
    }

    #[test]
    fn highlighting_stops_after_the_time_limit() {
        let code = "fn a() {}\n".repeat(100);
        for (step, most) in [(CODE_TIME_LIMIT / 10, 10), (DOCUMENT_TIME_LIMIT, 1), (Duration::MAX / 2, 1)] {
            let calls = std::cell::Cell::new(0);
            let clock = || step.saturating_mul(calls.replace(calls.get() + 1));
            let mut budget = HighlightBudget::new(&clock);
            let lines = super::highlight("rs", &code, &mut budget);
            assert_eq!(lines.len(), 100);
            assert!((highlighted(&lines) > 0) == (most > 1) && highlighted(&lines) <= most, "{}", highlighted(&lines));
            let calls = 5 + (DOCUMENT_TIME_LIMIT.as_secs_f64() / step.as_secs_f64()) as usize;
            let more =
                (0..calls).map(|_| highlighted(&super::highlight("rs", "fn a() {}", &mut budget))).collect::<Vec<_>>();
            assert_eq!(more.last(), Some(&0), "at last all of the time is gone");
        }
    }

    #[test]
    fn languages_are_limited_per_document_and_cached() {
        let languages =
            ["rs", "py", "js", "go", "c", "java", "rb", "php", "lua", "kotlin", "swift", "zig", "nix", "fish"];
        for languages in [&languages[..], &languages[7..]] {
            let mut budget = HighlightBudget::new(&|| Duration::ZERO);
            let known = languages.iter().filter(|language| budget.highlighter(language).is_some()).count();
            assert_eq!(known, MAX_LANGUAGES);
            assert!(budget.highlighter(languages[0]).is_some(), "one that is there already");
            let used = SYNTAXES.lock().as_ref().map_or(0, |loaded| loaded.used.len());
            assert!((1..=MAX_CACHED_LANGUAGES).contains(&used), "{used}");
        }
        assert_eq!(highlighted(&highlight("rs", "fn a() {}")), 1);
    }

    fn tone(language: &str, code: &str, piece: &str) -> Tone {
        let lines = highlight(language, code);
        let found = lines.iter().flatten().find(|span| span.text.contains(piece));
        found.unwrap_or_else(|| panic!("{piece} not in {lines:?}")).tone
    }

    #[test]
    fn code_has_tones() {
        let code = "// note\nstruct Point;\nfn go() -> u8 { let s = \"text\"; 42 }\n";
        assert_eq!(tone("rust", code, "note"), Tone::Comment);
        assert_eq!(tone("rust", code, "Point"), Tone::Type);
        assert_eq!(tone("rust", code, "go"), Tone::Function);
        assert_eq!(tone("rust", code, "text"), Tone::Str);
        assert_eq!(tone("rust", code, "42"), Tone::Number);
        assert_eq!(tone("rust", code, "let"), Tone::Keyword);
        assert_eq!(tone("rust", "/* a\nb */", "b"), Tone::Comment, "state is kept between lines");
        assert_eq!(tone("js", "`a ${name} b`", "name"), Tone::Code, "code within a string is code");
    }

    #[test]
    fn embedded_languages_have_tones() {
        let script = "<script>\nlet a = 1 // note\n</script>\n<style>\n/* more */\n</style>\n";
        for language in ["html", "vue", "svelte"] {
            assert_eq!(tone(language, script, "let"), Tone::Keyword, "{language}");
            assert_eq!(tone(language, script, "note"), Tone::Comment, "{language}");
            assert_eq!(tone(language, script, "more"), Tone::Comment, "{language}");
        }
        let typed = "<script lang=\"ts\">\ninterface A { b: string }\n</script>\n";
        for language in ["vue", "svelte"] {
            assert_eq!(tone(language, typed, "interface"), Tone::Keyword, "{language}");
        }
        assert_eq!(tone("vue", "<style lang=\"scss\">\n// note\n</style>\n", "note"), Tone::Comment);
        assert_eq!(tone("tsx", "const a = <b c=\"d\">{1}</b>;", "1"), Tone::Number);
        assert_eq!(tone("php", "<p><?php echo 12; ?></p>", "12"), Tone::Number);
        for fence in ["rust", "python", "js", "ts", "bash", "json", "sql", "java", "c++", "ruby", "xml"] {
            let text = format!("```{fence}\n<a b=\"text\">\n```\n# Title");
            assert_eq!(tone("markdown", &text, "text"), Tone::Str, "{fence}");
            assert_eq!(tone("markdown", &text, "Title"), Tone::Heading, "{fence}");
        }
    }

    #[test]
    fn languages_are_found_by_tag_extension_and_name() {
        for known in [
            "rs",
            "rust,ignore",
            "{.python}",
            "Python",
            "ts",
            "typescript",
            "tsx",
            "jsx",
            "js",
            "javascript",
            "json",
            "jsonc",
            "bash",
            "sh",
            "zsh",
            "shell",
            "console",
            "toml",
            "yaml",
            "yml",
            "html",
            "css",
            "scss",
            "sql",
            "go",
            "golang",
            "java",
            "kotlin",
            "swift",
            "c",
            "cpp",
            "c++",
            "csharp",
            "c#",
            "ruby",
            "php",
            "lua",
            "dockerfile",
            "Dockerfile",
            "Makefile",
            "makefile",
            ".bashrc",
            "diff",
            "xml",
            "markdown",
            "md",
            "vue",
            "svelte",
            "zig",
            "nix",
            "elixir",
            "haskell",
            "graphql",
            "proto",
            "tf",
            "ini",
            "Cargo.lock",
            "py title=\"x\"",
            "rust:src/main.rs",
            "fish",
        ] {
            assert!(syntax_of(&syntaxes(None), known).is_some(), "{known}");
        }
        for unknown in ["", " ", "text", "plain", "nonsense", "{}", "...", "a/", "Typst"] {
            assert!(syntax_of(&syntaxes(None), unknown).is_none(), "{unknown}");
        }
        assert_eq!(language_of("/a/b.c/main.rs"), "rs");
        assert_eq!(language_of("C:\\x\\Makefile"), "Makefile");
        assert_eq!(language_of("a/.gitignore"), ".gitignore");
    }

    #[test]
    fn all_lines_are_kept_and_sanitized() {
        let text = |code: &str| -> Vec<String> {
            highlight("rs", code).iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
        };
        assert_eq!(text("a\n\n\tb\x1b[31m\r\nc"), ["a", "", "    b␛[31m", "c"]);
        assert_eq!(text(""), Vec::<String>::new());
        assert_eq!(text("\n"), [""]);
    }

    #[test]
    fn long_code_is_highlighted_up_to_the_limits() {
        let many = "fn a\n".repeat(MAX_LINES + 1);
        let lines = highlight("rs", &many);
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(lines[MAX_LINES - 1][0].tone, Tone::Keyword);
        assert_eq!(lines[MAX_LINES], [Span::new(Tone::Code, "fn a")]);
        let long = format!("let a = 1;{}\nlet b = 2;", " ".repeat(MAX_LINE_BYTES));
        let lines = highlight("rs", &long);
        assert_eq!((lines[0].len(), lines[1][0].tone), (1, Tone::Keyword), "only the long line is plain");
    }
}
