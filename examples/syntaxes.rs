//! Writes `assets/syntaxes.bin`, the syntaxes for highlighted code, and their licenses: those of the crate `two-face`
//! without languages that rarely occur in coding sessions. They would be a twentieth of the packed program.
//!
//! ```sh
//! cargo run --example syntaxes
//! ```

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a generator that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use syntect::dumps::dump_to_uncompressed_file;
use syntect::parsing::SyntaxSetBuilder;

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

fn main() {
    let builder = two_face::syntax::extra_newlines().into_builder();
    let all = builder.syntaxes();
    let is_omitted = |name: &str| OMITTED.contains(&name);
    assert!(OMITTED.iter().all(|name| all.iter().any(|syntax| syntax.name == *name)), "a name is wrong");
    let mut used = BTreeSet::new();
    for (at, syntax) in all.iter().enumerate().filter(|(_, syntax)| !is_omitted(&syntax.name)) {
        used.insert(at);
        references(&serde_json::to_value(&syntax.contexts).unwrap(), &mut used);
    }
    // Syntaxes refer to others by index, so an empty one takes the place of each.
    let plain = all.iter().find(|syntax| syntax.name == "Plain Text").unwrap();
    let mut left = SyntaxSetBuilder::new();
    for (at, syntax) in all.iter().enumerate() {
        let mut syntax = syntax.clone();
        if !used.contains(&at) {
            println!("omitted: {}", syntax.name);
            syntax = plain.clone();
            (syntax.name, syntax.file_extensions, syntax.hidden) = (String::new(), Vec::new(), true);
        } else if is_omitted(&syntax.name) {
            println!("used by others: {}", syntax.name);
        }
        left.add(syntax);
    }
    dump_to_uncompressed_file(&left.build(), "assets/syntaxes.bin").unwrap();
    let mut licenses = "# Licenses of the syntaxes in syntaxes.bin\n\n".to_string();
    let listing = two_face::acknowledgement::listing();
    listing.for_syntaxes().iter().for_each(|license| license.write_md(&mut licenses));
    fs::write("assets/syntaxes-licenses.md", licenses).unwrap();
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
