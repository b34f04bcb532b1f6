//! Decimal numbers as ticks.

use crate::formats::grasp::ticks::{NotTicks, ticks};
use proptest::prelude::*;

#[test]
fn decimals_are_exact_or_rounded_to_even() {
    let read = |text: &str, tick| ticks(text, tick).map(|r| (r.ticks, r.inexact));
    assert_eq!(read("50", 1_000_000), Ok((50_000_000, false)));
    assert_eq!(read("-5.5", 10), Ok((-55, false)));
    assert_eq!(read("5.0", 1), Ok((5, false)));
    assert_eq!(read("0.0005570000000716391", 1_000_000_000), Ok((557_000, true)));
    assert_eq!(read("2.5", 1), Ok((2, true)));
    assert_eq!(read("3.5", 1), Ok((4, true)));
    assert_eq!(read("1.5e3", 1), Ok((1500, false)));
    assert_eq!(read("5.57e-4", 1_000_000), Ok((557, false)));
    assert_eq!(read("1e-300", 1), Ok((0, true)));
    assert_eq!(read("000000000000000000000000001.50", 2), Ok((3, false)));
    assert_eq!(read("9223372036854775807", 1), Ok((i64::MAX, false)));
    assert_eq!(read("9223372036854775808", 1), Err(NotTicks::Overflow));
    assert_eq!(read("1e400", 1), Err(NotTicks::Overflow));
    for text in ["", "-", ".", "1.2.3", "e5", "1e", "0x10", "12a", " 1", "1e+-3"] {
        assert_eq!(read(text, 1), Err(NotTicks::Garbage), "{text}");
    }
}

proptest! {
    #[test]
    fn whole_numbers_are_themselves(number: i64) {
        prop_assert_eq!(ticks(&number.to_string(), 1).map(|r| (r.ticks, r.inexact)), Ok((number, false)));
        prop_assert_eq!(ticks(&format!("{number}.000"), 1).map(|r| r.ticks), Ok(number));
    }

    #[test]
    fn what_seconds_are_is_what_the_reader_of_times_says(whole in 0i64..1_000_000, fraction in "[0-9]{0,9}") {
        use crate::time::{TimeScale, read_decimal};
        let text = format!("{whole}.{fraction}");
        let expected = read_decimal(text.as_bytes(), b'.', TimeScale::S, TimeScale::Us).unwrap();
        prop_assert_eq!(ticks(&text, 1_000_000), Ok(expected));
    }

    #[test]
    fn no_text_makes_it_panic(text: String, tick: i64) {
        let _ = ticks(&text, tick);
    }
}
