//! A sheet to draw on, in whole hundredths of a pixel: the same bytes everywhere. Not what is drawn.

use std::fmt::Write as _;

use crate::render::markup;

/// A pixel.
pub(super) const PX: i64 = 100;

/// The horizontal positions of instants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Across {
    pub left: i64,
    pub width: i64,
    pub from: i64,
    pub to: i64,
}

impl Across {
    /// The position of an instant; that of the edge for one outside the window.
    pub fn x(&self, at: i64) -> i64 {
        let span = (i128::from(self.to) - i128::from(self.from)).max(1);
        let passed = i128::from(at.clamp(self.from, self.to)) - i128::from(self.from);
        self.left + i64::try_from(passed * i128::from(self.width) / span).unwrap_or(0)
    }

    pub fn right(&self) -> i64 {
        self.left + self.width
    }
}

/// A length as a number of pixels, with at most two decimals.
pub(super) fn px(length: i64) -> String {
    let (sign, rest) = (if length < 0 { "-" } else { "" }, length.unsigned_abs());
    match (rest / 100, rest % 100) {
        (0, 0) => "0".to_owned(),
        (whole, 0) => format!("{sign}{whole}"),
        (whole, part) => {
            let part = format!("{part:02}");
            let whole = if whole == 0 { String::new() } else { whole.to_string() };
            format!("{sign}{whole}.{}", part.trim_end_matches('0'))
        }
    }
}

/// The markup so far.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub out: String,
}

impl Sheet {
    /// Opens a group of a class, with more attributes.
    pub fn open(&mut self, class: &str, more: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "<g class='{class}'{more}>");
    }

    pub fn close(&mut self) {
        self.out.push_str("</g>\n");
    }

    /// A rectangle; `title` is its tooltip.
    pub fn rect(&mut self, class: &str, [x, y, width, height]: [i64; 4], more: &str, title: &str) {
        let _ = write!(
            self.out,
            "<rect class='{class}' x='{}' y='{}' width='{}' height='{}'{more}",
            px(x),
            px(y),
            px(width),
            px(height)
        );
        self.titled("rect", title);
    }

    pub fn path(&mut self, class: &str, d: &str, more: &str) {
        let _ = write!(self.out, "<path class='{class}' d='{d}'{more}/>");
    }

    /// A path with a tooltip.
    pub fn titled_path(&mut self, class: &str, d: &str, more: &str, title: &str) {
        let _ = write!(self.out, "<path class='{class}' d='{d}'{more}");
        self.titled("path", title);
    }

    /// A predefined shape, at a position.
    pub fn mark(&mut self, name: &str, (x, y): (i64, i64), more: &str, title: &str) {
        let _ = write!(self.out, "<use href='#k-{name}' x='{}' y='{}'{more}", px(x), px(y));
        self.titled("use", title);
    }

    fn titled(&mut self, tag: &str, title: &str) {
        if title.is_empty() {
            self.out.push_str("/>");
        } else {
            self.out.push_str("><title>");
            markup::escape(title, &mut self.out);
            let _ = write!(self.out, "</title></{tag}>");
        }
    }

    /// Text that begins at a position, or ends there if `anchor` is `end`.
    pub fn words(&mut self, class: &str, (x, y): (i64, i64), size: i64, anchor: &str, words: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class='{class}'") };
        let anchor = if anchor.is_empty() { String::new() } else { format!(" text-anchor='{anchor}'") };
        let _ =
            write!(self.out, "<text{class} x='{}' y='{}' font-size='{}'{anchor}>", px(x), px(y), px(size));
        markup::escape(words, &mut self.out);
        self.out.push_str("</text>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_are_short() {
        let of = [0, 100, 150, 1234, 5, -50, -1205].map(px);
        assert_eq!(of, ["0", "1", "1.5", "12.34", ".05", "-.5", "-12.05"]);
    }

    proptest! {
        #[test]
        fn instants_stay_within_and_in_order(from: i64, to: i64, a: i64, b: i64) {
            let across = Across { left: 500, width: 80_000, from: from.min(to), to: from.max(to) };
            let (first, last) = (across.x(a.min(b)), across.x(a.max(b)));
            prop_assert!(500 <= first && first <= last && last <= across.right());
        }

        #[test]
        fn lengths_read_back(length in -1_000_000i64..1_000_000) {
            let read: f64 = px(length).parse().unwrap();
            prop_assert_eq!((read * 100.0).round() as i64, length);
        }
    }
}
