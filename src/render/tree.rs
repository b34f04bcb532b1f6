//! Our SVG as a tree of shapes, for [`super::png`] and [`super::pdf`]: text is laid out with the font in the
//! binary, so that it is the same on every machine. Characters that it lacks come from a font of the system.
//! Not for SVG in general: no images, no links.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use fontdb::{Database, ID};
use resvg::usvg::{FontResolver, Group, Node, Options, Tree};

use crate::error::{Error, ErrorKind, Result};

/// DejaVu Sans, reduced to the letters of European languages (assets/README.md).
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// A drawing, and the characters that no font has: boxes are drawn for them.
pub(super) struct Drawing {
    pub tree: Tree,
    pub missing: Vec<char>,
}

/// What was looked for in the fonts of the system.
#[derive(Default)]
struct Looked {
    loaded: bool,
    missing: BTreeSet<char>,
}

/// Parses a drawing of ours.
///
/// # Errors
/// [`ErrorKind::Bug`] when it is no SVG.
pub(super) fn parse(svg: &str) -> Result<Drawing> {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    let own = fonts.faces().next().map(|face| face.id);
    let looked = Mutex::new(Looked::default());
    let of_system = FontResolver::default_fallback_selector();
    let select_fallback = |c: char, used: &[ID], fonts: &mut Arc<Database>| {
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        if !looked.loaded {
            looked.loaded = true;
            Arc::make_mut(fonts).load_system_fonts();
        }
        let found = of_system(c, used, fonts);
        if found.is_none() {
            looked.missing.insert(c);
        }
        found
    };
    let options = Options {
        fontdb: Arc::new(fonts),
        font_resolver: FontResolver {
            select_font: Box::new(move |_, _| own),
            select_fallback: Box::new(select_fallback),
        },
        ..Options::default()
    };
    let bug = |e: resvg::usvg::Error| Error::new(ErrorKind::Bug, "the picture is no SVG").because(e);
    let tree = Tree::from_str(svg, &options).map_err(bug)?;
    drop(options);
    let mut missing = looked.into_inner().unwrap_or_else(PoisonError::into_inner).missing;
    if let Some(own) = own {
        bitmaps(tree.root(), own, &mut missing);
    }
    Ok(Drawing { tree, missing: missing.into_iter().collect() })
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
        assert_eq!(missing("a\u{10fffd}b\u{10fffc}"), ['\u{10fffc}', '\u{10fffd}']);
    }
}
