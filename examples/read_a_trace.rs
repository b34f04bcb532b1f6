//! Reads a trace without a database: the readers of its format give the rows of tables as Arrow batches.
//!
//! `cargo run --example read_a_trace`

use btfdb::{
    Confidence, Error, FORMATS, Input, OptionValues, Output, Piece, Result, Rows, RowsToMake, Settings,
    Source, Stream, TimeScale,
};
use std::collections::BTreeMap;
use std::path::Path;

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<()> {
    println!("{}", run(Path::new("tests/data/grasp/control.grasp"))?);
    Ok(())
}

/// The format of a trace, and how many rows of which tables it has.
pub fn run(trace: &Path) -> Result<String> {
    let mut source = Source::open(trace)?;
    let head = source.head()?;
    // Among equals, the first of the list.
    let format = FORMATS.iter().rev().max_by_key(|format| format.probe(head));
    let format = format.filter(|format| format.probe(head) > Confidence::None);
    let format = format.ok_or_else(|| Error::input("this is no trace").at(trace))?;

    let input = Input {
        name: trace.display().to_string(),
        path: trace.to_path_buf(),
        core: None,
        role: None,
        time_offset: 0,
        after: None,
        source,
    };
    let options = OptionValues::default();
    let settings = Settings { scale: TimeScale::Ns, options: &options };
    let mut tables: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rejected = 0;
    for Stream { input, mut reader } in format.open(vec![input], &settings)? {
        let mut count = |rows: Rows| -> Result<()> {
            let batches = match rows.content {
                RowsToMake::Batch(batch, _) => vec![batch],
                RowsToMake::Later(make) => make()?,
                RowsToMake::NewTrace(_) | RowsToMake::Remark(_) => Vec::new(),
            };
            *tables.entry(rows.table.name).or_default() +=
                batches.iter().map(|b| b.num_rows()).sum::<usize>();
            Ok(())
        };
        let mut out = Output::new(&input.name, &mut count);
        let (pieces, used) = input.source.pieces();
        for piece in pieces {
            if let Piece::Chunk { chunk, .. } = piece? {
                reader.chunk(&chunk, &mut out)?;
                used.give(chunk.bytes);
            }
        }
        reader.finish(&mut out)?;
        rejected += out.counts.rejected;
    }
    let counts: String = tables.iter().map(|(table, rows)| format!("  {table}: {rows} rows\n")).collect();
    Ok(format!("{} trace, {rejected} lines rejected\n{counts}", format.info().name))
}
