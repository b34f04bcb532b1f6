//! The buffers of a trace, and those missing between them. Not lost single records, which leave no mark.

use super::printed;
use crate::qnx::{Class, Event, Version};

/// Code of CONTROL/TIME.
pub(super) const TIME: u16 = 1;
/// Code of CONTROL/BUFFER (`_NTO_TRACE_CONTROLBUFFER`).
pub(super) const BUFFER: u16 = 2;
/// Some printers and kernels show eleven bits of the sequence number only.
const ELEVEN_BITS: u32 = 0x7ff;
/// A number that is further ahead is another sequence, not a loss.
const MAX_LOST: u32 = 1 << 20;

/// A buffer, according to its first record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Number of its first record, from 0.
    pub record: u64,
    /// CPU of its first record.
    pub cpu: u8,
    /// Count of the clock at its first record.
    pub cycles: u64,
    /// Its number in the sequence of buffers, which continues from session to session.
    pub number: u32,
    /// Number of its records, according to the kernel; 0 if it was never completed.
    pub stated_records: u32,
    /// Buffers that are missing before it.
    pub lost: u32,
    /// Count of the clock at the last event before it, if buffers are missing.
    pub lost_since: Option<u64>,
}

#[derive(Debug, Default)]
pub struct Buffers {
    version: Version,
    /// Number of the previous buffer, if it could be read.
    last: Option<u32>,
    /// Since 8.0 a buffer holds one CPU's records: the same of the previous buffer, by CPU.
    last_of_cpu: Vec<Option<Option<u32>>>,
    /// The latest count seen, of all CPUs and by CPU.
    latest: Option<u64>,
    latest_of_cpu: Vec<Option<u64>>,
    /// The previous record, if it is a TIME: since 8.0, that is the first of a buffer.
    time: Option<u64>,
    /// Numbers seen so far that need more than eleven bits.
    long_numbers: bool,
}

impl Buffers {
    pub fn new(version: Version) -> Self {
        Self { version, ..Self::default() }
    }

    /// Adds the next event, in the order of the file; returns the buffer that begins with it.
    pub fn event(&mut self, event: &Event<'_>) -> Option<Buffer> {
        let cpu = usize::from(event.cpu);
        let is_buffer = event.class == Class::Control && event.event == BUFFER;
        let buffer = match is_buffer.then(|| printed::words(event)) {
            Some([number, records, ..]) => Some(self.begin(event, cpu, *number, *records)),
            // Of a listing, and without a number that can be read.
            Some(_) => {
                self.pass(cpu, None);
                None
            }
            None => None,
        };
        self.time = (event.class == Class::Control && event.event == TIME).then_some(event.record);
        self.latest = self.latest.max(Some(event.cycles));
        if self.latest_of_cpu.len() <= cpu {
            self.latest_of_cpu.resize(cpu + 1, None);
        }
        if let Some(latest) = self.latest_of_cpu.get_mut(cpu) {
            *latest = (*latest).max(Some(event.cycles));
        }
        buffer
    }

    fn begin(&mut self, event: &Event<'_>, cpu: usize, number: u32, stated_records: u32) -> Buffer {
        self.long_numbers |= number > ELEVEN_BITS;
        let own = self.last_of_cpu.get(cpu).copied().flatten();
        // It is not documented whether the numbers of 8.0 continue for each CPU or for all: a buffer is only
        // lost if it is missing in both ways of counting.
        let lost = match self.version {
            Version::V8_0 => self.lost(self.last, number).min(self.lost(own.unwrap_or(self.last), number)),
            _ => self.lost(self.last, number),
        };
        self.pass(cpu, Some(number));
        let since = match self.version {
            Version::V8_0 => self.latest_of_cpu.get(cpu).copied().flatten(),
            _ => self.latest,
        };
        let record = match self.time.filter(|time| *time + 1 == event.record) {
            Some(time) if self.version >= Version::V8_0 => time,
            _ => event.record,
        };
        let lost_since = since.filter(|_| lost > 0);
        Buffer { record, cpu: event.cpu, cycles: event.cycles, number, stated_records, lost, lost_since }
    }

    /// Goes on from a buffer with this number, or one that cannot be read.
    fn pass(&mut self, cpu: usize, number: Option<u32>) {
        self.last = number;
        if self.last_of_cpu.len() <= cpu {
            self.last_of_cpu.resize(cpu + 1, None);
        }
        if let Some(last) = self.last_of_cpu.get_mut(cpu) {
            *last = Some(number);
        }
    }

    /// The number of missing buffers between two.
    fn lost(&self, before: Option<u32>, number: u32) -> u32 {
        let Some(before) = before else { return 0 };
        let ahead = number.wrapping_sub(before).wrapping_sub(1);
        let ahead = if self.long_numbers { ahead } else { ahead & ELEVEN_BITS };
        // The same number again (all bits of `ahead` set) is not a loss of 2047 buffers.
        let again = if self.long_numbers { u32::MAX } else { ELEVEN_BITS };
        if ahead == again || ahead > MAX_LOST { 0 } else { ahead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qnx::Status;

    fn lost(version: Version, numbers: &[(u8, u32)]) -> Vec<u32> {
        let mut buffers = Buffers::new(version);
        let mut all = Vec::new();
        for (n, (cpu, number)) in numbers.iter().enumerate() {
            let event = Event {
                record: n as u64,
                cpu: *cpu,
                flags: 0,
                class: Class::Control,
                event: BUFFER,
                is64: false,
                status: Status::Ok,
                cycles: 100 * n as u64,
                words: &[*number, 0],
            };
            let buffer = buffers.event(&event).unwrap();
            assert_eq!(buffer.lost_since.is_some(), buffer.lost > 0);
            all.push(buffer.lost);
        }
        all
    }

    #[test]
    fn holes_in_the_sequence() {
        assert_eq!(lost(Version::V7_1, &[(0, 33), (0, 34), (1, 37), (0, 38)]), [0, 0, 2, 0]);
        assert_eq!(
            lost(Version::V6_5, &[(0, 2046), (0, 2047), (0, 0), (0, 2)]),
            [0, 0, 0, 1],
            "eleven bits wrap"
        );
        assert_eq!(
            lost(Version::V7_1, &[(0, 2047), (0, 2048), (0, 2050)]),
            [0, 0, 1],
            "more than eleven bits"
        );
        assert_eq!(lost(Version::V7_1, &[(0, u32::MAX), (0, 0), (0, 1)]), [0, 0, 0]);
        assert_eq!(lost(Version::V7_1, &[(0, 9), (0, 9), (0, 10)]), [0, 0, 0], "the same buffer twice");
    }

    /// A listing may print more of a buffer than is known, or nothing that can be read.
    #[test]
    fn what_could_be_read_of_a_buffer_counts() {
        for version in [Version::V7_1, Version::V8_0] {
            let mut buffers = Buffers::new(version);
            let mut found = |cpu, words: &[u32], status| {
                let (class, event) = (Class::Control, BUFFER);
                let event =
                    Event { record: 0, cpu, flags: 0, class, event, is64: false, status, cycles: 0, words };
                buffers.event(&event).map(|buffer| (buffer.number, buffer.stated_records, buffer.lost))
            };
            let packed = printed::pack(&[34, 10], "sequence = 34, num_events = 10, flags = 0x1");
            let nothing = printed::pack(&[], "sequence = x");
            assert_eq!(found(0, &[33, 714], Status::Ok), Some((33, 714, 0)));
            assert_eq!(found(0, &packed, Status::Unread), Some((34, 10, 0)));
            assert_eq!(found(0, &nothing, Status::Unread), None);
            assert_eq!(found(0, &[36, 714], Status::Ok), Some((36, 714, 0)), "35 cannot be read");
            assert_eq!(found(0, &[38, 714], Status::Ok), Some((38, 714, 1)));
            assert_eq!(found(0, &nothing, Status::Unread), None);
            if version == Version::V8_0 {
                // Each CPU counts by itself.
                assert_eq!(found(1, &[5, 714], Status::Ok), Some((5, 714, 0)));
                assert_eq!(found(0, &[40, 714], Status::Ok), Some((40, 714, 0)), "39 cannot be read");
            }
        }
    }

    #[test]
    fn either_way_of_counting_goes_for_8() {
        assert_eq!(lost(Version::V8_0, &[(0, 1), (1, 2), (0, 3), (1, 4)]), [0, 0, 0, 0], "one sequence");
        assert_eq!(
            lost(Version::V8_0, &[(0, 1), (1, 1), (0, 2), (0, 3), (1, 2)]),
            [0, 0, 0, 0, 0],
            "one for each CPU"
        );
        assert_eq!(lost(Version::V8_0, &[(0, 1), (1, 2), (0, 5)]), [0, 0, 2]);
    }
}
