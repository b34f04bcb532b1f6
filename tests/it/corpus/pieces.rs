//! Recordings in pieces, and slices of them that begin with the state there: at random places, which are the
//! same in every run (see `crate::continued` and `crate::with_state` for what is judged).

use super::{corpus, none};
use crate::{continued, with_state};

#[test]
fn pieces_are_the_whole_wherever_the_trace_was_cut() {
    let Some(recordings) = corpus() else { return };
    let mut seed = 5;
    for recording in recordings {
        let whole = continued::Whole::of(&recording.folder);
        let records = continued::records(&recording.folder);
        for count in [1, 1, 3] {
            let mut cuts: Vec<_> =
                (0..count).map(|_| 1 + continued::random(&mut seed, records - 1)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let found = continued::differences(&recording.folder, &whole, &cuts);
            none(&format!("{} cut before {cuts:?}", recording.name), &found);
        }
    }
}

#[test]
fn a_slice_with_its_state_says_what_the_whole_knows() {
    let Some(recordings) = corpus() else { return };
    let mut seed = 6;
    for recording in recordings {
        let whole = with_state::Whole::of(&recording.folder);
        for _ in 0..2 {
            let window = whole.window(continued::random(&mut seed, 1000));
            none(&recording.name, &whole.slice(window));
        }
    }
}
