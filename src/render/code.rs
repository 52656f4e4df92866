//! Source code as styled lines: finds the language, and says by [`Tone`]s what each piece of code is. Colours are the
//! theme's business; finding code within Markdown is [`crate::render::markdown`]'s.

use std::sync::OnceLock;

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
pub(crate) fn highlight(language: &str, code: &str) -> Vec<Vec<Span>> {
    if code.is_empty() {
        return Vec::new();
    }
    let mut highlighter = syntax_of(language).map(Highlighter::new);
    let (mut bytes, mut count) = (0, 0);
    clean_lines(code.strip_suffix('\n').unwrap_or(code))
        .map(|line| {
            count += 1;
            bytes += line.len();
            if count > MAX_LINES || bytes > MAX_BYTES {
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

fn plain(line: impl Into<String>) -> Vec<Span> {
    let text = line.into();
    if text.is_empty() { Vec::new() } else { vec![Span::new(Tone::Code, text)] }
}

/// All syntaxes, loaded when code is shown for the first time.
fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

fn syntax_of(language: &str) -> Option<&'static SyntaxReference> {
    let token = language
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':' | ';' | '='))
        .map(|part| part.trim_start_matches('.'))
        .find(|part| !part.is_empty())?;
    let alias = ALIASES.iter().find(|(name, _)| name.eq_ignore_ascii_case(token)).map_or(token, |(_, known)| known);
    let set = syntaxes();
    // `.bashrc` is known with its dot, `.python` without.
    let dotted = language.trim();
    set.find_syntax_by_extension(dotted)
        .or_else(|| set.find_syntax_by_token(alias))
        .or_else(|| set.find_syntax_by_token(language_of(alias)))
        .filter(|syntax| syntax.name != "Plain Text")
}

/// The state of the highlighter between two lines.
struct Highlighter {
    state: ParseState,
    stack: ScopeStack,
}

impl Highlighter {
    fn new(syntax: &SyntaxReference) -> Self {
        Self { state: ParseState::new(syntax), stack: ScopeStack::new() }
    }

    /// The spans of the next line; none when the highlighter fails on it.
    fn line(&mut self, line: &str) -> Option<Vec<Span>> {
        let with_end = format!("{line}\n"); // the syntaxes are made for lines with their end
        let changes = self.state.parse_line(&with_end, syntaxes()).ok()?;
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
            assert!(syntax_of(known).is_some(), "{known}");
        }
        for unknown in ["", " ", "text", "plain", "nonsense", "{}", "..."] {
            assert!(syntax_of(unknown).is_none(), "{unknown}");
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
