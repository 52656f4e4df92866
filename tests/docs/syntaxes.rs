//! Generates `assets/syntaxes.bin`, the syntaxes for highlighted code, and their licenses: those of the crate `two-face`
//! without languages that rarely occur in coding sessions, and without parts that pitree does not use. They would take
//! a tenth of the packed program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pitree::render::code::SCOPES;
use serde::Serialize;
use serde_json::Value;
use syntect::dumps;
use syntect::parsing::Scope;
use syntect::parsing::syntax_definition::{Context, Pattern, SyntaxDefinition};

/// The languages to omit.
const OMITTED: [&str; 79] = [
    "ASP",
    "ActionScript",
    "AppleScript",
    "AsciiDoc (Asciidoctor)",
    "Authorized Keys",
    "BibTeX",
    "CFML",
    "CFML Script",
    "CFML Script (Tags)",
    "CMakeCache",
    "Command Help",
    "CpuInfo",
    "Crontab",
    "Crystal",
    "D",
    "DMD Output",
    "Elm Compile Messages",
    "Elm Documentation",
    "Email",
    "Fortran (Fixed Form)",
    "Fortran (Modern)",
    "Fortran Namelist",
    "GFortran Build Results",
    "HTML (ASP)",
    "HTML (EEx)",
    "HTML (Erlang)",
    "HTML (Tcl)",
    "Highlight non-printables",
    "Idris",
    "JavaScript (Rails)",
    "Known Hosts",
    "LaTeX Log",
    "Lean 4",
    "Literate Haskell",
    "MATLAB",
    "Make Output",
    "MediaWiki",
    "MediawikerPanel",
    "MemInfo",
    "NAnt Build File",
    "NSIS",
    "Navigational Bar SV",
    "Navigational Bar VHDL",
    "OCamllex",
    "OCamlyacc",
    "Odin",
    "OpenMP (Fortran)",
    "PureScript",
    "Private Key",
    "QML",
    "R Console",
    "Rd (R Documentation)",
    "Robot Framework",
    "Ruby Haml",
    "Ruby Slim",
    "SML",
    "SQL (Rails)",
    "SSH Common",
    "SSH Config",
    "SSH Crypto",
    "SSHD Config",
    "Strace",
    "SystemVerilog",
    "TestBox",
    "Textile",
    "Todo.txt",
    "Typst",
    "Typst Build Results",
    "Typst Code",
    "VHDL",
    "Verilog",
    "Vyper",
    "fstab",
    "gnuplot",
    "group",
    "orgmode",
    "passwd",
    "resolv",
    "varlink",
];

/// The context in which the parser starts.
const START: &str = "__start";

/// The compression level: the best one, because the file is rarely made.
const LEVEL: i32 = 19;

/// The serialized form of [`syntect::parsing::SyntaxSet`].
#[derive(Serialize)]
struct Set<'a> {
    syntaxes: Vec<Syntax<'a>>,
    path_syntaxes: Vec<(&'a str, usize)>,
}

#[derive(Serialize)]
struct Syntax<'a> {
    name: &'a str,
    file_extensions: &'a [String],
    scope: Scope,
    first_line_match: Option<&'a str>,
    hidden: bool,
    variables: BTreeMap<&'a str, &'a str>,
    /// A dump of [`Contexts`] in the form of a zlib stream that stores it unpacked: all syntaxes are packed together.
    serialized_lazy_contexts: Vec<u8>,
}

#[derive(Serialize)]
struct Contexts {
    /// The numbers of the syntax and of the context by name. The parser only looks for [`START`].
    context_ids: BTreeMap<&'static str, (usize, usize)>,
    contexts: Vec<Context>,
}

#[test]
fn the_syntaxes_are_current() {
    let builder = two_face::syntax::extra_newlines().into_builder();
    let all = builder.syntaxes();
    let is_omitted = |name: &str| OMITTED.contains(&name);
    assert!(OMITTED.iter().all(|name| all.iter().any(|syntax| syntax.name == *name)), "a name is wrong");
    let mut used = BTreeSet::new();
    let mut new: BTreeSet<usize> = (0..all.len()).filter(|at| !is_omitted(&all[*at].name)).collect();
    while let Some(at) = new.pop_first() {
        used.insert(at);
        references(&serde_json::to_value(&all[at].contexts).unwrap(), &mut new);
        new.retain(|at| !used.contains(at));
    }
    // Syntaxes refer to others by number, so an empty one takes the place of each.
    let plain = all.iter().position(|syntax| syntax.name == "Plain Text").unwrap();
    let syntaxes = all.iter().enumerate().map(|(at, syntax)| match used.contains(&at) {
        true => shortened(at, syntax),
        false => Syntax { name: "", file_extensions: &[], hidden: true, ..shortened(plain, &all[plain]) },
    });
    let set = Set { syntaxes: syntaxes.collect(), path_syntaxes: Vec::new() };
    let wanted = dump(&set);
    let packed = zstd::encode_all(&*wanted, LEVEL).unwrap();
    // Versions of the library may compress differently.
    let is_same = |path: &Path| zstd::decode_all(&*fs::read(path).unwrap()).is_ok_and(|set| set == wanted);
    crate::docs::is_current_file("assets/syntaxes.bin", &packed, is_same);
}

/// Returns the uncompressed dump of a value.
fn dump(value: &impl Serialize) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    dumps::dump_to_uncompressed_file(value, file.path()).unwrap();
    fs::read(file.path()).unwrap()
}

/// Returns a zlib stream that contains the data unpacked.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = data.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let len = block.len() as u16;
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(len.to_le_bytes());
        stream.extend((!len).to_le_bytes());
        stream.extend(block);
    }
    let (a, b) = data.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

#[test]
fn the_licenses_of_the_syntaxes_are_current() {
    let mut licenses = "# Licenses of the syntaxes in syntaxes.bin\n\n".to_string();
    let listing = two_face::acknowledgement::listing();
    listing.for_syntaxes().iter().for_each(|license| license.write_md(&mut licenses));
    crate::docs::is_current("assets/syntaxes-licenses.md", &licenses.replace("\r\n", "\n"));
}

/// Collects the indexes of the syntaxes that contexts refer to.
fn references(value: &Value, found: &mut BTreeSet<usize>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("syntax_index").and_then(Value::as_u64).map(|at| at as usize));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// Returns the syntax with the given number, without parts that pitree does not use.
fn shortened(number: usize, syntax: &SyntaxDefinition) -> Syntax<'_> {
    // In the order of their numbers.
    let mut contexts: BTreeMap<&String, Context> =
        syntax.contexts.iter().map(|(name, context)| (name, context.clone())).collect();
    let start = contexts.keys().position(|name| *name == START).unwrap();
    contexts.values_mut().for_each(shorten);
    let contexts =
        Contexts { context_ids: [(START, (number, start))].into(), contexts: contexts.into_values().collect() };
    Syntax {
        name: &syntax.name,
        file_extensions: &syntax.file_extensions,
        scope: syntax.scope,
        first_line_match: None,
        hidden: syntax.hidden,
        variables: BTreeMap::new(),
        serialized_lazy_contexts: stored(&dump(&contexts)),
    }
}

/// Replaces each scope by the prefix that decides its tone, or by the empty scope. `clear_scopes` counts those of
/// contexts, but not those of matches and captures, of which empty ones are removed.
fn shorten(context: &mut Context) {
    let prefixes: Vec<Scope> =
        SCOPES.iter().flat_map(|(_, names)| *names).map(|name| Scope::new(name).unwrap()).collect();
    let short = |scope: &mut Scope| {
        *scope = prefixes.iter().find(|prefix| prefix.is_prefix_of(*scope)).copied().unwrap_or_default();
    };
    let shorten_all = |scopes: &mut Vec<Scope>| {
        scopes.iter_mut().for_each(short);
        scopes.retain(|scope| !scope.is_empty());
    };
    context.meta_scope.iter_mut().chain(&mut context.meta_content_scope).for_each(short);
    for pattern in &mut context.patterns {
        if let Pattern::Match(pattern) = pattern {
            shorten_all(&mut pattern.scope);
            let mut captures = pattern.captures.take().unwrap_or_default();
            captures.iter_mut().for_each(|(_, scopes)| shorten_all(scopes));
            captures.retain(|(_, scopes)| !scopes.is_empty());
            pattern.captures = (!captures.is_empty()).then_some(captures);
        }
    }
}
