//! Source code as styled lines: finds the language, and says by [`Tone`]s what each piece of code is. Colours are the
//! theme's business; finding code within Markdown is [`crate::render::markdown`]'s.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::base::text::{Span, Tone, clean_lines};

/// The bytes of one piece of code that are highlighted; what follows is shown plain. The highlighter does 0.1
/// (TypeScript) to 1.6 (JSON) megabytes a second, and takes up to a quarter of a second more for a language's first
/// code.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
/// The lines of one piece of code that are highlighted.
const MAX_LINES: usize = 2_000;
/// The bytes of a line that is still highlighted. Longer ones are data or minified, and the time for a line grows with
/// the square of its length in bad cases.
const MAX_LINE_BYTES: usize = 500;

/// How long the code of a document may take, and one piece of it: in some languages a line may take a quarter of a second.
const FOR_ALL: Duration = Duration::from_secs(2);
const FOR_ONE: Duration = Duration::from_secs(1);
/// The languages of a document, and those that are kept for the next one.
const LANGUAGES: usize = 6;
const KEPT_LANGUAGES: usize = 12;

/// What people write on a fence where the syntaxes know the language by another name or extension only.
const ALIASES: [(&str, &str); 22] = [
    ("shell", "sh"),
    ("console", "sh"),
    ("shellscript", "sh"),
    ("shell-session", "sh"),
    ("golang", "go"),
    ("csharp", "cs"),
    ("c#", "cs"),
    ("cpp", "c++"),
    ("fsharp", "fs"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("jsonl", "json"),
    ("ndjson", "json"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("jsx", "tsx"),
    ("mts", "ts"),
    ("cts", "ts"),
    ("python3", "py"),
    ("docker", "dockerfile"),
    ("patch", "diff"),
    ("objc", "m"),
];

/// The lines of `code`, highlighted as `language`: a fence tag (`ts`, `rust,ignore`, `{.python}`), a file extension or
/// a file name. Code of an unknown language, and what is too big, is [`Tone::Code`] throughout. One item a line.
pub(crate) fn highlight(language: &str, code: &str, budget: &mut Budget<'_>) -> Vec<Vec<Span>> {
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
            let is_late = |spent: Duration| spent > FOR_ALL || spent - begun > FOR_ONE;
            if count > MAX_LINES || bytes > MAX_BYTES || (highlighter.is_some() && is_late(budget.spent())) {
                highlighter = None;
            }
            let spans = highlighter.as_mut().filter(|_| line.len() <= MAX_LINE_BYTES).map(|with| with.line(&line));
            match spans {
                Some(Some(spans)) => spans,
                Some(None) => {
                    highlighter = None; // its state is of no use after a failure
                    plain(line)
                }
                None => plain(line),
            }
        })
        .collect()
}

/// The language of a file by its path, as [`highlight`] takes it: the extension, or the name of a file without one.
pub(crate) fn language_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => extension,
        _ => name,
    }
}

/// Whether code of a language is highlighted at all.
pub(crate) fn is_known(language: &str) -> bool {
    syntax_of(&syntaxes(None), language).is_some()
}

fn plain(line: impl Into<String>) -> Vec<Span> {
    let text = line.into();
    if text.is_empty() { Vec::new() } else { vec![Span::new(Tone::Code, text)] }
}

/// All syntaxes. Of those that were used some megabytes are kept each.
struct Syntaxes {
    set: Arc<SyntaxSet>,
    /// The names of those that were used.
    used: Vec<String>,
}

/// Loaded when code is shown for the first time, and anew when too many were used.
static SYNTAXES: Mutex<Option<Syntaxes>> = Mutex::new(None);

/// The syntaxes for the use of one more by its name.
fn syntaxes(name: Option<&str>) -> Arc<SyntaxSet> {
    let mut loaded = SYNTAXES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = |used: &[String]| name.is_some_and(|name| !used.iter().any(|used| used == name));
    if loaded.as_ref().is_some_and(|loaded| loaded.used.len() >= KEPT_LANGUAGES && is_new(&loaded.used)) {
        *loaded = None;
    }
    let anew = || Syntaxes { set: Arc::new(two_face::syntax::extra_newlines()), used: Vec::new() };
    let loaded = loaded.get_or_insert_with(anew);
    loaded.used.extend(name.filter(|_| is_new(&loaded.used)).map(String::from));
    loaded.set.clone()
}

/// What the code of one document may cost.
pub(crate) struct Budget<'a> {
    /// How long the document has been in the making.
    clock: &'a dyn Fn() -> Duration,
    /// The names of the languages in it.
    languages: Vec<String>,
}

impl<'a> Budget<'a> {
    /// All of it. `clock` says how long the document has been in the making: for ever, if nobody waits for it any more.
    pub(crate) fn new(clock: &'a dyn Fn() -> Duration) -> Self {
        Self { clock, languages: Vec::new() }
    }

    fn spent(&self) -> Duration {
        (self.clock)()
    }

    /// For a language that is known, and may still be used.
    fn highlighter(&mut self, language: &str) -> Option<Highlighter> {
        if self.spent() > FOR_ALL {
            return None;
        }
        let name = syntax_of(&syntaxes(None), language)?.name.clone();
        if !self.languages.contains(&name) {
            if self.languages.len() == LANGUAGES {
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
    let alias = ALIASES.iter().find(|(name, _)| name.eq_ignore_ascii_case(token)).map_or(token, |(_, known)| known);
    // `.bashrc` is known with its dot, `.python` without.
    let dotted = language.trim();
    set.find_syntax_by_extension(dotted)
        .or_else(|| set.find_syntax_by_token(alias))
        .or_else(|| set.find_syntax_by_token(language_of(alias)))
        .filter(|syntax| syntax.name != "Plain Text")
}

/// The state of the highlighter between two lines.
struct Highlighter {
    set: Arc<SyntaxSet>,
    state: ParseState,
    stack: ScopeStack,
}

impl Highlighter {
    /// The spans of the next line; none when the highlighter fails on it.
    fn line(&mut self, line: &str) -> Option<Vec<Span>> {
        let with_end = format!("{line}\n"); // the syntaxes are made for lines with their end
        let changes = self.state.parse_line(&with_end, &self.set).ok()?;
        let mut spans: Vec<Span> = Vec::new();
        let mut from = 0;
        for (at, change) in changes {
            add(&mut spans, line.get(from..at.min(line.len()))?, &self.stack);
            self.stack.apply(&change).ok()?;
            from = at.min(line.len());
        }
        add(&mut spans, line.get(from..)?, &self.stack);
        Some(spans)
    }
}

fn add(spans: &mut Vec<Span>, text: &str, stack: &ScopeStack) {
    if text.is_empty() {
        return;
    }
    let tone = tone_of(stack);
    match spans.last_mut() {
        Some(last) if last.tone == tone => last.text.push_str(text),
        _ => spans.push(Span::new(tone, text)),
    }
}

/// The meaning of code by the innermost scope that tells one.
fn tone_of(stack: &ScopeStack) -> Tone {
    static TONES: OnceLock<Vec<(Scope, Tone)>> = OnceLock::new();
    let tones =
        TONES.get_or_init(|| SCOPES.iter().filter_map(|(name, tone)| Some((Scope::new(name).ok()?, *tone))).collect());
    let told = |scope: &Scope| tones.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, tone)| *tone);
    stack.as_slice().iter().rev().find_map(told).unwrap_or(Tone::Code)
}

/// The scopes that tell a meaning; the first that matches counts.
const SCOPES: [(&str, Tone); 22] = [
    ("comment", Tone::Comment),
    ("string", Tone::Str),
    ("constant", Tone::Number),
    ("keyword", Tone::Keyword),
    ("storage", Tone::Keyword),
    ("entity.name.function", Tone::Function),
    ("support.function", Tone::Function),
    ("variable.function", Tone::Function),
    ("entity.name.type", Tone::Type),
    ("entity.name.class", Tone::Type),
    ("entity.name.struct", Tone::Type),
    ("entity.name.enum", Tone::Type),
    ("entity.name.trait", Tone::Type),
    ("entity.name.interface", Tone::Type),
    ("entity.other.inherited-class", Tone::Type),
    ("support.class", Tone::Type),
    ("support.type", Tone::Type),
    ("entity.name.tag", Tone::Keyword),
    ("markup.heading", Tone::Heading),
    // Code within a string, such as `${name}`: it must not look like the string around it.
    ("meta.interpolation", Tone::Code),
    ("meta.template.expression", Tone::Code),
    ("meta.embedded", Tone::Code),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Highlights, however long it takes.
    fn highlight(language: &str, code: &str) -> Vec<Vec<Span>> {
        super::highlight(language, code, &mut Budget::new(&|| Duration::ZERO))
    }

    /// The lines with keywords in them.
    fn highlighted(lines: &[Vec<Span>]) -> usize {
        lines.iter().filter(|line| line.iter().any(|span| span.tone == Tone::Keyword)).count()
    }

    #[test]
    fn stops_when_it_takes_too_long_or_nobody_waits_any_more() {
        let code = "fn a() {}\n".repeat(100);
        for (step, most) in [(FOR_ONE / 10, 10), (FOR_ALL, 1), (Duration::MAX / 2, 1)] {
            let calls = std::cell::Cell::new(0);
            let clock = || step.saturating_mul(calls.replace(calls.get() + 1));
            let mut budget = Budget::new(&clock);
            let lines = super::highlight("rs", &code, &mut budget);
            assert_eq!(lines.len(), 100);
            assert!((highlighted(&lines) > 0) == (most > 1) && highlighted(&lines) <= most, "{}", highlighted(&lines));
            let calls = 5 + (FOR_ALL.as_secs_f64() / step.as_secs_f64()) as usize;
            let more =
                (0..calls).map(|_| highlighted(&super::highlight("rs", "fn a() {}", &mut budget))).collect::<Vec<_>>();
            assert_eq!(more.last(), Some(&0), "at last all of the time is gone");
        }
    }

    #[test]
    fn so_many_languages_are_for_a_document_and_kept_for_the_next() {
        let languages =
            ["rs", "py", "js", "go", "c", "java", "rb", "php", "lua", "kotlin", "swift", "zig", "nix", "fish"];
        for languages in [&languages[..], &languages[7..]] {
            let mut budget = Budget::new(&|| Duration::ZERO);
            let known = languages.iter().filter(|language| budget.highlighter(language).is_some()).count();
            assert_eq!(known, LANGUAGES);
            assert!(budget.highlighter(languages[0]).is_some(), "one that is there already");
            let used = SYNTAXES.lock().unwrap().as_ref().map_or(0, |loaded| loaded.used.len());
            assert!((1..=KEPT_LANGUAGES).contains(&used), "{used}");
        }
        assert_eq!(highlighted(&highlight("rs", "fn a() {}")), 1);
    }

    fn tone(language: &str, code: &str, piece: &str) -> Tone {
        let lines = highlight(language, code);
        let found = lines.iter().flatten().find(|span| span.text.contains(piece));
        found.unwrap_or_else(|| panic!("{piece} not in {lines:?}")).tone
    }

    #[test]
    fn tells_the_pieces_of_code_apart() {
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
    fn knows_languages_by_tags_extensions_and_names() {
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
        for unknown in ["", " ", "text", "plain", "nonsense", "{}", "..."] {
            assert!(syntax_of(&syntaxes(None), unknown).is_none(), "{unknown}");
        }
        assert_eq!(language_of("/a/b.c/main.rs"), "rs");
        assert_eq!(language_of("C:\\x\\Makefile"), "Makefile");
        assert_eq!(language_of("a/.gitignore"), ".gitignore");
    }

    #[test]
    fn keeps_every_line_and_makes_it_safe() {
        let text = |code: &str| -> Vec<String> {
            highlight("rs", code).iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
        };
        assert_eq!(text("a\n\n\tb\x1b[31m\r\nc"), ["a", "", "    b␛[31m", "c"]);
        assert_eq!(text(""), Vec::<String>::new());
        assert_eq!(text("\n"), [""]);
    }

    #[test]
    fn stops_highlighting_where_it_would_take_too_long() {
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
