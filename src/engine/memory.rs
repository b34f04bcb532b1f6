//! Memory that counts against the limit of a session although no operator of the engine holds it. Not for the limit itself
//! (see `session`).

use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};

use super::failure::failed;
use super::session::Session;
use crate::error::Result;

/// Bytes that are reserved until it is dropped.
pub(crate) struct Reservation(MemoryReservation);

impl Reservation {
    /// Reserves so many bytes more.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Limit`] when the session has not so many left.
    pub fn grow(&self, bytes: usize) -> Result<()> {
        self.0.try_grow(bytes).map_err(failed)
    }
}

impl Session {
    /// A reservation of 0 bytes for what errors call `consumer`.
    pub(crate) fn reserve_memory(&self, consumer: &str) -> Reservation {
        let pool = &self.context().runtime_env().memory_pool;
        Reservation(MemoryConsumer::new(consumer).register(pool))
    }
}
