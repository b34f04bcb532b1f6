//! Memory that counts against the limit of a session, although no operator of the engine holds it. Not for
//! the limit itself (see `context`).

use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::prelude::SessionContext;

use super::failure::failed;
use crate::error::Result;

/// A number of bytes that are reserved until it is dropped.
pub(crate) struct Reservation(MemoryReservation);

impl Reservation {
    /// 0 bytes, under the name `consumer` in errors.
    pub(super) fn new(context: &SessionContext, consumer: &str) -> Self {
        Self(MemoryConsumer::new(consumer).register(&context.runtime_env().memory_pool))
    }

    /// Reserves `bytes` more bytes. Fails with [`crate::error::ErrorKind::Limit`] if the session does not
    /// have as many left.
    pub fn grow(&self, bytes: usize) -> Result<()> {
        self.0.try_grow(bytes).map_err(failed)
    }
}
