//! The palette of a family's sessions, which is also the legend of the family tree. Each session can be hidden.

use crate::app::layers::answer::ChoiceAction;
use crate::app::layers::palette::PaletteItem;
use crate::app::model::Model;
use crate::app::panes::tree::family::letter;
use crate::app::title::title;
use crate::base::numbers::{count, nonzero_dollars};
use crate::base::text::{Span, Tone};
use crate::base::time;
use crate::catalog::SessionKey;

/// Returns the sessions of the family, parents before forks, then sessions that share entries without a link.
pub(super) fn rows(model: &Model) -> Vec<PaletteItem> {
    let Some(open) = model.tree.session.filter(|&open| model.catalog.has(open)) else { return Vec::new() };
    let family = model.catalog.family(open).into_iter().map(|key| row(model, key, true));
    let others = model.catalog.same_origin(open).into_iter().map(|key| row(model, key, false));
    family.chain(others).collect()
}

fn row(model: &Model, key: SessionKey, is_of_family: bool) -> PaletteItem {
    let (catalog, tree) = (&model.catalog, &model.tree);
    let depth = catalog.families().line(key).skip(1).count().min(8);
    let number = tree.family.as_ref().and_then(|family| family.number_of(key));
    let is_shown = if is_of_family {
        tree.is_whole() && !tree.wanted.hidden.contains(&key)
    } else {
        tree.wanted.added.contains(&key)
    };
    let sign = match number {
        Some(number) => letter(number),
        None => Span::new(Tone::Dim, "-"),
    };
    let tone = if is_shown || number.is_some() { Tone::Text } else { Tone::Dim };
    let indent = if is_of_family { "  ".repeat(depth) } else { String::new() };
    let left = vec![sign, Span::new(tone, format!(" {indent}{}", title(&catalog[key])))];
    let is_open = tree.session == Some(key);
    let mut facts = Vec::new();
    facts.extend(is_open.then(|| "open".into()));
    facts.extend((!is_of_family).then(|| "same origin".into()));
    facts.extend((is_of_family && tree.wanted.hidden.contains(&key)).then(|| "hidden".into()));
    let own = catalog.own(key);
    facts.push(count(own.entries, "unique entry", "unique entries"));
    facts.extend(nonzero_dollars(own.cost));
    let dot = format!(" {} ", model.setting.glyphs.dot);
    let age = catalog[key].modified.map_or("?".into(), |then| time::age(model.now, then));
    let right = vec![Span::new(Tone::Dim, facts.join(&dot))];
    let leads = if is_open {
        ChoiceAction::Explain("the open session is always shown")
    } else {
        ChoiceAction::ToggleMember(key)
    };
    PaletteItem::new(left, right, Span::new(Tone::Dim, format!("  {age:>4}")), leads)
}
