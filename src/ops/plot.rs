//! `plot`: prepares pictures for their formats. Not what is drawn (see [`crate::plot`]), nor how (see
//! [`crate::render`]).

use super::explain;
use crate::encoding::read_text;
use crate::engine::Session;
use crate::error::Result;
use crate::picture::Picture;
use crate::plot::{Align, Request, plot, plot_several};
use crate::require::{Deadlines, Requirements};
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
        /// A page in vectors, for paper.
        Pdf = "pdf",
    }
}

impl PictureFormat {
    /// The format of a file, by its extension.
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

/// A window of a recording, or of several under each other, for a format, `width` pixels wide if that
/// matters. Sets `columns`, `exact_up_to` and `for_page` of the request. A page explains the responses of its
/// instances.
///
/// # Errors
/// Those of [`plot`] and [`plot_several`]; those of a query.
pub fn timeline(
    session: &Session,
    request: Request,
    (recordings, align): (&[String], Align),
    format: PictureFormat,
    width: u32,
) -> Result<Picture> {
    let for_page = format == PictureFormat::Html;
    let (columns, exact_up_to) = if for_page { (PAGE_COLUMNS, PAGE_EVENTS) } else { (width, 0) };
    let request = Request { columns, exact_up_to, for_page, ..request };
    let mut picture = match recordings {
        [] | [_] => plot(session, &request)?,
        several => plot_several(session, &request, several, align)?,
    };
    if for_page {
        let recordings = match recordings {
            [] => vec![request.selection.recording(session)?],
            several => several.to_vec(),
        };
        explain::instances(session, &mut picture, &recordings, align)?;
    }
    Ok(picture)
}

/// A drawing as the bytes of a file.
pub struct Image {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// Characters that no font of this machine has, where the file has shapes in place of text.
    pub missing: Vec<char>,
}

/// Makes a file of a drawing. For PNG, each pixel of the drawing becomes `scale` pixels in both directions;
/// `title` is that of a PDF.
///
/// # Errors
/// When the drawing is too large for PNG, or this build has neither PNG nor PDF.
pub fn image(svg: String, format: PictureFormat, scale: f32, title: &str) -> Result<Image> {
    let (bytes, missing) = match format {
        PictureFormat::Png => png(&svg, scale)?,
        PictureFormat::Pdf => pdf(&svg, title)?,
        PictureFormat::Svg | PictureFormat::Html => (svg.into_bytes(), Vec::new()),
    };
    Ok(Image { bytes, missing })
}

/// The deadlines in a file of requirements that bound every response time of recordings.
///
/// # Errors
/// When the file is missing or has mistakes; those of [`crate::require::deadlines`].
pub fn deadlines(session: &Session, file: &Path, recordings: &[String]) -> Result<Deadlines> {
    let requirements = Requirements::parse(&read_text(file)?, file)?;
    crate::require::deadlines(session, &requirements, recordings)
}

#[cfg(feature = "png")]
use crate::render::{pdf::pdf, png::png};

#[cfg(not(feature = "png"))]
fn png(_: &str, _: f32) -> Result<(Vec<u8>, Vec<char>)> {
    Err(crate::error::Error::usage("this btfdb was built without PNG").hint("use --format svg"))
}

#[cfg(not(feature = "png"))]
fn pdf(_: &str, _: &str) -> Result<(Vec<u8>, Vec<char>)> {
    Err(crate::error::Error::usage("this btfdb was built without PDF").hint("use --format svg"))
}
