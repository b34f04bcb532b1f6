//! The columns of a data export: by its header line, else by the look of its cells, or as given by the user.
//! Not for the rows of an export (see `data`).

use super::super::text::Line;
use super::Radix;
use super::columns::{self, Column, is_relative_time};
use super::fields::{self, Cell};
use super::lost_data;
use super::plan::RowLayout;
use super::report::SCIENTIFIC;
use crate::diagnostics::excerpt;
use crate::encoding::escaped;
use crate::error::{Error, Result};
use crate::time::TimeScale;

/// Number of lines from which the columns are detected.
const SAMPLE_LINES: usize = 500;
/// Maximum number of lines of a header, with the titles above it.
const MAX_HEADER_LINES: usize = 10;

/// The columns of a data export, and how its lines are split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataLayout {
    /// The roles, from left to right.
    pub columns: Vec<Column>,
    /// The byte between two cells.
    pub delimiter: u8,
    /// The number of lines at the start of the file that are headers or titles.
    pub header_lines: u64,
    pub(super) time_unit: TimeScale,
    pub(super) roles: Roles,
    /// What is not known of the columns: messages of findings about the header.
    pub(super) unknown: Vec<String>,
}

/// The indices of the cells that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Roles {
    pub(super) time: usize,
    pub(super) variable: usize,
    pub(super) cycle: usize,
    pub(super) data: usize,
    pub(super) record: Option<usize>,
    pub(super) core: Option<usize>,
    pub(super) address: Option<usize>,
}

impl DataLayout {
    /// # Errors
    /// If a required column is missing.
    fn new(columns: Vec<Column>, delimiter: u8, header_lines: u64, time_unit: TimeScale) -> Result<Self> {
        let at = |role: &Column| columns.iter().position(|column| column == role);
        let roles = match (at(&Column::Time), at(&Column::Variable), at(&Column::Cycle), at(&Column::Data)) {
            (Some(time), Some(variable), Some(cycle), Some(data)) => Roles {
                time,
                variable,
                cycle,
                data,
                record: at(&Column::Record),
                core: at(&Column::Core),
                address: at(&Column::Address),
            },
            _ => {
                let missing = columns::missing(&columns).join(", no ");
                return Err(Error::input(format!("the columns have no {missing}")));
            }
        };
        Ok(Self { columns, delimiter, header_lines, time_unit, roles, unknown: Vec::new() })
    }

    /// The layout in the form that plans need.
    pub(super) fn row_layout(&self) -> RowLayout {
        let at = |role: usize| u8::try_from(role).unwrap_or(u8::MAX);
        let Roles { time, variable, cycle, data, record, core, .. } = self.roles;
        RowLayout {
            delimiter: self.delimiter,
            quotes: true,
            record: record.map(at),
            time: at(time),
            unit: self.time_unit,
            name: at(variable),
            without_name: None,
            kind: at(cycle),
            value: Some(at(data)),
            core: core.map(at),
            width: Some(at(self.columns.len())),
        }
    }
}

/// Detects the columns of a data export from its first bytes. `given` are the names of all columns from left
/// to right (as [`Column`] lists them in lower case, `-` for one that is not needed); with these, there is no
/// detection. An input without lines, or without a row that was not lost, has the columns of the thesis.
///
/// # Errors
/// [`crate::error::ErrorKind::Input`] if a required column cannot be detected, with the line in question; add
/// the path with [`Error::at`].
pub fn detect_data_layout(head: &[u8], given: Option<&[String]>) -> Result<DataLayout> {
    let given = given.map(columns::from_description).transpose()?;
    let lines = sample(head);
    // Those of the listing of the thesis (5.1.2).
    let standard = || vec![Column::Record, Column::Time, Column::Variable, Column::Cycle, Column::Data];
    let Some(first) = lines.first() else {
        return DataLayout::new(given.unwrap_or_else(standard), b',', 0, TimeScale::S);
    };
    let table = Table::split(&lines, given.as_ref().map(Vec::len)).ok_or_else(|| {
        let wanted = given.as_ref().map_or_else(|| "3 or more".to_owned(), |p| p.len().to_string());
        let message = format!("no line has {wanted} columns, the first is: {}", excerpt(first.text));
        with_hint(Error::input(message), first)
    })?;
    let (header_lines, names) = table.header();
    if let Some(columns) = given {
        let unit = if names.len() == columns.len() { columns::from_header(&names).1 } else { None };
        return DataLayout::new(columns, table.delimiter, header_lines, unit.unwrap_or(TimeScale::S));
    }
    let (named, unit) = table.header_columns(&names);
    let mut columns = named.clone();
    table.guess(&mut columns);
    if names.is_empty() && table.width == standard().len() && table.is_all_lost() {
        // No cell tells anything.
        columns = standard();
    }
    let missing = columns::missing(&columns);
    if !missing.is_empty() {
        let shown = table.rows.get(table.leading).or(table.rows.first()).map_or(first, |(line, _)| line);
        if let Some(name) = names.iter().find(|name| is_relative_time(name))
            && missing.contains(&"time")
        {
            let message = format!("the only time is '{name}', which counts from the record before it");
            return Err(Error::input(message).line(first.number as u64 + 1).hint(
                "export the item ti.zero, too: without the records that are not in the export, times between \
                 records do not add up",
            ));
        }
        let cells = || table.rows.iter().flat_map(|(_, cells)| cells);
        if missing.contains(&"time")
            && let Some(found) = cells().find(|cell| fields::is_scientific(cell.text))
        {
            let message = format!("{SCIENTIFIC}: '{}'", escaped(found.text));
            return Err(Error::input(message).line(first.number as u64 + 1).hint(NO_SPREADSHEET));
        }
        let message = format!(
            "cannot tell which column is the {} among {} columns separated by '{}': {}",
            missing.join(" and which the "),
            table.width,
            char::from(table.delimiter).escape_default(),
            excerpt(shown.text)
        );
        return Err(with_hint(Error::input(message), shown));
    }
    let unknown = table.unknown(&names, &named, &columns);
    let layout = DataLayout::new(columns, table.delimiter, header_lines, unit.unwrap_or(TimeScale::S))?;
    Ok(DataLayout { unknown, ..layout })
}

/// What to do about times in scientific notation.
pub(super) const NO_SPREADSHEET: &str =
    "export the trace again, and do not save it with a spreadsheet program";

/// A time in scientific notation that a data row has instead of a time, if no row has one.
pub(super) fn scientific_time(head: &[u8]) -> Option<String> {
    let lines = sample(head);
    let table = Table::split(&lines, None)?;
    let rows = || {
        table
            .rows
            .iter()
            .map(|(_, cells)| cells)
            .filter(|cells| cells.iter().any(|c| fields::is_cycle(c.text)))
    };
    if rows().any(|cells| cells.iter().any(|cell| looks_like_time(*cell))) {
        return None;
    }
    let found = rows().flatten().find(|cell| fields::is_scientific(cell.text))?;
    Some(escaped(found.text).into_owned())
}

fn with_hint(error: Error, line: &Line<'_>) -> Error {
    error.line(line.number as u64 + 1).hint(
        "name the columns in recording.toml from left to right, for example \
         data_columns = [\"record\", \"time\", \"variable\", \"cycle\", \"data\"]",
    )
}

/// The lines with content, without a last one that may be cut at the end of the head.
fn sample(head: &[u8]) -> Vec<Line<'_>> {
    let with_content = Line::all(head).filter(|line| !fields::is_blank_or_comment(line.text));
    let whole = with_content.enumerate().filter(|(n, line)| line.terminated || *n == 0);
    whole.map(|(_, line)| line).take(SAMPLE_LINES).collect()
}

/// The sampled lines, split at the delimiter that gives the best table.
struct Table<'a> {
    delimiter: u8,
    /// The number of cells of most rows.
    width: usize,
    rows: Vec<(Line<'a>, Vec<Cell<'a>>)>,
    /// The number of rows at the start that are titles or headers.
    leading: usize,
}

impl<'a> Table<'a> {
    fn split(lines: &[Line<'a>], width: Option<usize>) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for delimiter in [b',', b';', b'\t'] {
            let mut rows = Vec::with_capacity(lines.len());
            for line in lines {
                let mut cells = Vec::new();
                fields::split(line.text, delimiter, &mut cells);
                rows.push((*line, cells));
            }
            let count = |wanted: usize| rows.iter().filter(|(_, cells)| cells.len() == wanted).count();
            let widths = rows.iter().map(|(_, cells)| cells.len()).filter(|n| *n >= 3);
            let width = width.or_else(|| widths.max_by_key(|n| (count(*n), *n)));
            let Some((width, agreeing)) = width.map(|n| (n, count(n))).filter(|(_, agreeing)| *agreeing > 0)
            else {
                continue;
            };
            if best
                .as_ref()
                .is_none_or(|(best_agreeing, table)| (agreeing, width) > (*best_agreeing, table.width))
            {
                let leading = rows.iter().take_while(|(_, cells)| is_title(cells)).count();
                let leading = if leading > MAX_HEADER_LINES { 0 } else { leading };
                best = Some((agreeing, Self { delimiter, width, rows, leading }));
            }
        }
        best.map(|(_, table)| table)
    }

    /// The number of lines of the file that are titles or headers, and the names in the last of them that has
    /// names.
    fn header(&self) -> (u64, Vec<String>) {
        let titles = self.rows.get(..self.leading).unwrap_or_default();
        let lines = titles.last().map_or(0, |(line, _)| line.number as u64 + 1);
        let names = titles.iter().rev().map(|(_, cells)| texts(cells));
        (lines, names.into_iter().find(|names| columns::known_names(names) >= 2).unwrap_or_default())
    }

    /// True if all rows report lost data.
    fn is_all_lost(&self) -> bool {
        self.rows.iter().all(|(_, cells)| is_lost(cells))
    }

    /// The columns that the header names, and the unit of the time. Without a header for all columns, none
    /// has a role.
    fn header_columns(&self, names: &[String]) -> (Vec<Column>, Option<TimeScale>) {
        let (mut columns, unit) = columns::from_header(names);
        // TRACE32 always prints the record number, but a header may omit its name.
        if columns.len() + 1 == self.width && !columns.contains(&Column::Record) {
            columns.insert(0, Column::Record);
        }
        if columns.len() == self.width {
            return (columns, unit);
        }
        ((1..=self.width).map(|n| Column::Ignored(format!("column {n}"))).collect(), None)
    }

    /// What the header does not tell: names without a known meaning, and what became of their columns.
    fn unknown(&self, names: &[String], named: &[Column], columns: &[Column]) -> Vec<String> {
        if !names.is_empty() && names.len() != self.width && names.len() + 1 != self.width {
            let (names, width) = (names.len(), self.width);
            return vec![format!(
                "the header has {names} names for {width} columns; their cells tell what they are"
            )];
        }
        let message = |(before, now): (&Column, &Column)| {
            let Column::Ignored(name) = before else { return None };
            let is_unknown = !names.is_empty() && !columns::is_known(name);
            match now {
                Column::Ignored(_) => {
                    is_unknown.then(|| format!("the column '{name}' is not known; it is not read"))
                }
                now => is_unknown.then(|| {
                    let role = columns::REQUIRED.iter().find(|(role, _)| role == now).map(|(_, word)| *word);
                    let role = role.unwrap_or("record, core or address");
                    format!("the column '{name}' is not known; by its cells, it is the {role}")
                }),
            }
        };
        named.iter().zip(columns).filter_map(message).collect()
    }

    /// Gives each missing role to a column without a role, by the look of its cells.
    fn guess(&self, columns: &mut [Column]) {
        let rows = self.rows.get(self.leading..).unwrap_or_default();
        let is_row = |cells: &&Vec<Cell<'_>>| cells.len() == self.width && !is_lost(cells);
        let cells: Vec<_> = rows.iter().map(|(_, c)| c).filter(is_row).collect();
        let count_like = |at: usize, is_like: fn(Cell<'_>) -> bool| {
            cells.iter().filter(|row| row.get(at).is_some_and(|cell| is_like(*cell))).count()
        };
        let is_majority = |at: usize, is_like| count_like(at, is_like) * 2 > cells.len();
        let mut assign = |role: Column, choose: &dyn Fn(&[usize]) -> Option<usize>| {
            let is_free = |(_, column): &(usize, &Column)| matches!(column, Column::Ignored(name) if !is_relative_time(name));
            let free: Vec<usize> = columns.iter().enumerate().filter(is_free).map(|(at, _)| at).collect();
            if !columns.contains(&role)
                && let Some(column) = choose(&free).and_then(|at| columns.get_mut(at))
            {
                *column = role;
            }
        };
        let best = |free: &[usize], is_like: fn(Cell<'_>) -> bool| {
            let found = free.iter().rev().copied().max_by_key(|&at| count_like(at, is_like));
            found.filter(|&at| count_like(at, is_like) > 0)
        };
        assign(Column::Cycle, &|free| best(free, |cell| fields::is_cycle(cell.text)));
        assign(Column::Address, &|free| free.iter().copied().find(|&at| is_majority(at, looks_like_address)));
        assign(Column::Time, &|free| free.iter().copied().find(|&at| is_majority(at, looks_like_time)));
        assign(Column::Record, &|free| {
            let is_record = |cell: Cell<'_>| fields::record(cell.text).is_some();
            free.first().copied().filter(|&at| at == 0 && is_majority(at, is_record))
        });
        assign(Column::Variable, &|free| {
            best(free, |cell| cell.quoted).or_else(|| best(free, looks_like_name))
        });
        assign(Column::Data, &|free| {
            let last = |is_like| free.iter().rev().copied().find(|&at| count_like(at, is_like) > 0);
            last(|cell| fields::value(cell.text, Radix::Hex).is_ok()).or_else(|| last(|cell| !cell.is_null()))
        });
    }
}

/// True for a row that reports lost data. Most of its cells are empty.
pub(super) fn is_lost(cells: &[Cell<'_>]) -> bool {
    cells.iter().any(|cell| lost_data::is_gap_phrase(cell.text))
}

/// True for a line of words: no number, no cycle, and no text that reports a gap.
fn is_title(cells: &[Cell<'_>]) -> bool {
    let is_word = |cell: &Cell<'_>| {
        !matches!(cell.text, [b'0'..=b'9' | b'+' | b'.', ..] | [b'-', _, ..])
            && !fields::is_cycle(cell.text)
            && !lost_data::is_gap_text(cell.text)
    };
    cells.iter().all(is_word) && cells.iter().any(|cell| !cell.is_null())
}

pub(super) fn texts(cells: &[Cell<'_>]) -> Vec<String> {
    cells.iter().map(|cell| escaped(&cell.value()).into_owned()).collect()
}

/// True for a time that cannot be a record number: it has a decimal point or a unit.
pub(super) fn looks_like_time(cell: Cell<'_>) -> bool {
    let plain = cell.text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'));
    !plain && fields::time(cell.text, TimeScale::S, TimeScale::S, b';').is_ok()
}

fn looks_like_name(cell: Cell<'_>) -> bool {
    matches!(cell.text, [b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'\\' | b'*', ..])
}

/// True for an access class and an address: `D:70001234`.
fn looks_like_address(cell: Cell<'_>) -> bool {
    let mut parts = cell.text.splitn(2, |&b| b == b':');
    let class = parts.next().unwrap_or_default();
    let address = parts.next().unwrap_or_default();
    (1..=4).contains(&class.len())
        && class.iter().all(u8::is_ascii_alphabetic)
        && !address.is_empty()
        && address.iter().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'x' | b'X'))
}
