//! Writes a CTF 1.8 trace of a simulated Linux kernel, of any size, as LTTng records one: switches, wake-ups,
//! interrupts and softirqs of several CPUs, a stream for each. It depends on nothing:
//!
//! ```text
//! rustc --edition 2024 -O benches/ctf.rs -o /tmp/ctf
//! /tmp/ctf /tmp/trace 10000000 --cpus 4 --tasks 200
//! ```
//!
//! The same arguments give the same bytes. One line on stdout: events and bytes.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = true; } := i64;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := letter;
trace {
    major = 1; minor = 8; byte_order = le;
    packet.header := struct { u32 magic; u32 stream_id; };
};
env { domain = "kernel"; tracer_name = "lttng-modules"; };
clock { name = monotonic; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clocked;
stream {
    id = 0;
    packet.context := struct {
        clocked timestamp_begin; clocked timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded; u32 cpu_id;
    };
    event.header := struct { u16 id; clocked timestamp; };
};
event {
    name = "sched_switch"; id = 0; stream_id = 0;
    fields := struct {
        letter prev_comm[16]; i32 prev_tid; i32 prev_prio; i64 prev_state; letter next_comm[16]; i32 next_tid; i32 next_prio;
    };
};
event { name = "sched_wakeup"; id = 1; stream_id = 0;
    fields := struct { letter comm[16]; i32 tid; i32 prio; i32 target_cpu; }; };
event { name = "irq_handler_entry"; id = 2; stream_id = 0; fields := struct { i32 irq; string name; }; };
event { name = "irq_handler_exit"; id = 3; stream_id = 0; fields := struct { i32 irq; i32 ret; }; };
event { name = "irq_softirq_entry"; id = 4; stream_id = 0; fields := struct { u32 vec; }; };
event { name = "irq_softirq_exit"; id = 5; stream_id = 0; fields := struct { u32 vec; }; };
"#;
const PACKET: usize = 1 << 18;
const HEADER: usize = 52;
/// What a task does that leaves its CPU.
const WAITS: i64 = 1;

/// One CPU and the file of its events.
struct Cpu {
    number: u32,
    out: BufWriter<File>,
    packet: Vec<u8>,
    begin: u64,
    time: u64,
    written: u64,
}

impl Cpu {
    fn new(folder: &Path, number: u32) -> Result<Self, Box<dyn Error>> {
        let out = BufWriter::with_capacity(1 << 20, File::create(folder.join(format!("channel0_{number}")))?);
        let time = 1_000_000 + u64::from(number) * 137;
        Ok(Self { number, out, packet: Vec::with_capacity(PACKET), begin: time, time, written: 0 })
    }

    fn event(&mut self, id: u16, after: u64, fields: &[&[u8]]) -> std::io::Result<()> {
        let length = 10 + fields.iter().map(|field| field.len()).sum::<usize>();
        if HEADER + self.packet.len() + length > PACKET {
            self.flush()?;
        }
        self.time += after;
        if self.packet.is_empty() {
            self.begin = self.time;
        }
        self.packet.extend(id.to_le_bytes());
        self.packet.extend(self.time.to_le_bytes());
        for field in fields {
            self.packet.extend_from_slice(field);
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let content = (HEADER + self.packet.len()) as u64;
        self.out.write_all(&0xC1FC_1FC1u32.to_le_bytes())?;
        self.out.write_all(&0u32.to_le_bytes())?;
        for value in [self.begin, self.time, content * 8, PACKET as u64 * 8, 0] {
            self.out.write_all(&value.to_le_bytes())?;
        }
        self.out.write_all(&self.number.to_le_bytes())?;
        self.out.write_all(&self.packet)?;
        self.out.write_all(&vec![0; PACKET - content as usize])?;
        self.packet.clear();
        self.written += PACKET as u64;
        Ok(())
    }
}

fn comm(task: u32) -> [u8; 16] {
    let mut name = [0; 16];
    let text = if task == 0 { "swapper".to_owned() } else { format!("task_{task}") };
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: ctf FOLDER EVENTS [--cpus N] [--tasks N]";
    let folder = args.next().filter(|folder| !folder.starts_with('-')).ok_or(usage)?;
    let wanted: u64 = args.next().ok_or(usage)?.parse()?;
    let (mut cpus, mut tasks) = (2, 40);
    while let Some(option) = args.next() {
        let value = args.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--cpus" => cpus = value.parse()?,
            "--tasks" => tasks = value.parse()?,
            _ => return Err(format!("unknown option {option}; {usage}").into()),
        }
    }
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("metadata"), METADATA)?;
    let mut bytes = METADATA.len() as u64;
    let mut all = (0..cpus).map(|number| Cpu::new(folder, number)).collect::<Result<Vec<_>, _>>()?;
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut events = 0;
    while events < wanted {
        for cpu in &mut all {
            // Each CPU has tasks of its own: an interrupt wakes one, which runs, and waits again.
            let task = cpu.number + 1 + cpus * (next() as u32 % tasks.max(1));
            let (name, tid, idle) = (comm(task), (task + 100).to_le_bytes(), comm(0));
            let (low, none, prio) =
                (20i32.to_le_bytes(), 0u32.to_le_bytes(), (100 + task as i32 % 20).to_le_bytes());
            let irq = (30 + cpu.number).to_le_bytes();
            cpu.event(2, 5_000 + next() % 40_000, &[&irq, b"eth0\0"])?;
            cpu.event(4, 900, &[&3u32.to_le_bytes()])?;
            cpu.event(1, 700, &[&name, &tid, &prio, &cpu.number.to_le_bytes()])?;
            cpu.event(5, 300, &[&3u32.to_le_bytes()])?;
            cpu.event(3, 200, &[&irq, &1u32.to_le_bytes()])?;
            cpu.event(0, 1_100, &[&idle, &none, &low, &0i64.to_le_bytes(), &name, &tid, &prio])?;
            let runs = 2_000 + next() % 90_000;
            cpu.event(0, runs, &[&name, &tid, &prio, &WAITS.to_le_bytes(), &idle, &none, &low])?;
            events += 7;
        }
    }
    for cpu in &mut all {
        cpu.flush()?;
        cpu.out.flush()?;
        bytes += cpu.written;
    }
    println!("{events}\t{bytes}");
    Ok(())
}
