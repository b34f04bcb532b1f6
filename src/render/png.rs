//! Our SVG as PNG, with the same pixels on every machine: text is drawn with the font in the binary. Not for
//! SVG in general: no images, no links, no fonts of the system.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{FontResolver, Options, Tree};

use crate::error::{Error, ErrorKind, Result};

/// DejaVu Sans, reduced to the letters of European languages (assets/README.md).
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
/// Maximum number of pixels, so that memory is bounded.
const MAX_PIXELS: u64 = 200 << 20;

/// Draws a picture, `scale` pixels for each of its units.
///
/// # Errors
/// [`ErrorKind::Usage`] when it would have too many pixels, or the scale is not a number greater than 0.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    if !scale.is_finite() || scale <= 0.0 {
        return Err(Error::usage(format!("--scale: {scale} is no factor")).hint("e.g. --scale 2"));
    }
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    let family = "DejaVu Sans".to_owned();
    fonts.set_sans_serif_family(family.clone());
    let options = Options {
        font_family: family,
        fontdb: Arc::new(fonts),
        font_resolver: FontResolver::default(),
        ..Options::default()
    };
    let bug = |e: resvg::usvg::Error| Error::new(ErrorKind::Bug, "the picture is no SVG").because(e);
    let tree = Tree::from_str(svg, &options).map_err(bug)?;
    let side = |length: f32| (f64::from(length) * f64::from(scale)).ceil().max(1.0);
    let (width, height) = (side(tree.size().width()), side(tree.size().height()));
    let too_many = || {
        Error::usage(format!("a picture of {width} × {height} pixels is too large"))
            .hint("use a smaller --scale, fewer rows (--entity, --type), or --format svg")
    };
    if width * height > MAX_PIXELS as f64 {
        return Err(too_many());
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or_else(too_many)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| Error::new(ErrorKind::Bug, "the picture cannot be encoded").because(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'>\
        <text x='2' y='15' font-size='14' font-family='Nothing,sans-serif'>TÄ</text></svg>";

    #[test]
    fn text_is_drawn_without_fonts_of_the_system() {
        let drawn = png(TEXT, 2.0).unwrap();
        let pixels = Pixmap::decode_png(&drawn).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (80, 40));
        assert!(pixels.pixels().iter().filter(|p| p.alpha() > 200).count() > 100);
        assert_eq!(drawn, png(TEXT, 2.0).unwrap());
    }

    #[test]
    fn a_picture_has_bounds() {
        assert_eq!(png(TEXT, 1e6).unwrap_err().kind(), ErrorKind::Usage);
        for scale in [f32::NAN, 0.0, -1.0, f32::INFINITY] {
            assert_eq!(png(TEXT, scale).unwrap_err().kind(), ErrorKind::Usage);
        }
        assert_eq!(png("<svg", 1.0).unwrap_err().kind(), ErrorKind::Bug);
    }
}
