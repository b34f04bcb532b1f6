//! Our SVG as a tree of shapes, for [`super::png`] and [`super::pdf`]: text is laid out with the font in the
//! binary, so that it is the same on every machine. Characters that it lacks come from a font of the system.
//! Not for SVG in general: no images, no links.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use fontdb::{Database, ID};
use resvg::usvg::{FontResolver, Group, Node, Options, Tree};

use crate::error::{Error, ErrorKind, Result};

/// DejaVu Sans, reduced to the letters of European languages (assets/README.md).
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
/// What is drawn for a character that no font has.
const REPLACEMENT: char = '\u{fffd}';

/// A drawing, and the characters that no font has: [`REPLACEMENT`] is drawn for them.
pub(super) struct Drawing {
    pub tree: Tree,
    pub missing: Vec<char>,
}

/// Parses a drawing of ours.
///
/// # Errors
/// [`ErrorKind::Bug`] when it is no SVG.
pub(super) fn parse(svg: &str) -> Result<Drawing> {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    let own = fonts.faces().next().map(|face| face.id);
    let mut fonts = Arc::new(fonts);
    let mut missing: BTreeSet<char> = BTreeSet::new();
    let lacking = lacking(svg);
    if let (Some(own), false) = (own, lacking.is_empty()) {
        Arc::make_mut(&mut fonts).load_system_fonts();
        let select = FontResolver::default_fallback_selector();
        missing.extend(lacking.into_iter().filter(|c| select(*c, &[own], &mut fonts).is_none()));
    }
    let svg: Cow<'_, str> = match missing.is_empty() {
        true => svg.into(),
        false => svg.chars().filter_map(|c| drawn_for(c, &missing)).collect::<String>().into(),
    };
    let options = Options {
        fontdb: fonts,
        font_resolver: FontResolver {
            select_font: Box::new(move |_, _| own),
            select_fallback: FontResolver::default_fallback_selector(),
        },
        ..Options::default()
    };
    let bug = |e: resvg::usvg::Error| Error::new(ErrorKind::Bug, "the picture is no SVG").because(e);
    let tree = Tree::from_str(&svg, &options).map_err(bug)?;
    missing.retain(|c| !is_invisible(*c));
    if let Some(own) = own {
        bitmaps(tree.root(), own, &mut missing);
    }
    Ok(Drawing { tree, missing: missing.into_iter().collect() })
}

/// The characters of a drawing that the font in the binary lacks.
fn lacking(svg: &str) -> Vec<char> {
    let others: BTreeSet<char> = svg.chars().filter(|c| !c.is_ascii()).collect();
    // The question is who else has a character: a second copy of the font answers for the first.
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.load_font_data(FONT.to_vec());
    let Some(first) = fonts.faces().next().map(|face| face.id) else { return Vec::new() };
    let mut fonts = Arc::new(fonts);
    let select = FontResolver::default_fallback_selector();
    others.into_iter().filter(|c| select(*c, &[first], &mut fonts).is_none()).collect()
}

fn drawn_for(c: char, missing: &BTreeSet<char>) -> Option<char> {
    match missing.contains(&c) {
        true if is_invisible(c) => None,
        true => Some(REPLACEMENT),
        false => Some(c),
    }
}

/// Characters that only join or vary others.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Finds characters of fonts that have pixels in place of outlines: they are not drawn.
fn bitmaps(group: &Group, own: ID, missing: &mut BTreeSet<char>) {
    for node in group.children() {
        match node {
            Node::Group(group) => bitmaps(group, own, missing),
            Node::Text(text) if has_image(text.flattened()) => {
                let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                missing.extend(glyphs.filter(|glyph| glyph.font != own).flat_map(|glyph| glyph.text.chars()));
            }
            _ => {}
        }
    }
}

fn has_image(group: &Group) -> bool {
    group.children().iter().any(|node| match node {
        Node::Group(group) => has_image(group),
        Node::Image(_) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(words: &str) -> Vec<char> {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='20'><text y='15'>{words}</text></svg>"
        );
        parse(&svg).unwrap().missing
    }

    #[test]
    fn characters_that_no_font_has_are_named() {
        assert_eq!(missing("T_1 Größe × 2 …"), Vec::<char>::new());
        // Private characters, which fonts of a system do not have.
        assert_eq!(missing("a\u{10fffd}b\u{fe0f}\u{10fffc}"), ['\u{10fffc}', '\u{10fffd}']);
    }
}
