//! `plot`: prepares pictures for their formats. Not what is drawn (see [`crate::plot`]), nor how (see
//! [`crate::render`]).

use crate::encoding::read_text;
use crate::engine::Session;
use crate::error::Result;
use crate::picture::Picture;
use crate::plot::{Request, plot};
use crate::require::Requirements;
use crate::time::TimeScale;
use crate::words::words;
use std::path::Path;

/// Columns of a page: enough to zoom into it, and not too many for the memory.
const PAGE_COLUMNS: u32 = 8 * 1024;
/// A page shows up to this many system events exactly: about a million spans, ten megabytes.
const PAGE_EVENTS: u64 = 2_000_000;

words! {
    /// Formats of pictures.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PictureFormat {
        /// Vector graphics.
        Svg = "svg",
        /// A page to zoom into.
        Html = "html",
        /// Pixels.
        Png = "png",
    }
}

impl PictureFormat {
    /// The format of a file, by its extension.
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

/// A window of a recording for a format, `width` pixels wide if that matters. Sets `columns` and
/// `exact_up_to` of the request.
///
/// # Errors
/// Those of [`plot`].
pub fn timeline(session: &Session, request: Request, format: PictureFormat, width: u32) -> Result<Picture> {
    let (columns, exact_up_to) = match format {
        PictureFormat::Html => (PAGE_COLUMNS, PAGE_EVENTS),
        PictureFormat::Svg | PictureFormat::Png => (width, 0),
    };
    plot(session, &Request { columns, exact_up_to, ..request })
}

/// A drawing as the bytes of a file. For PNG, each pixel of the drawing becomes `scale` pixels in both
/// directions.
///
/// # Errors
/// When the drawing is too large for PNG, or this build does not have PNG.
pub fn image(svg: String, format: PictureFormat, scale: f32) -> Result<Vec<u8>> {
    match format {
        PictureFormat::Png => png(&svg, scale),
        PictureFormat::Svg | PictureFormat::Html => Ok(svg.into_bytes()),
    }
}

/// The deadlines in a file of requirements that bound every response time, in ticks.
///
/// # Errors
/// When the file is missing or has mistakes.
pub fn deadlines(file: &Path, scale: TimeScale) -> Result<Vec<(String, i64)>> {
    let text = read_text(file)?;
    let requirements = Requirements::parse(&text, file)?;
    requirements.deadline.iter().map(|d| Ok((d.entity.clone(), d.deadline.ticks(scale)?))).collect()
}

#[cfg(feature = "png")]
fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    crate::render::png::png(svg, scale)
}

#[cfg(not(feature = "png"))]
fn png(_: &str, _: f32) -> Result<Vec<u8>> {
    Err(crate::error::Error::usage("this btfdb was built without PNG").hint("use --format svg"))
}
