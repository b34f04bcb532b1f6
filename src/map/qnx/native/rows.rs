//! Rows of the native tables that are ready to be written. Not the rules that make them.

use crate::error::Result;
use crate::map::NativeRows;
use crate::schema::{
    KernelCallRows, KernelInterruptRows, KernelMessageRows, KernelProcessRows, KernelStateRows,
    KernelThreadRows,
};
use arrow::array::RecordBatch;

/// Rows ready to be written, each table in the order of the ends.
#[derive(Debug, Default)]
pub struct KernelRows {
    /// Processes; all of them at the end of the recording.
    pub processes: KernelProcessRows,
    pub threads: KernelThreadRows,
    pub states: KernelStateRows,
    pub calls: KernelCallRows,
    pub interrupts: KernelInterruptRows,
    pub messages: KernelMessageRows,
}

impl KernelRows {
    /// Takes the rows so far, if a table has at least `at_least`.
    pub fn take(&mut self, at_least: usize) -> Option<Self> {
        let rows = [self.states.len(), self.calls.len(), self.interrupts.len(), self.messages.len()];
        rows.iter().any(|rows| *rows >= at_least).then(|| std::mem::take(self))
    }
}

impl NativeRows for KernelRows {
    fn take_batches(&mut self) -> Result<Vec<RecordBatch>> {
        Ok(vec![
            self.processes.take_batch()?,
            self.threads.take_batch()?,
            self.states.take_batch()?,
            self.calls.take_batch()?,
            self.interrupts.take_batch()?,
            self.messages.take_batch()?,
        ])
    }
}
