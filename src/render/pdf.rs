//! Our SVG as PDF 1.6: one page of the size of the drawing, in vectors. Text becomes outlines, so that no
//! font is needed to read it. Not for SVG in general (see `tree`): no gradients, clips, masks or filters.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use resvg::tiny_skia::{self, PathSegment, Point, Transform};
use resvg::usvg::{FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Pattern, Stroke};

use super::tree::{Drawing, parse};
use crate::error::{Error, ErrorKind, Result};

/// A pixel of CSS in points.
const POINTS: f32 = 0.75;
/// The longest side of a page, in points (ISO 32000-1, annex C).
const LONGEST: f32 = 14_400.0;

/// The objects of a file: number `n` is at index `n - 1`.
struct Objects(Vec<Vec<u8>>);

impl Objects {
    fn add(&mut self, content: Vec<u8>) -> usize {
        self.0.push(content);
        self.0.len()
    }

    /// A compressed stream with more entries in its dictionary.
    fn stream(&mut self, entries: &str, content: &str) -> Result<usize> {
        let cannot = |e: std::io::Error| Error::new(ErrorKind::Bug, "cannot compress").because(e);
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(content.as_bytes()).map_err(cannot)?;
        let packed = packed.finish().map_err(cannot)?;
        let mut object =
            format!("<<{entries}/Filter/FlateDecode/Length {}>>stream\n", packed.len()).into_bytes();
        object.extend(packed);
        object.extend(b"\nendstream");
        Ok(self.add(object))
    }
}

/// A content stream that is being written, and the resources it names.
struct Content<'a> {
    objects: &'a mut Objects,
    out: String,
    /// From pixels to the space of the page.
    page: Transform,
    /// Patterns by what they are and where they are: their numbers.
    patterns: BTreeMap<(String, String), usize>,
    /// Opacities of fills and strokes, in thousandths.
    opacities: BTreeMap<(u32, u32), usize>,
}

/// Draws a picture as a page. Also returns the characters that no font has.
///
/// # Errors
/// [`ErrorKind::Bug`] when it is no SVG of ours.
pub fn pdf(svg: &str, title: &str) -> Result<(Vec<u8>, Vec<char>)> {
    let Drawing { tree, missing } = parse(svg)?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = POINTS.min(LONGEST / width.max(height));
    let page = Transform::from_row(scale, 0.0, 0.0, -scale, 0.0, height * scale);
    let mut objects = Objects(vec![Vec::new(); 3]);
    let content = draw(&mut objects, page, |content| content.group(tree.root(), page, 1.0))?;
    let entries = content.1;
    let body = objects.stream("", &content.0)?;
    let title: String = title.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    let info = objects.add(format!("<</Title<FEFF{title}>/Producer(btfdb)>>").into_bytes());
    let size = [width, height].map(|side| number((side * scale * 100.0).round() / 100.0)).join(" ");
    objects.0[0] = b"<</Type/Catalog/Pages 2 0 R>>".to_vec();
    objects.0[1] = b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec();
    objects.0[2] =
        format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 {size}]/Contents {body} 0 R/Resources {entries}>>")
            .into_bytes();
    Ok((file(&objects, info), missing))
}

/// Header, objects, table of their places, trailer.
fn file(objects: &Objects, info: usize) -> Vec<u8> {
    let mut out = b"%PDF-1.6\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in (1..).zip(&objects.0) {
        places.push(out.len());
        out.extend(format!("{n} 0 obj\n").into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let (table, count) = (out.len(), places.len() + 1);
    out.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").into_bytes());
    for place in places {
        out.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    let root = format!("trailer\n<</Size {count}/Root 1 0 R/Info {info} 0 R>>\nstartxref\n{table}\n%%EOF\n");
    out.extend(root.into_bytes());
    out
}

/// Makes a content stream; returns it with the dictionary of its resources.
fn draw(
    objects: &mut Objects,
    page: Transform,
    content: impl FnOnce(&mut Content<'_>) -> Result<()>,
) -> Result<(String, String)> {
    let (patterns, opacities) = (BTreeMap::new(), BTreeMap::new());
    let mut made = Content { objects, out: String::new(), page, patterns, opacities };
    content(&mut made)?;
    let patterns: String = made.patterns.values().map(|n| format!("/P{n} {n} 0 R")).collect();
    let opacities: String = made.opacities.values().map(|n| format!("/G{n} {n} 0 R")).collect();
    Ok((made.out, format!("<</Pattern<<{patterns}>>/ExtGState<<{opacities}>>>>")))
}

impl Content<'_> {
    /// `at` is from the space of the group to that of the page; the opacity is that of the groups around it.
    fn group(&mut self, group: &Group, at: Transform, opacity: f32) -> Result<()> {
        let at = at.pre_concat(group.transform());
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group, at, opacity)?,
                Node::Path(path) if path.is_visible() => self.path(path, at, opacity)?,
                Node::Text(text) => self.group(text.flattened(), at, opacity)?,
                Node::Path(_) | Node::Image(_) => {}
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &Path, at: Transform, opacity: f32) -> Result<()> {
        let of = |own: f32| (own * opacity * 1000.0).round().clamp(0.0, 1000.0) as u32;
        let opacities = (
            path.fill().map_or(1000, |f| of(f.opacity().get())),
            path.stroke().map_or(1000, |s| of(s.opacity().get())),
        );
        self.out.push_str("q\n");
        if opacities != (1000, 1000) {
            let known = self.opacities.get(&opacities).copied();
            let state = known.unwrap_or_else(|| {
                let share = |thousandths: u32| number(thousandths as f32 / 1000.0);
                let state = format!("<</ca {}/CA {}>>", share(opacities.0), share(opacities.1));
                self.objects.add(state.into_bytes())
            });
            self.opacities.insert(opacities, state);
            let _ = writeln!(self.out, "/G{state} gs");
        }
        let mut paint = "n";
        if let Some(fill) = path.fill() {
            self.paint(fill.paint(), at, ("rg", "cs", "scn"))?;
            paint = if fill.rule() == FillRule::EvenOdd { "f*" } else { "f" };
        }
        if let Some(stroke) = path.stroke() {
            self.paint(stroke.paint(), at, ("RG", "CS", "SCN"))?;
            self.pen(stroke);
            paint = match paint {
                "f" => "B",
                "f*" => "B*",
                _ => "S",
            };
        }
        // The shape is in its own space, so that its lines are as wide as they are in the drawing.
        let _ = writeln!(self.out, "{} cm", matrix(at));
        self.shape(path.data());
        let _ = writeln!(self.out, "{paint}\nQ");
        Ok(())
    }

    fn pen(&mut self, stroke: &Stroke) {
        let cap = match stroke.linecap() {
            LineCap::Butt => 0,
            LineCap::Round => 1,
            LineCap::Square => 2,
        };
        let join = match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => 0,
            LineJoin::Round => 1,
            LineJoin::Bevel => 2,
        };
        let dashes: Vec<String> = stroke.dasharray().unwrap_or_default().iter().map(|d| number(*d)).collect();
        let _ = writeln!(
            self.out,
            "{} w {cap} J {join} j {} M [{}] {} d",
            number(stroke.width().get()),
            number(stroke.miterlimit().get()),
            dashes.join(" "),
            number(stroke.dashoffset())
        );
    }

    /// Chooses a colour or a pattern; the operators are those of fills or of strokes.
    fn paint(
        &mut self,
        paint: &Paint,
        at: Transform,
        (rgb, space, choose): (&str, &str, &str),
    ) -> Result<()> {
        match paint {
            Paint::Color(colour) => {
                let parts =
                    [colour.red, colour.green, colour.blue].map(|part| number(f32::from(part) / 255.0));
                let _ = writeln!(self.out, "{} {rgb}", parts.join(" "));
            }
            Paint::Pattern(pattern) => {
                let number = self.pattern(pattern, at)?;
                let _ = writeln!(self.out, "/Pattern {space} /P{number} {choose}");
            }
            // Our drawings have no gradients.
            Paint::LinearGradient(_) | Paint::RadialGradient(_) => {}
        }
        Ok(())
    }

    /// A pattern as an object: a tile that repeats in the space of the page.
    fn pattern(&mut self, pattern: &Arc<Pattern>, at: Transform) -> Result<usize> {
        let rect = pattern.rect();
        let tile = at.pre_concat(pattern.transform()).pre_translate(rect.x(), rect.y());
        let key = (pattern.id().to_owned(), matrix(tile));
        if let Some(known) = self.patterns.get(&key) {
            return Ok(*known);
        }
        let page = self.page;
        let drawn = |content: &mut Content<'_>| content.group(pattern.root(), Transform::identity(), 1.0);
        let (body, resources) = draw(self.objects, page, drawn)?;
        let (width, height) = (number(rect.width()), number(rect.height()));
        let entries = format!(
            "/Type/Pattern/PatternType 1/PaintType 1/TilingType 2/BBox[0 0 {width} {height}]/XStep {width}\
             /YStep {height}/Matrix[{}]/Resources {resources}",
            key.1
        );
        let made = self.objects.stream(&entries, &body)?;
        self.patterns.insert(key, made);
        Ok(made)
    }

    fn shape(&mut self, shape: &tiny_skia::Path) {
        let point = |p: Point| format!("{} {}", number(p.x), number(p.y));
        let mut last = Point::zero();
        for segment in shape.segments() {
            let _ = match segment {
                PathSegment::MoveTo(to) => write!(self.out, "{} m ", point(to)),
                PathSegment::LineTo(to) => write!(self.out, "{} l ", point(to)),
                PathSegment::QuadTo(by, to) => {
                    // PDF has cubic curves only.
                    let near = |end: Point| {
                        Point::from_xy(end.x + (by.x - end.x) * 2.0 / 3.0, end.y + (by.y - end.y) * 2.0 / 3.0)
                    };
                    write!(self.out, "{} {} {} c ", point(near(last)), point(near(to)), point(to))
                }
                PathSegment::CubicTo(a, b, to) => {
                    write!(self.out, "{} {} {} c ", point(a), point(b), point(to))
                }
                PathSegment::Close => write!(self.out, "h "),
            };
            match segment {
                PathSegment::MoveTo(to)
                | PathSegment::LineTo(to)
                | PathSegment::QuadTo(_, to)
                | PathSegment::CubicTo(_, _, to) => last = to,
                PathSegment::Close => {}
            }
        }
    }
}

fn matrix(t: Transform) -> String {
    [t.sx, t.ky, t.kx, t.sy, t.tx, t.ty].map(number).join(" ")
}

/// A number of PDF: at most four decimals, no exponent.
fn number(value: f32) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><defs>\
        <pattern id='t' width='6' height='6' patternUnits='userSpaceOnUse'><path d='M0 0H6V6H0Z' fill='#ff0000'/></pattern>\
        </defs><rect width='10' height='8' fill='url(#t)' stroke='#0000ff'/><g opacity='.5'><path d='M0 0Q5 5 9 0'/></g>\
        <text x='2' y='15' font-size='14'>OS</text></svg>";

    /// The streams of a file, uncompressed, after a check of its table.
    fn streams(file: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(file);
        assert!(file.starts_with(b"%PDF-1.6") && text.ends_with("%%EOF\n"));
        let find = |needle: &[u8], from: usize| {
            file[from..].windows(needle.len()).position(|w| w == needle).map(|at| from + at)
        };
        let start = find(b"startxref\n", 0).unwrap() + 10;
        let table: usize =
            std::str::from_utf8(&file[start..]).unwrap().lines().next().unwrap().parse().unwrap();
        let lines: Vec<_> = std::str::from_utf8(&file[table..]).unwrap().lines().collect();
        assert_eq!(lines[0], "xref");
        let count: usize = lines[1].split(' ').nth(1).unwrap().parse().unwrap();
        for n in 1..count {
            let place: usize = lines[2 + n].split(' ').next().unwrap().parse().unwrap();
            assert!(file[place..].starts_with(format!("{n} 0 obj\n").as_bytes()), "{n}");
        }
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(begin) = find(b">>stream\n", at) {
            let end = find(b"\nendstream", begin).unwrap();
            let mut content = String::new();
            flate2::read::ZlibDecoder::new(&file[begin + 9..end]).read_to_string(&mut content).unwrap();
            found.push(content);
            at = end;
        }
        found
    }

    #[test]
    fn a_page_has_the_shapes_of_the_drawing() {
        let (file, missing) = pdf(SVG, "Größe").unwrap();
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("/MediaBox[0 0 30 15]") && missing.is_empty());
        assert!(text.contains("/Title<FEFF0047007200F600DF0065>"));
        assert!(text.contains("/Matrix[0.75 0 0 -0.75 0 15]") && text.contains("/ca 0.5"));
        let [tile, page] = streams(&file).try_into().unwrap();
        assert!(tile.contains("1 0 0 rg") && tile.contains("6 6 l"), "{tile}");
        assert!(page.contains("/Pattern cs /P4 scn\n0 0 1 RG"), "{page}");
        assert!(page.contains("0 0 m 3.3333 3.3333 6.3333 3.3333 9 0 c"), "{page}");
        assert!(page.matches(" c ").count() > 10, "letters are outlines");
        assert_eq!(page.matches("q\n").count(), page.matches("\nQ\n").count());
        assert_eq!(pdf(SVG, "Größe").unwrap().0, file, "the same every time");
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!(
            [0.0, -0.00001, 1.5, 1e-7, 14_400.0, -2.25].map(number),
            ["0", "0", "1.5", "0", "14400", "-2.25"]
        );
    }

    #[test]
    fn a_page_is_not_longer_than_pdf_allows() {
        let svg =
            "<svg xmlns='http://www.w3.org/2000/svg' width='20000' height='100'><path d='M0 0H9V9Z'/></svg>";
        let (file, _) = pdf(svg, "").unwrap();
        assert!(String::from_utf8_lossy(&file).contains("/MediaBox[0 0 14400 72]"));
        assert_eq!(pdf("<svg", "").unwrap_err().kind(), ErrorKind::Bug);
    }
}
