//! Recordings of SEGGER SystemView (`.SVDat`): packets of a target with an RTOS, as its recorder module sends
//! them. Their ids and layouts are those of the recorder (`SEGGER_SYSVIEW.h`, `SEGGER_SYSVIEW.c`); what the
//! functions of an RTOS are called is in a description that comes with the RTOS, `SYSVIEW_<OS>.txt`.

mod description;
mod format;
mod header;
mod known;
mod packet;
mod reader;
mod rows;
#[cfg(test)]
mod tests;

pub use format::SystemView;
