//! What the allocator of the system does with memory that is given back. Not how much there is of it: that is
//! for the queues.

/// Lets the process keep memory that it will ask for again. The columns of a chunk, some megabytes, are made
/// by one thread and freed by another; the GNU allocator gives them back to the kernel each time, which has
/// to clear their pages for the next chunk: 4 % of the ingest of a function export (20,000 page faults, 6,500
/// without that), 2 to 3 % of the others. To be called before there are threads.
pub(super) fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// So much may be left at the end of the memory of each thread, in bytes.
        const KEPT: i32 = 16 << 20;
        /// The most that this allocator takes: what is larger is a mapping of its own. It grows to this by
        /// itself otherwise, which it does no more when the other number is set.
        const LARGE: i32 = 32 << 20;
        #[expect(unsafe_code, reason = "the only way to say so to the allocator")]
        // SAFETY: two numbers of the allocator are set, before there is a thread that could ask it for memory
        // meanwhile. It checks them itself; what it refuses stays as it was, and is only slower.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        }
    }
}
