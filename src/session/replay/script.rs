//! The words of a shell command: simple commands with their redirections and here-documents. The parser understands
//! what models usually write; anything else makes a word unknown.

/// Words that only introduce a command.
const PREFIXES: &[&str] = &[
    "sudo", "command", "time", "nohup", "builtin", "exec", "then", "do", "else", "!", "{", "if", "while", "until",
    "elif", "npx", "bunx", "env",
];

/// The maximum number of scripts inside a script, such as substitutions.
pub(super) const MAX_SCRIPTS: usize = 50;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text without quotes.
    pub(super) text: String,
    /// `true` if the shell changes the word: variables, substitutions or patterns.
    pub(super) is_computed: bool,
}

/// The operator before a simple command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Operator {
    /// The start, `;`, a line break or `&`.
    #[default]
    Start,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// The operator before it.
    pub(super) joined: Operator,
    /// The words without redirections.
    pub(super) words: Vec<Word>,
    /// The files that it writes, and `true` to append.
    pub(super) outputs: Vec<(Word, bool)>,
    /// The text of its here-document, if the shell does not change it.
    pub(super) input: Option<String>,
    /// `true` if its errors go to a file instead of the output.
    pub(super) hides_errors: bool,
}

/// A script that is split into commands.
#[derive(Debug)]
pub(super) struct Script {
    /// The simple commands, in order.
    pub(super) commands: Vec<SimpleCommand>,
    /// The scripts in `$(…)` and backquotes.
    pub(super) inner: Vec<String>,
    /// `true` if it has parentheses: subshells, functions or patterns of `case`.
    pub(super) has_groups: bool,
    /// `true` if a quote or a substitution has no end, so that commands may be missing.
    pub(super) is_broken: bool,
}

/// A here-document whose text follows on the next lines.
struct Pending {
    command: usize,
    delimiter: Word,
    strips_tabs: bool,
    is_quoted: bool,
}

/// Returns the words of a command from its name on, without assignments and prefixes.
pub(super) fn words(command: &SimpleCommand) -> &[Word] {
    let mut words = &command.words[..];
    while let [first, rest @ ..] = words {
        let is_assignment = first
            .text
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        let is_timeout = first.text == "timeout" && !rest.is_empty();
        let has_option = rest.first().is_some_and(|word| word.text.starts_with('-'));
        // Options of `sudo` and `env` can have arguments.
        if has_option && matches!(&*first.text, "sudo" | "env") {
            break;
        }
        if is_assignment {
            words = rest;
        } else if PREFIXES.contains(&&*first.text) {
            let options = rest.iter().take_while(|word| word.text.starts_with('-')).count();
            words = &rest[options..];
        } else if is_timeout {
            words = &rest[1..];
        } else {
            break;
        }
    }
    words
}

/// Returns the name of a command without its directory.
pub(super) fn name(command: &SimpleCommand) -> &str {
    words(command).first().map_or("", |word| word.text.rsplit('/').next().unwrap_or_default())
}

/// Returns `true` for a shell that runs a script.
fn is_shell(name: &str) -> bool {
    matches!(name, "bash" | "sh" | "zsh" | "dash" | "ksh")
}

/// Returns the script in the arguments or the here-document of a shell.
pub(super) fn script_of(command: &SimpleCommand) -> Option<String> {
    let args = words(command).get(1..).unwrap_or_default();
    let name = name(command);
    if name == "eval" {
        return Some(args.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" "));
    }
    let is_flag = |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c');
    let at = args.iter().position(is_flag);
    let script = at.map_or_else(|| command.input.clone(), |at| args.get(at + 1).map(|word| word.text.clone()));
    script.filter(|_| is_shell(name))
}

/// Splits a script into its simple commands.
pub(super) fn parse(script: &str) -> Script {
    let parsed =
        Script { commands: vec![SimpleCommand::default()], inner: Vec::new(), has_groups: false, is_broken: false };
    let mut parser = Parser { rest: script, script: parsed, pending: Vec::new() };
    parser.run();
    let mut script = parser.script;
    script.commands.retain(|command| !command.words.is_empty() || !command.outputs.is_empty());
    script
}

struct Parser<'a> {
    rest: &'a str,
    script: Script,
    pending: Vec<Pending>,
}

impl<'a> Parser<'a> {
    fn run(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r']);
            if let Some(rest) = self.rest.strip_prefix("\\\n") {
                self.rest = rest;
                continue;
            }
            let Some(first) = self.rest.chars().next() else { return };
            match first {
                '\n' => {
                    self.rest = &self.rest[1..];
                    self.documents();
                    self.next(Operator::Start);
                }
                '#' => self.rest = self.rest.find('\n').map_or("", |at| &self.rest[at..]),
                ';' | '(' | ')' => {
                    self.script.has_groups |= first != ';';
                    self.rest = &self.rest[1..];
                    self.next(Operator::Start);
                }
                '&' if self.rest.starts_with("&>") => {
                    self.rest = &self.rest[1..];
                    self.redirection(true);
                }
                '&' | '|' => {
                    let two = self.rest.starts_with("&&") || self.rest.starts_with("||");
                    let joined = match (first, two) {
                        ('&', true) => Operator::And,
                        ('&', false) => Operator::Start,
                        (_, true) => Operator::Or,
                        _ => Operator::Pipe,
                    };
                    self.rest = &self.rest[if two { 2 } else { 1 }..];
                    self.next(joined);
                }
                '<' | '>' => self.redirection(self.rest.starts_with(">&")),
                _ => {
                    let is_number = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                    if is_number.len() < self.rest.len() && is_number.starts_with(['<', '>']) {
                        let is_error = self.rest.starts_with("2>") && !self.rest.starts_with("2>&1");
                        self.rest = is_number;
                        self.redirection(is_error);
                        continue;
                    }
                    let (word, _) = self.word();
                    if let Some(command) = self.script.commands.last_mut() {
                        command.words.push(word);
                    }
                }
            }
        }
    }

    fn next(&mut self, joined: Operator) {
        self.script.commands.push(SimpleCommand { joined, ..SimpleCommand::default() });
    }

    /// Reads a redirection that starts with `<` or `>`. `hides_errors` is `true` if it may redirect standard error.
    fn redirection(&mut self, hides_errors: bool) {
        if let Some(command) = self.script.commands.last_mut() {
            command.hides_errors |= hides_errors;
        }
        let current = self.script.commands.len() - 1;
        for (sign, strips_tabs) in [("<<-", true), ("<<", false)] {
            if self.rest.starts_with("<<<") {
                break;
            }
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest.trim_start_matches(' ');
                let (delimiter, is_quoted) = self.word();
                self.pending.push(Pending { command: current, delimiter, strips_tabs, is_quoted });
                return;
            }
        }
        let is_output = self.rest.starts_with('>');
        let appends = self.rest.starts_with(">>");
        self.rest = self.rest.trim_start_matches(['<', '>', '|']);
        if let Some(rest) = self.rest.strip_prefix('&') {
            self.rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
            return;
        }
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let (word, _) = self.word();
        if is_output && let Some(command) = self.script.commands.last_mut() {
            command.outputs.push((word, appends));
        }
    }

    /// Reads the here-documents whose text starts here.
    fn documents(&mut self) {
        for Pending { command, delimiter, strips_tabs, is_quoted } in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.rest.is_empty() {
                    break;
                }
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                let line = if strips_tabs { line.trim_start_matches('\t') } else { line };
                if line == delimiter.text {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let is_computed = !is_quoted && text.contains(['$', '`', '\\']);
            if let Some(command) = self.script.commands.get_mut(command).filter(|_| !is_computed) {
                command.input = Some(text);
            }
        }
    }

    /// Reads a word; also returns `true` if it has quotes.
    fn word(&mut self) -> (Word, bool) {
        let (mut word, mut has_quotes) = (Word::default(), false);
        while let Some(c) = self.rest.chars().next() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    has_quotes = true;
                    let (text, rest) = self.until('\'');
                    word.text.push_str(text);
                    self.rest = rest;
                }
                '$' if self.rest.starts_with("$'") => {
                    (has_quotes, word.is_computed) = (true, true);
                    self.rest = &self.rest[2..];
                    self.escaped();
                }
                '"' => {
                    has_quotes = true;
                    self.rest = &self.rest[1..];
                    self.double_quoted(&mut word);
                }
                '\\' => {
                    has_quotes = true;
                    let mut chars = self.rest[1..].chars();
                    word.text.extend(chars.next().filter(|&c| c != '\n'));
                    self.rest = chars.as_str();
                }
                '$' | '`' => self.computed(&mut word),
                _ => {
                    word.is_computed |= matches!(c, '*' | '?' | '[' | '{');
                    word.text.push(c);
                    self.rest = &self.rest[c.len_utf8()..];
                }
            }
        }
        (word, has_quotes)
    }

    /// Returns the text after the first character up to a quote, and the rest.
    fn until(&mut self, quote: char) -> (&'a str, &'a str) {
        let text = &self.rest[1..];
        text.split_once(quote).unwrap_or_else(|| {
            self.script.is_broken = true;
            (text, "")
        })
    }

    /// Skips a text with escapes: `$'…'`.
    fn escaped(&mut self) {
        let mut chars = self.rest.chars();
        loop {
            match chars.next() {
                Some('\'') => break,
                Some('\\') => drop(chars.next()),
                Some(_) => {}
                None => {
                    self.script.is_broken = true;
                    break;
                }
            }
        }
        self.rest = chars.as_str();
    }

    fn double_quoted(&mut self, word: &mut Word) {
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' => {
                    self.rest = &self.rest[1..];
                    return;
                }
                '\\' => {
                    let mut chars = self.rest[1..].chars();
                    match chars.next() {
                        Some(c @ ('"' | '\\' | '$' | '`')) => word.text.push(c),
                        Some('\n') | None => {}
                        Some(c) => word.text.extend(['\\', c]),
                    }
                    self.rest = chars.as_str();
                }
                '$' | '`' => self.computed(word),
                _ => {
                    word.text.push(c);
                    self.rest = &self.rest[c.len_utf8()..];
                }
            }
        }
        self.script.is_broken = true;
    }

    /// Skips a variable or a substitution.
    fn computed(&mut self, word: &mut Word) {
        word.is_computed = true;
        if self.rest.starts_with('`') {
            let (script, rest) = self.until('`');
            self.script.inner.push(script.into());
            self.rest = rest;
        } else if let Some(rest) = self.rest.strip_prefix("$(") {
            let end = closing(rest);
            self.script.is_broken |= end == rest.len();
            self.script.inner.push(rest[..end].into());
            self.rest = rest.get(end + 1..).unwrap_or_default();
        } else {
            word.text.push('$');
            self.rest = &self.rest[1..];
        }
    }
}

/// Returns the place of the parenthesis that closes a substitution, or the end.
fn closing(text: &str) -> usize {
    let (mut depth, mut quote, mut delimiter) = (0usize, None, None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => drop(chars.next()),
            (c, Some(open)) => quote = Some(open).filter(|_| c != open),
            // Quotes and parentheses in a here-document have no meaning.
            ('<', None) if text[at..].starts_with("<<") && !text[at..].starts_with("<<<") => {
                let word = text[at + 2..].trim_start_matches(['-', ' ']).trim_start_matches(['\'', '"', '\\']);
                let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
                delimiter = Some(&word[..end]).filter(|word| !word.is_empty());
                chars.next();
            }
            ('\n', None) if delimiter.is_some() => {
                let mut next = at + 1;
                for line in text[next..].split_inclusive('\n') {
                    next += line.len();
                    if Some(line.trim_matches(['\t', '\r', '\n'])) == delimiter {
                        break;
                    }
                }
                // The line break after the delimiter separates commands.
                delimiter = None;
                while chars.clone().next().is_some_and(|(at, _)| at < next) {
                    chars.next();
                }
            }
            ('\'' | '"', None) => quote = Some(c),
            ('(', None) => depth += 1,
            (')', None) if depth == 0 => return at,
            (')', None) => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Commands that run another command after their own options.
const RUNNERS: [&str; 5] = ["sudo", "env", "timeout", "nice", "xargs"];

/// Options of `git` with an argument in the next word.
const WITH_ARGUMENT: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source"];

/// Options of `git` that choose another directory.
const OTHER_DIR: [&str; 3] = ["-C", "--git-dir", "--work-tree"];

/// A subcommand of git with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GitCommand<'a> {
    /// The name.
    pub(super) name: &'a str,
    /// The words after the name.
    pub(super) args: &'a [Word],
    /// `true` if it runs in another directory.
    pub(super) is_elsewhere: bool,
}

impl<'a> GitCommand<'a> {
    /// Reads the arguments of git. Returns `None` without a subcommand.
    pub(super) fn new(args: &'a [Word]) -> Option<Self> {
        let (mut at, mut is_elsewhere) = (0, false);
        loop {
            let option = &*args.get(at)?.text;
            if !option.starts_with('-') {
                return Some(Self { name: option, args: &args[at + 1..], is_elsewhere });
            }
            let option = option.split('=').next().unwrap_or_default();
            is_elsewhere |= OTHER_DIR.contains(&option);
            let has_argument = option.len() == args[at].text.len() && WITH_ARGUMENT.contains(&option);
            at += 1 + usize::from(has_argument);
        }
    }

    /// Finds git in a command, also after a command that runs it.
    pub(super) fn of(command: &'a SimpleCommand) -> Option<Self> {
        let words = words(command);
        let is_git = |word: &Word| word.text == "git" || word.text.ends_with("/git");
        let at = words.iter().position(is_git)?;
        (at == 0 || RUNNERS.contains(&name(command))).then(|| Self::new(&words[at + 1..])).flatten()
    }

    /// Returns `true` if an option is among the arguments.
    pub(super) fn has(self, option: &str) -> bool {
        self.args.iter().any(|word| word.text == option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(script: &str) -> Vec<String> {
        let Script { commands, inner, .. } = parse(script);
        let word = |word: &Word| format!("{}{}", word.text, if word.is_computed { "*" } else { "" });
        let command = |command: &SimpleCommand| {
            let words: Vec<String> = command.words.iter().map(word).collect();
            let outputs: Vec<String> = command
                .outputs
                .iter()
                .map(|(file, appends)| format!(" {}{}", if *appends { ">>" } else { ">" }, word(file)))
                .collect();
            let input = command.input.as_ref().map_or(String::new(), |text| format!(" <{text:?}"));
            format!("{:?} {}{}{input}", command.joined, words.join(" "), outputs.concat())
        };
        commands.iter().map(command).chain(inner.into_iter().map(|inner| format!("$ {inner}"))).collect()
    }

    #[test]
    fn splits_commands() {
        for (script, wanted) in [
            (
                "cd a && ls -l | grep 'x y' || true; pwd",
                &["Start cd a", "And ls -l", "Pipe grep x y", "Or true", "Start pwd"][..],
            ),
            ("cat > a.txt <<'EOF'\nx $y\nEOF\nls", &["Start cat >a.txt <\"x $y\\n\"", "Start ls"]),
            ("cat <<EOF > a\n$x\nEOF", &["Start cat >a"]),
            ("cat <<-E >>a\n\tx\n\tE\n", &["Start cat >>a <\"x\\n\""]),
            ("cargo test 2>&1 >out &> log", &["Start cargo test >out >log"]),
            ("rm *.rs \"$x\" a\\ b # c", &["Start rm *.rs* $x* a b"]),
            ("x=$(rm a) y`ls`", &["Start x=* y*", "$ rm a", "$ ls"]),
            ("echo \"a 'b\" 'c\"'", &["Start echo a 'b c\""]),
            ("cat > a <<'E'\nno end", &["Start cat >a <\"no end\\n\""]),
        ] {
            assert_eq!(said(script), wanted, "{script}");
        }
    }

    #[test]
    fn quotes_in_here_documents_have_no_meaning() {
        let script = "git commit -m \"$(cat <<'EOF'\nDon't (do\nEOF\n)\" && sed -i s/a/b/ c";
        assert_eq!(said(script), ["Start git commit -m *", "And sed -i s/a/b/ c", "$ cat <<'EOF'\nDon't (do\nEOF\n"]);
        assert_eq!(said("git commit -m $'don\\'t' && rm a"), ["Start git commit -m *", "And rm a"]);
        assert!(!parse(script).is_broken);
        for script in ["echo 'a", "echo \"a", "echo $(a", "echo `a", "echo $'a\\'"] {
            assert!(parse(script).is_broken, "{script}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed(script in "[ -~\n$`'\"\\\\<>&|()é]{0,60}") {
            parse(&script);
        }
    }
}

#[cfg(test)]
mod git_tests {
    use super::*;
    use crate::session::replay::script::parse;

    #[test]
    fn the_subcommand_follows_the_options_of_git() {
        for (script, expected) in [
            ("git status -s", Some(("status", 1, false))),
            ("git -C /w -c user.name=x --no-pager commit -m x", Some(("commit", 2, true))),
            ("git --git-dir=/w/.git --work-tree /w rm a", Some(("rm", 1, true))),
            ("sudo -u me /usr/bin/git pull", Some(("pull", 0, false))),
            ("echo git pull", None),
            ("git -c", None),
            ("git --version", None),
        ] {
            let script_commands = parse(script).commands;
            let found = GitCommand::of(&script_commands[0]).map(|git| (git.name, git.args.len(), git.is_elsewhere));
            assert_eq!(found, expected, "{script}");
        }
    }
}
