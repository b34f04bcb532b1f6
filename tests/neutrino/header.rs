//! The part before the records: attributes as text, and the system page. Both can be made wrong on purpose.

use super::record::ByteOrder;

/// The kernel that the trace pretends to come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Release {
    /// 6.5: 32 bits, one chain of buffers.
    R6,
    /// 7.1: 64-bit layouts of events.
    #[default]
    R7,
    /// 8.0: a buffer has one CPU, no interrupt handlers.
    R8,
}

impl Release {
    /// The value of `TRACE_SYS_RELEASE`.
    pub fn number(self) -> &'static str {
        match self {
            Self::R6 => "6.5.0",
            Self::R7 => "7.1.0",
            Self::R8 => "8.0.0",
        }
    }

    /// The release of a number such as `7` or `8.0`.
    pub fn of_number(number: &str) -> Option<Self> {
        match number.split('.').next() {
            Some("6") => Some(Self::R6),
            Some("7") => Some(Self::R7),
            Some("8") => Some(Self::R8),
            _ => None,
        }
    }
}

/// Keys and values, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes(pub Vec<(String, String)>);

impl Attributes {
    /// Sets the value of a key; a new key comes last.
    pub fn set(&mut self, key: &str, value: impl Into<String>) -> &mut Self {
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((key.to_owned(), value.into())),
        }
        self
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> &mut Self {
        self.0.retain(|(k, _)| k != key);
        self
    }

    /// The text: no line ends, nothing between a value and the next key.
    pub fn text(&self) -> String {
        let pairs: String = self.0.iter().map(|(k, v)| format!("TRACE_{k}::{v}")).collect();
        format!("TRACE_HEADER_BEGIN::{pairs}TRACE_HEADER_END::")
    }
}

/// The target, as described in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which kernel.
    pub release: Release,
    /// How it stores numbers.
    pub order: ByteOrder,
    /// CPUs.
    pub cpus: u8,
    /// Counts of the clock per second.
    pub cycles_per_sec: u64,
    /// Bytes of the system page.
    pub syspage_length: u16,
    /// Seconds since 1970 when the target was started.
    pub boot_time: u32,
    /// The clocks of all CPUs are synchronised.
    pub global_clock: bool,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            release: Release::default(),
            order: ByteOrder::default(),
            cpus: 2,
            cycles_per_sec: 1_000_000_000,
            syspage_length: 2264,
            boot_time: 1_700_000_000,
            global_clock: true,
        }
    }
}

impl Target {
    /// The attributes as tracelogger of 6.x writes them, in its order. The dates are fixed, so that the same
    /// arguments give the same bytes.
    pub fn attributes(&self) -> Attributes {
        let (order, machine) = match (self.order, self.release) {
            (ByteOrder::Big, _) => ("BIG_ENDIAN", "ppc"),
            (ByteOrder::Little, Release::R6) => ("LITTLE_ENDIAN", "x86pc"),
            (ByteOrder::Little, _) => ("LITTLE_ENDIAN", "aarch64le"),
        };
        let mut attributes = Attributes::default();
        attributes
            .set("FILE_NAME", "/dev/shmem/simulated.kev")
            .set("DATE", "Tue Nov 14 23:02:11 2023")
            .set("VER_MAJOR", "1")
            .set("VER_MINOR", "01")
            .set(order, "TRUE")
            .set("ENCODING", "16 byte events")
            .set("BOOT_DATE", "Tue Nov 14 22:13:20 2023")
            .set("CYCLES_PER_SEC", self.cycles_per_sec.to_string())
            .set("CPU_NUM", self.cpus.to_string())
            .set("SYSNAME", "QNX")
            .set("NODENAME", "simulated")
            .set("SYS_RELEASE", self.release.number())
            .set("SYS_VERSION", "2023/10/01-12:00:00UTC")
            .set("MACHINE", machine)
            .set("SYSPAGE_LEN", self.syspage_length.to_string());
        if self.release == Release::R8 {
            attributes.set("NORMALIZEDN", "FALSE");
        }
        attributes
    }

    /// The system page: its first fields and `qtime` according to the documents, zeros elsewhere. A length
    /// that is too small for both cuts them off.
    pub fn syspage(&self) -> Vec<u8> {
        let length = usize::from(self.syspage_length);
        let kind: u16 = match (self.order, self.release) {
            (ByteOrder::Big, _) => 1,
            (ByteOrder::Little, Release::R6) => 0,
            (ByteOrder::Little, _) => 0x101,
        };
        let mut page = vec![0; length.max(QTIME + QTIME_SIZE)];
        let mut put_16 = |at: usize, value: u16| {
            let bytes = match self.order {
                ByteOrder::Little => value.to_le_bytes(),
                ByteOrder::Big => value.to_be_bytes(),
            };
            put(&mut page, at, &bytes);
        };
        put_16(0, QTIME as u16);
        put_16(2, self.syspage_length);
        put_16(4, kind);
        put_16(6, u16::from(self.cpus));
        put_16(32, QTIME as u16);
        put_16(34, QTIME_SIZE as u16);
        let cycles = match self.order {
            ByteOrder::Little => self.cycles_per_sec.to_le_bytes(),
            ByteOrder::Big => self.cycles_per_sec.to_be_bytes(),
        };
        put(&mut page, QTIME, &cycles);
        put(&mut page, QTIME + 24, &self.order.bytes(1_000_000));
        put(&mut page, QTIME + 28, &self.order.bytes(self.boot_time));
        put(&mut page, QTIME + 48, &self.order.bytes(1970));
        let flags = if self.global_clock { GLOBAL_CLOCK } else { 0 };
        put(&mut page, QTIME + 52, &self.order.bytes(flags));
        page.truncate(length);
        page
    }
}

/// Where we put the section of time, and its length.
const QTIME: usize = 96;
const QTIME_SIZE: usize = 96;
/// Bit of its flags: the clocks of all CPUs are synchronised.
const GLOBAL_CLOCK: u32 = 0x8;

fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = page.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
