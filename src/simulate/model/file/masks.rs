//! The masks of events that the text gives none. Not the checks of those that it gives.

use crate::simulate::model::Task;

/// A mask for every event: the given one, else the lowest bit that no event has. When all 32 are taken, the
/// lowest one that no event of the same tasks has: the events of a task are its own, so that a mask has to be
/// unique there only (OSEK/VDX OS 2.2.3, chapter 7).
///
/// # Errors
/// The index of an event for which no bit is left.
pub(super) fn complete(given: &[Option<u32>], tasks: &[Task]) -> Result<Vec<u32>, usize> {
    let mut masks = given.to_vec();
    let mut taken = given.iter().flatten().fold(0, |taken, mask| taken | mask);
    for event in 0..given.len() {
        if given.get(event).copied().flatten().is_some() {
            continue;
        }
        let bit = lowest_free(taken).or_else(|| lowest_free(of_the_same_tasks(event, &masks, tasks)));
        let bit = bit.ok_or(event)?;
        taken |= bit;
        if let Some(mask) = masks.get_mut(event) {
            *mask = Some(bit);
        }
    }
    Ok(masks.into_iter().map(Option::unwrap_or_default).collect())
}

/// The masks of the events that some task has together with this one.
fn of_the_same_tasks(event: usize, masks: &[Option<u32>], tasks: &[Task]) -> u32 {
    let together = tasks.iter().filter(|task| task.events.contains(&event)).flat_map(|task| &task.events);
    together.filter_map(|other| masks.get(*other).copied().flatten()).fold(0, |taken, mask| taken | mask)
}

/// The lowest bit that is not taken.
fn lowest_free(taken: u32) -> Option<u32> {
    1u32.checked_shl(taken.trailing_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(events: impl Iterator<Item = usize>) -> Task {
        Task {
            name: String::new(),
            core: 0,
            priority: 0,
            activations: 1,
            preemptable: true,
            group: None,
            autostart: false,
            events: events.collect(),
            steps: Vec::new(),
        }
    }

    #[test]
    fn masks_differ_everywhere_while_bits_suffice() {
        let masks = complete(&[None, Some(1), None, Some(4), None], &[task(0..2), task(2..5)]);
        assert_eq!(masks, Ok(vec![2, 1, 8, 4, 16]));
        assert_eq!(lowest_free(u32::MAX), None);
    }

    #[test]
    fn beyond_32_events_masks_differ_within_a_task() {
        let tasks = [task(0..20), task(20..40)];
        let masks = complete(&[None; 40], &tasks).unwrap();
        for task in &tasks {
            let all = task.events.iter().fold(0, |all, event| all | masks[*event]);
            assert_eq!(all.count_ones(), 20);
        }
        assert_eq!(complete(&[None; 33], &[task(0..33)]), Err(32));
    }
}
