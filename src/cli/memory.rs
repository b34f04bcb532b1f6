//! How the allocator of the system keeps freed memory. Not how much memory is used: the queues limit that.

/// Lets the process keep freed memory that it will need again. The columns of a chunk, some megabytes, are
/// made by one thread and freed by another. The GNU allocator would give them back to the kernel each time,
/// which has to clear their pages for the next chunk: 4 % of the ingest of a function export (20,000 page
/// faults, 6,500 without that), 2 to 3 % of the others. To be called before there are threads.
pub(super) fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Free bytes that may stay at the end of the memory of each thread.
        const TRIM_THRESHOLD: i32 = 16 << 20;
        /// The maximum of this allocator: larger blocks are mappings of their own. By default, the threshold
        /// adapts up to this value, but not if the other parameter is set.
        const MMAP_THRESHOLD: i32 = 32 << 20;
        #[expect(unsafe_code, reason = "the only way to say so to the allocator")]
        // SAFETY: takes and gives back numbers, no memory. mallopt(3) is safe as long as no other thread
        // allocates: `cli::run`, the only caller, calls this before anything that starts a thread. The
        // allocator checks the numbers itself; if it refuses one, everything only stays slower.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        }
    }
}
