//! Places in sessions that palettes list: entries with a label, and entries that touched a file.

use crate::changes::Target;
use crate::library::files::full_path;
use crate::session::entry::call::Touch;
use crate::session::entry::kind::Kind;
use crate::session::tree::{Index, Tree};

/// How many entries up are looked through for what was said.
const NEARBY: usize = 256;

/// A place in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The entry.
    pub entry: Target,
    /// The text of its row, or what was said before it.
    pub text: Box<str>,
    /// When the label was set, or the entry written, in milliseconds since 1970.
    pub time: Option<i64>,
    /// Why it is listed.
    pub why: Why,
}

/// Why a place is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has this label.
    Label(Box<str>),
    /// It touched a file, named from the root on.
    Touch(Box<str>, Touch),
}

/// Which places are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those with a label.
    Labels,
    /// Those that touched a file.
    Files,
    /// Those that touched this one.
    File(String),
}

/// The places that are wanted of a session; in the paths of files `home` is what `~` stands for.
pub fn of(tree: &Tree, wanted: &Wanted, home: &str) -> Vec<Spot> {
    let spot = |at: Index, time: Option<i64>, why: Why| {
        let node = &tree.nodes[at as usize];
        Spot { entry: Target::of(tree, at), text: node.text.clone(), time: time.or(node.time), why }
    };
    if *wanted == Wanted::Labels {
        let mut labels: Vec<_> = tree.labels.iter().collect();
        labels.sort_by_key(|(at, _)| **at);
        let labelled = labels.into_iter().map(|(at, label)| spot(*at, label.time, Why::Label(label.text.clone())));
        return labelled.collect();
    }
    let touches = tree.touches.iter().filter_map(|touched| {
        let file = full_path(&touched.path, &tree.header.cwd, home);
        let is_wanted = !matches!(wanted, Wanted::File(wanted) if *wanted != file);
        let why = Why::Touch(file.into(), touched.touch);
        is_wanted.then(|| Spot { text: said(tree, touched.entry), ..spot(touched.entry, None, why) })
    });
    touches.collect()
}

/// What was last said when a tool was called: the call itself is named beside it.
fn said(tree: &Tree, at: Index) -> Box<str> {
    let says = |at: &Index| {
        let node = &tree.nodes[*at as usize];
        node.kind == Kind::User || (node.kind == Kind::Assistant && !node.silent)
    };
    let mut above = std::iter::successors(Some(at), |&at| tree.parent(at)).take(NEARBY);
    tree.nodes[above.find(says).unwrap_or(at) as usize].text.clone()
}
