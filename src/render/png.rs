//! Our SVG as PNG. Not for SVG in general (see `tree`).

use resvg::tiny_skia::{Pixmap, Transform};

use super::tree::{Drawing, parse};
use crate::error::{Error, ErrorKind, Result};

/// Maximum number of pixels, so that memory is bounded.
const MAX_PIXELS: u64 = 200 << 20;

/// Draws a picture, `scale` pixels for each of its units. Also returns the characters that no font has.
///
/// # Errors
/// [`ErrorKind::Usage`] when it would have too many pixels, or the scale is not a number greater than 0.
pub fn png(svg: &str, scale: f32) -> Result<(Vec<u8>, Vec<char>)> {
    if !scale.is_finite() || scale <= 0.0 {
        return Err(Error::usage(format!("--scale: {scale} is no factor")).hint("e.g. --scale 2"));
    }
    let Drawing { tree, missing } = parse(svg)?;
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
    let cannot = |e| Error::new(ErrorKind::Bug, "the picture cannot be encoded").because(e);
    Ok((pixels.encode_png().map_err(cannot)?, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'>\
        <text x='2' y='15' font-size='14' font-family='Nothing,sans-serif'>TÄ</text></svg>";

    #[test]
    fn text_is_drawn_without_fonts_of_the_system() {
        let (drawn, missing) = png(TEXT, 2.0).unwrap();
        assert!(missing.is_empty());
        let pixels = Pixmap::decode_png(&drawn).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (80, 40));
        assert!(pixels.pixels().iter().filter(|p| p.alpha() > 200).count() > 100);
        assert_eq!(drawn, png(TEXT, 2.0).unwrap().0);
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
