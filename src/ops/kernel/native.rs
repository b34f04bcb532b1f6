//! Rows of the native tables of kernel traces on their way to the disk. Not what they say (see `map::kernel`).

use super::super::parts::{Begin, Parts};
use crate::error::Result;
use crate::map::kernel::KernelRows;
use crate::schema::tables;
use crate::store::StagedFile;

/// See the module.
pub(super) struct Native<'a> {
    processes: Parts<'a>,
    threads: Parts<'a>,
    states: Parts<'a>,
    calls: Parts<'a>,
    interrupts: Parts<'a>,
    messages: Parts<'a>,
}

impl<'a> Native<'a> {
    pub fn new(begin: Begin<'a>) -> Self {
        Self {
            processes: Parts::new(begin, tables::KERNEL_PROCESS),
            threads: Parts::new(begin, tables::KERNEL_THREAD),
            states: Parts::new(begin, tables::KERNEL_STATE),
            calls: Parts::new(begin, tables::KERNEL_CALL),
            interrupts: Parts::new(begin, tables::KERNEL_INTERRUPT),
            messages: Parts::new(begin, tables::KERNEL_MESSAGE),
        }
    }

    /// Takes the next rows.
    pub fn take(&mut self, mut rows: KernelRows) -> Result<()> {
        for (table, batch) in [
            (&mut self.processes, rows.processes.take_batch()?),
            (&mut self.threads, rows.threads.take_batch()?),
            (&mut self.states, rows.states.take_batch()?),
            (&mut self.calls, rows.calls.take_batch()?),
            (&mut self.interrupts, rows.interrupts.take_batch()?),
            (&mut self.messages, rows.messages.take_batch()?),
        ] {
            if batch.num_rows() > 0 {
                table.write(&batch)?;
            }
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Vec<StagedFile>> {
        let Self { processes, threads, states, calls, interrupts, messages } = self;
        let parts = [processes, threads, states, calls, interrupts, messages].map(Parts::finish);
        let files: Vec<Vec<StagedFile>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(files.into_iter().flatten().collect())
    }
}
