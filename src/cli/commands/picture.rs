//! Pictures that commands write: to a file whose name says the format. Not what is drawn.

use super::super::ui::Ui;
use super::output::{self, Target};
use crate::error::{Error, Result};
use crate::ops::plot::{Image, PictureFormat, image};
use crate::picture::Chart;
use crate::render::svg;
use std::path::Path;

/// Width of a chart that is made in addition to a result.
const WIDTH: u32 = 1000;

/// The format of a file for a chart, which is checked before the work begins.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when the name says no format, or the file must not be written.
pub(super) fn check(path: &Path, force: bool) -> Result<PictureFormat> {
    let format = match PictureFormat::of_file(path) {
        Some(PictureFormat::Html) | None => {
            return Err(Error::usage(format!("--picture: '{}' is no name of a chart", path.display()))
                .hint("name it .svg, .png or .pdf"));
        }
        Some(format) => format,
    };
    output::check(Some(path), force)?;
    Ok(format)
}

/// Writes a chart to a file.
pub(super) fn write(chart: &Chart, path: &Path, force: bool, ui: &Ui) -> Result<()> {
    let format = check(path, force)?;
    let target = Target::open(Some(path), force)?;
    save(svg::chart(chart, WIDTH), (format, 1.0), &chart.title, (target, path), ui)
}

/// Writes a drawing in a format, with so many pixels for each of its pixels, to what is open for a path.
pub(super) fn save(
    svg: String,
    (format, scale): (PictureFormat, f32),
    title: &str,
    (mut target, path): (Target, &Path),
    ui: &Ui,
) -> Result<()> {
    let Image { bytes, missing } = image(svg, format, scale, title)?;
    target.out().write_all(&bytes).map_err(|e| Error::io("write to", path, e))?;
    target.finish()?;
    if !missing.is_empty() {
        let characters: Vec<String> = missing.iter().take(12).map(char::to_string).collect();
        let more = if missing.len() > 12 { ", …" } else { "" };
        ui.warning(&format!(
            "no font of this machine has {}{more}: '\u{fffd}' is drawn (hint: install a font that has them, such as \
             Noto Sans CJK or Noto Emoji, or use svg or html)",
            characters.join(", ")
        ));
    }
    ui.status(&format!("{} bytes written to {}", bytes.len(), path.display()));
    Ok(())
}
