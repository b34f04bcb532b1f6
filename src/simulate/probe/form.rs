//! The lines of exports in each shape: their columns and separators, and how cells are written. Not which
//! records there are (see `tap`), nor their names (see `names`).

use super::digits::{decimal, fixed, hexadecimal, with_unit};
use super::options::Shape;

/// What an export says where records are lost.
const LOST: &str = "TARGET FIFO OVERFLOW";

/// A column of data exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Record,
    Time,
    /// The time since the row before.
    Back,
    Core,
    Address,
    Variable,
    Cycle,
    Value,
}

/// Which cells are in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Texts,
    All,
}

/// How record numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Records {
    /// With this sign and so many digits.
    Signed(u8, usize),
    /// As a spreadsheet program writes numbers.
    Plain,
}

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    /// In seconds, with a point and zeros after the nanoseconds.
    Seconds(u8, &'static str),
    /// In microseconds.
    Microseconds,
    WithUnit,
}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Hexadecimal, after a prefix, with the digits of the variable.
    Hexadecimal(&'static str),
    /// Decimal, marked by a point.
    Decimal,
}

/// How the exports of a shape are written.
#[derive(Debug)]
pub struct Form {
    /// The first line of data exports.
    pub data_header: &'static str,
    /// The first lines of function exports.
    pub function_header: &'static str,
    /// What `recording.toml` has to say of it.
    pub description: &'static str,
    columns: &'static [Column],
    delimiter: &'static str,
    quotes: Quotes,
    records: Records,
    times: Times,
    values: Values,
    /// The words of reads and writes: of any size, or of a byte and of a word.
    has_sizes: bool,
    /// Whether a row of lost records has a time.
    lost_has_time: bool,
    line_end: &'static str,
    functions: Functions,
}

/// How function exports are written.
#[derive(Debug)]
struct Functions {
    sign: &'static str,
    separator: &'static str,
    /// After the event.
    end: &'static str,
    has_records: bool,
}

use Column::{Address, Back, Core, Cycle, Record, Time, Value, Variable};

const HEX: &str = "data_radix = \"hex\"\n";
const THESIS: Form = Form {
    data_header: "",
    function_header: "",
    description: HEX,
    columns: &[Record, Time, Variable, Cycle, Value],
    delimiter: ",",
    quotes: Quotes::Texts,
    records: Records::Signed(b'-', 10),
    times: Times::Seconds(b'.', "0"),
    values: Values::Hexadecimal(""),
    has_sizes: false,
    lost_has_time: true,
    line_end: "\n",
    functions: Functions { sign: "+", separator: "; ", end: "", has_records: false },
};
const HEADER: Form = Form {
    data_header: "record,ti.zero,var,cycle,data\r\n",
    function_header: "# time(ns); function; event;\r\n",
    records: Records::Signed(b'+', 14),
    times: Times::Seconds(b'.', ""),
    lost_has_time: false,
    line_end: "\r\n",
    functions: Functions { end: ";", ..THESIS.functions },
    ..THESIS
};
const BARE: Form = Form {
    columns: &[Time, Variable, Cycle, Value],
    quotes: Quotes::None,
    values: Values::Hexadecimal("0x"),
    functions: Functions { sign: "", separator: ";", ..THESIS.functions },
    ..THESIS
};
const QUOTED: Form = Form { quotes: Quotes::All, times: Times::Seconds(b'.', "000"), ..THESIS };
const UNITS: Form = Form { times: Times::WithUnit, lost_has_time: false, ..THESIS };
const SPREADSHEET: Form = Form {
    data_header: "record;ti.zero;var;cycle;data\r\n",
    delimiter: ";",
    quotes: Quotes::None,
    records: Records::Plain,
    times: Times::Seconds(b',', ""),
    line_end: "\r\n",
    ..THESIS
};
const LISTING: Form = Form {
    data_header: "record,run,address,cycle,data,symbol,ti.back,ti.zero(us)\n",
    columns: &[Record, Core, Address, Cycle, Value, Variable, Back, Time],
    quotes: Quotes::None,
    times: Times::Microseconds,
    has_sizes: true,
    functions: Functions { has_records: true, ..THESIS.functions },
    ..THESIS
};
const DECIMAL: Form = Form {
    description: "data_radix = \"decimal\"\n\
        data_columns = [\"cycle\", \"value\", \"variable\", \"time\", \"record\"]\n",
    columns: &[Cycle, Value, Variable, Time, Record],
    delimiter: "\t",
    quotes: Quotes::None,
    values: Values::Decimal,
    lost_has_time: false,
    ..THESIS
};

impl Shape {
    /// How it is written.
    pub(super) fn form(self) -> &'static Form {
        match self {
            Self::Thesis => &THESIS,
            Self::Header => &HEADER,
            Self::Bare => &BARE,
            Self::Quoted => &QUOTED,
            Self::Units => &UNITS,
            Self::Spreadsheet => &SPREADSHEET,
            Self::Listing => &LISTING,
            Self::Decimal => &DECIMAL,
        }
    }
}

/// A row of a data export.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// Counted from the first one on.
    pub record: u64,
    pub core: usize,
    pub time: u64,
    /// The time of the row before.
    pub before: u64,
    /// See [`Form::name`].
    pub name: &'a [u8],
    pub address: u32,
    pub write: bool,
    pub value: u32,
    /// Digits of a hexadecimal value.
    pub digits: usize,
}

impl Form {
    /// The cell of a name of data exports.
    pub fn name(&self, name: &[u8]) -> Box<[u8]> {
        let quote = self.quote(true);
        [quote, name, quote].concat().into()
    }

    /// The cells of a name of function exports, with their separators.
    pub fn function_name(&self, name: &[u8]) -> Box<[u8]> {
        let separator = self.functions.separator.as_bytes();
        [separator, name, separator].concat().into()
    }

    fn quote(&self, is_text: bool) -> &'static [u8] {
        match self.quotes {
            Quotes::All => b"\"",
            Quotes::Texts if is_text => b"\"",
            _ => b"",
        }
    }

    /// Writes the line of an access. Records are counted down to a trigger, which `last` of them precede.
    pub fn access(&self, out: &mut Vec<u8>, last: u64, row: &Access<'_>) {
        let quote = self.quote(false);
        self.cells(out, |out, column| {
            if column == Variable {
                return out.extend_from_slice(row.name);
            }
            if column == Cycle {
                let quote = self.quote(true);
                out.extend_from_slice(quote);
                out.extend_from_slice(self.cycle(row.write, row.digits).as_bytes());
                return out.extend_from_slice(quote);
            }
            out.extend_from_slice(quote);
            match column {
                Record => self.record(out, last, row.record),
                Time => self.time(out, row.time),
                Back => with_unit(out, row.time.saturating_sub(row.before)),
                Core => decimal(out, row.core as u64, 1),
                Address => {
                    out.extend_from_slice(b"D:");
                    hexadecimal(out, row.address, 8);
                }
                _ => self.value(out, row.value, row.digits),
            }
            out.extend_from_slice(quote);
        });
    }

    /// Writes that records of a core are lost from this time on.
    pub fn lost_accesses(&self, out: &mut Vec<u8>, last: u64, record: u64, time: u64) {
        self.cells(out, |out, column| {
            let quote = self.quote(matches!(column, Variable | Cycle));
            out.extend_from_slice(quote);
            match column {
                Record => self.record(out, last, record),
                Time if self.lost_has_time => self.time(out, time),
                Cycle => out.extend_from_slice(LOST.as_bytes()),
                _ => {}
            }
            out.extend_from_slice(quote);
        });
    }

    fn cells(&self, out: &mut Vec<u8>, mut cell: impl FnMut(&mut Vec<u8>, Column)) {
        let mut delimiter: &[u8] = b"";
        for column in self.columns {
            out.extend_from_slice(delimiter);
            cell(out, *column);
            delimiter = self.delimiter.as_bytes();
        }
        out.extend_from_slice(self.line_end.as_bytes());
    }

    fn record(&self, out: &mut Vec<u8>, last: u64, record: u64) {
        let left = last.saturating_sub(record);
        match self.records {
            Records::Signed(b'+', digits) => {
                out.push(b'+');
                decimal(out, record + 1, digits);
            }
            Records::Signed(sign, digits) => {
                out.push(sign);
                decimal(out, left, digits);
            }
            Records::Plain => {
                out.push(b'-');
                decimal(out, left, 1);
            }
        }
    }

    fn time(&self, out: &mut Vec<u8>, time: u64) {
        match self.times {
            Times::Seconds(point, zeros) => {
                fixed(out, time, 9, point);
                out.extend_from_slice(zeros.as_bytes());
            }
            Times::Microseconds => fixed(out, time, 3, b'.'),
            Times::WithUnit => with_unit(out, time),
        }
    }

    fn value(&self, out: &mut Vec<u8>, value: u32, digits: usize) {
        match self.values {
            Values::Hexadecimal(prefix) => {
                out.extend_from_slice(prefix.as_bytes());
                hexadecimal(out, value, digits);
            }
            Values::Decimal => {
                decimal(out, u64::from(value), 1);
                out.push(b'.');
            }
        }
    }

    fn cycle(&self, write: bool, digits: usize) -> &'static str {
        match (self.has_sizes, write, digits) {
            (false, true, _) => "wr-data",
            (false, false, _) => "rd-data",
            (true, true, ..=2) => "wr-byte",
            (true, false, ..=2) => "rd-byte",
            (true, true, _) => "wr-long",
            (true, false, _) => "rd-long",
        }
    }

    /// Writes that a function is entered or left. `name` is from [`Form::function_name`].
    pub fn function(
        &self,
        out: &mut Vec<u8>,
        (last, record): (u64, u64),
        time: u64,
        name: &[u8],
        entry: bool,
    ) {
        let functions = &self.functions;
        out.extend_from_slice(functions.sign.as_bytes());
        decimal(out, time, 1);
        out.extend_from_slice(name);
        out.extend_from_slice(if entry { b"fentry" } else { b"fexit" });
        out.extend_from_slice(functions.end.as_bytes());
        if functions.has_records {
            out.extend_from_slice(functions.separator.as_bytes());
            self.record(out, last, record);
        }
        out.extend_from_slice(self.line_end.as_bytes());
    }

    /// Writes that records of a core are lost from this time on.
    pub fn lost_functions(&self, out: &mut Vec<u8>, time: u64) {
        let functions = &self.functions;
        if self.lost_has_time {
            out.extend_from_slice(functions.sign.as_bytes());
            decimal(out, time, 1);
        }
        for part in [functions.separator, LOST, functions.separator, self.line_end] {
            out.extend_from_slice(part.as_bytes());
        }
    }
}
