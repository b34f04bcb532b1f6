//! Merges streams of decoded events, each in the order of time, block by block. Not for rows that are decoded
//! while they are merged (see `streams`).

use crate::error::Result;
use std::ops::ControlFlow;

/// Passes the events of all streams to `take` in the order of time, until it breaks. At one instant, all
/// events of a stream come before those of the next one.
pub(super) fn in_order<T>(
    streams: Vec<impl Iterator<Item = Result<Vec<T>>>>,
    time_of: impl Fn(&T) -> i64,
    mut take: impl FnMut(&T) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut streams: Vec<_> = streams.into_iter().map(Stream::new).collect();
    for stream in &mut streams {
        stream.advance()?;
    }
    let next = |stream: &Stream<T, _>| stream.next.as_ref().map(&time_of);
    while let Some(first) =
        streams.iter_mut().filter(|stream| stream.next.is_some()).min_by_key(|stream| next(stream))
    {
        if let Some(event) = &first.next
            && take(event)?.is_break()
        {
            break;
        }
        first.advance()?;
    }
    Ok(())
}

struct Stream<T, B> {
    blocks: B,
    block: std::vec::IntoIter<T>,
    next: Option<T>,
}

impl<T, B: Iterator<Item = Result<Vec<T>>>> Stream<T, B> {
    fn new(blocks: B) -> Self {
        Self { blocks, block: Vec::new().into_iter(), next: None }
    }

    fn advance(&mut self) -> Result<()> {
        self.next = self.block.next();
        while self.next.is_none() {
            let Some(block) = self.blocks.next() else { return Ok(()) };
            self.block = block?.into_iter();
            self.next = self.block.next();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_come_in_order_and_break_stops(
            times in prop::collection::vec(prop::collection::vec(0i64..9, 0..20), 0..4),
            size in 1usize..8,
            most in 0usize..60,
        ) {
            let of_stream = |(stream, mut times): (usize, Vec<i64>)| {
                times.sort_unstable();
                times.into_iter().enumerate().map(|(n, time)| (time, stream, n)).collect()
            };
            let streams: Vec<Vec<(i64, usize, usize)>> = times.into_iter().enumerate().map(of_stream).collect();
            let mut expected = streams.concat();
            expected.sort_unstable();
            expected.truncate(most);
            let blocks = streams.iter().map(|events| events.chunks(size).map(|block| Ok(block.to_vec())));
            let mut found = Vec::new();
            in_order(blocks.collect(), |event| event.0, |event| {
                if found.len() == most {
                    return Ok(ControlFlow::Break(()));
                }
                found.push(*event);
                Ok(ControlFlow::Continue(()))
            }).unwrap();
            prop_assert_eq!(found, expected);
        }
    }
}
