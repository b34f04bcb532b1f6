//! A picture → columns of varints, row by row: the data of a page, which its script `data.js` reads. Not for
//! the page around it, and not for compression.
//!
//! Numbers are LEB128; signed ones are zigzag. Instants are offsets from the begin of the window, because a
//! number of JavaScript is exact up to 2^53 only, and so is the difference of two instants up to 2^52.
//! Instants further away are stored as [`FAR`], which the page shows as "before" or "after" the window. Data
//! are in columns, not records, because similar neighbours compress better.

use std::io::{self, Write};

use crate::picture::{Curve, Explanations, Highlight, Link, Mark, Name, Picture, Response, Row, Run, Shape};
use crate::varint;

/// The greatest exact offset of a page: 52 days in nanoseconds.
pub(super) const FAR: i64 = (1 << 52) - 1;

/// The first number of the data: changes with the format.
pub(super) const VERSION: u64 = 4;

/// The last number of the data, by which a page checks that it has all of it.
pub(super) const END: u64 = 0xB7F;

/// A run with an instance has this bit in addition to its state.
const INSTANCE: u64 = 1 << 5;
/// A run that stands for several.
const MERGED: u64 = 1 << 6;
/// A run that is not in the lowest track.
const TRACK: u64 = 1 << 7;

/// A mark that stands for several has this bit in addition to its kind.
const SEVERAL: u64 = 1 << 4;
/// A mark with a text.
const NAMED: u64 = 1 << 5;

/// Writes all of `picture` without a second copy of it. `out` should be buffered.
pub(super) fn encode(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    let mut encoder = Encoder { out, from: picture.from, number: Vec::new() };
    encoder.unsigned(VERSION)?;
    for text in [picture.scale.as_str(), &picture.title, &picture.description, &picture.from.to_string()] {
        encoder.text(text)?;
    }
    encoder.offset(picture.to)?;
    encoder.texts(&picture.names)?;
    encoder.colours(picture)?;
    encoder.texts(&picture.notes)?;
    encoder.highlight(picture.highlight.as_ref())?;
    encoder.response(picture.response.as_ref())?;
    encoder.count(picture.rows.len())?;
    for row in &picture.rows {
        encoder.row(row, picture.names.len())?;
    }
    encoder.links(&picture.links)?;
    encoder.explanations(&picture.explanations)?;
    encoder.unsigned(END)
}

struct Encoder<'a> {
    out: &'a mut dyn Write,
    /// Begin of the window.
    from: i64,
    number: Vec<u8>,
}

impl Encoder<'_> {
    fn unsigned(&mut self, value: u64) -> io::Result<()> {
        self.number.clear();
        varint::push(value, &mut self.number);
        self.out.write_all(&self.number)
    }

    fn signed(&mut self, value: i64) -> io::Result<()> {
        self.unsigned(varint::zigzag(value))
    }

    fn count(&mut self, value: usize) -> io::Result<()> {
        self.unsigned(value as u64)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.count(text.len())?;
        self.out.write_all(text.as_bytes())
    }

    fn texts(&mut self, texts: &[String]) -> io::Result<()> {
        self.count(texts.len())?;
        texts.iter().try_for_each(|text| self.text(text))
    }

    /// Of each name, one more than the number of its colour; 0 if it has none.
    fn colours(&mut self, picture: &Picture) -> io::Result<()> {
        let mut rest = picture.colours.as_slice();
        for name in 0..picture.names.len() {
            let colour = match rest.split_first() {
                Some((first, others)) if first.0 as usize == name => {
                    rest = others;
                    u64::from(first.1) + 1
                }
                _ => 0,
            };
            self.unsigned(colour)?;
        }
        Ok(())
    }

    fn float(&mut self, value: f64) -> io::Result<()> {
        self.out.write_all(&value.to_le_bytes())
    }

    fn name(&mut self, name: Option<Name>) -> io::Result<()> {
        self.unsigned(name.map_or(0, |name| u64::from(name) + 1))
    }

    /// An instant as a number that a page can represent.
    fn at(&self, instant: i64) -> i64 {
        offset(instant, self.from)
    }

    /// From the begin to the end of a run, as far as a page can represent them; never negative.
    fn length(&self, run: &Run) -> i64 {
        (self.at(run.end) - self.at(run.begin)).max(0)
    }

    fn offset(&mut self, instant: i64) -> io::Result<()> {
        self.signed(self.at(instant))
    }

    fn highlight(&mut self, highlight: Option<&Highlight>) -> io::Result<()> {
        let Some(highlight) = highlight else { return self.unsigned(0) };
        self.unsigned(1)?;
        self.count(highlight.row)?;
        self.offset(highlight.begin)?;
        self.offset(highlight.end)?;
        self.text(&highlight.label)
    }

    fn response(&mut self, response: Option<&Response>) -> io::Result<()> {
        let Some(response) = response else { return self.unsigned(0) };
        self.unsigned(1)?;
        self.count(response.row)?;
        self.count(response.causes.len())?;
        for cause in &response.causes {
            self.unsigned(cause.state as u64)?;
            self.unsigned(cause.name.into())?;
            self.text(&cause.words)?;
            self.unsigned(cause.length.clamp(0, FAR).cast_unsigned())?;
            self.unsigned(cause.permille.into())?;
            self.unsigned(cause.count)?;
        }
        self.count(response.bands.len())?;
        for band in &response.bands {
            self.count(band.row)?;
            self.unsigned(band.state as u64)?;
            self.offset(band.begin)?;
            self.unsigned((self.at(band.end) - self.at(band.begin)).max(0).cast_unsigned())?;
        }
        Ok(())
    }

    fn explanations(&mut self, explanations: &Explanations) -> io::Result<()> {
        self.texts(&explanations.words)?;
        self.count(explanations.of.len())?;
        for one in &explanations.of {
            self.count(one.row)?;
            self.signed(one.instance)?;
            self.offset(one.begin)?;
            self.count(one.parts.len())?;
            for part in &one.parts {
                self.unsigned(part.state as u64)?;
                self.unsigned(part.words.into())?;
                self.unsigned(part.length.clamp(0, FAR).cast_unsigned())?;
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &Row, names: usize) -> io::Result<()> {
        self.text(&row.id)?;
        self.text(&row.label)?;
        self.unsigned(row.kind as u64)?;
        self.count(row.parent.map_or(0, |parent| parent + 1))?;
        self.unsigned(row.tracks.into())?;
        self.runs(&row.runs, names)?;
        self.marks(&row.marks)?;
        match &row.curve {
            Some(curve) => self.curve(curve)?,
            None => self.unsigned(0)?,
        }
        self.count(row.cut.len())?;
        let mut last = 0;
        for (name, instance) in &row.cut {
            self.name(*name)?;
            self.signed(instance.wrapping_sub(last))?;
            last = *instance;
        }
        Ok(())
    }

    fn runs(&mut self, runs: &[Run], names: usize) -> io::Result<()> {
        self.count(runs.len())?;
        for run in runs {
            let flag = |set: bool, bit| if set { bit } else { 0 };
            let flags = flag(run.instance.is_some(), INSTANCE) | flag(!is_exact(run), MERGED);
            self.unsigned(run.state as u64 | flags | flag(run.track > 0, TRACK))?;
        }
        for run in runs.iter().filter(|run| run.track > 0) {
            self.unsigned(run.track.into())?;
        }
        // States of a process follow each other: most begin where the previous one in their track ends.
        let mut ends: Vec<i64> = Vec::new();
        for run in runs {
            let (track, begin) = (usize::from(run.track), self.at(run.begin));
            ends.resize(ends.len().max(track + 1), 0);
            self.signed(begin - ends[track])?;
            ends[track] = begin + self.length(run);
        }
        for run in runs {
            self.unsigned(self.length(run).cast_unsigned())?;
        }
        for run in runs {
            self.name(run.name)?;
        }
        // On a core, instances of many processes alternate; those of one process are consecutive.
        let mut last = vec![0i64; names + 1];
        for run in runs {
            if let Some(instance) = run.instance {
                let slot = run.name.map_or(0, |name| name as usize + 1).min(names);
                self.signed(instance.wrapping_sub(last[slot]))?;
                last[slot] = instance;
            }
        }
        for run in runs.iter().filter(|run| !is_exact(run)) {
            self.unsigned(run.count.into())?;
            for length in [run.covered, run.occupied, run.longest] {
                self.unsigned(length.clamp(0, FAR).cast_unsigned())?;
            }
            self.signed(self.at(run.longest_at) - self.at(run.begin))?;
        }
        Ok(())
    }

    fn marks(&mut self, marks: &[Mark]) -> io::Result<()> {
        self.count(marks.len())?;
        for mark in marks {
            let several = if mark.count == 1 && mark.last == mark.at { 0 } else { SEVERAL };
            let named = if mark.name.is_some() { NAMED } else { 0 };
            self.unsigned(mark.kind as u64 | several | named)?;
        }
        let mut last = 0;
        for mark in marks {
            self.signed(self.at(mark.at) - last)?;
            last = self.at(mark.at);
        }
        for mark in marks.iter().filter(|mark| mark.name.is_some()) {
            self.name(mark.name)?;
        }
        for mark in marks.iter().filter(|mark| mark.count != 1 || mark.last != mark.at) {
            self.unsigned(mark.count.into())?;
            self.signed(self.at(mark.last) - self.at(mark.at))?;
        }
        Ok(())
    }

    fn curve(&mut self, curve: &Curve) -> io::Result<()> {
        self.unsigned(match curve.shape {
            Shape::Steps => 1,
            Shape::Lines => 2,
        })?;
        self.text(&curve.unit)?;
        self.unsigned(curve.limit.is_some().into())?;
        if let Some(limit) = curve.limit {
            self.float(limit)?;
        }
        self.count(curve.points.len())?;
        let mut last = 0;
        for point in &curve.points {
            self.signed(self.at(point.at) - last)?;
            last = self.at(point.at);
        }
        // Most curves have whole values.
        let whole = curve.points.iter().all(|p| [p.value, p.least, p.greatest].into_iter().all(is_whole));
        self.unsigned(whole.into())?;
        let mut last = 0;
        for point in &curve.points {
            if whole {
                self.signed(point.value as i64 - last)?;
                last = point.value as i64;
            } else {
                self.float(point.value)?;
            }
        }
        for point in &curve.points {
            self.unsigned(point.count.into())?;
        }
        // A point for one value has no range, and a count of 1; what is not known any more may have been.
        for point in curve.points.iter().filter(|point| point.count != 1 || point.value.is_nan()) {
            if whole {
                self.signed(point.least as i64 - point.value as i64)?;
                self.signed(point.greatest as i64 - point.value as i64)?;
            } else {
                self.float(point.least)?;
                self.float(point.greatest)?;
            }
        }
        Ok(())
    }

    fn links(&mut self, links: &[Link]) -> io::Result<()> {
        self.count(links.len())?;
        for link in links {
            self.unsigned(link.kind as u64)?;
        }
        for row in [|link: &Link| link.from_row, |link: &Link| link.to_row] {
            for link in links {
                self.count(row(link))?;
            }
        }
        let mut last = 0;
        for link in links {
            self.signed(self.at(link.from_at) - last)?;
            last = self.at(link.from_at);
        }
        for link in links {
            self.signed(self.at(link.to_at) - self.at(link.from_at))?;
        }
        Ok(())
    }
}

/// Ticks from `from` to `instant`, as far as a page can represent them.
fn offset(instant: i64, from: i64) -> i64 {
    instant.saturating_sub(from).clamp(-FAR, FAR)
}

/// True if a run stands for itself only.
fn is_exact(run: &Run) -> bool {
    let length = run.end.saturating_sub(run.begin).max(0);
    let occupied = if run.state.is_occupied() { length } else { 0 };
    run.count == 1
        && (run.covered, run.occupied, run.longest) == (length, occupied, length)
        && run.longest_at == run.begin
}

/// True if a number survives the conversion to an integer.
fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= FAR as f64 && (value != 0.0 || value.is_sign_positive())
}
