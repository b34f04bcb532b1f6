//! Handles of threads. One that is dropped lets its thread end by itself, or waits for it in a scope. Not for
//! dividing work: see `pipeline`.
//!
//! Dropping a handle of the standard library detaches the thread, and glibc looks at the thread once more
//! after it is detached (nptl/pthread_detach.c). If the thread ends at this moment, its stack may be gone,
//! and the process dies of a segmentation fault. So every thread is joined here: at the latest when its end
//! is noticed, as another one is left to itself.

use std::io;
use std::mem::{ManuallyDrop, take};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Result, Scope, ScopedJoinHandle};

/// Threads that nobody waits for, and that are not joined yet.
static LEFT: Mutex<Vec<Box<dyn Left>>> = Mutex::new(Vec::new());

/// A thread. Dropping it leaves the thread to itself.
pub(crate) struct Thread<T: 'static>(Option<JoinHandle<T>>);

impl<T: Send + 'static> Thread<T> {
    /// # Errors
    /// When the system has no more threads.
    #[expect(clippy::disallowed_methods, reason = "the handle is joined")]
    pub fn start(with: Builder, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        with.spawn(work).map(|handle| Self(Some(handle)))
    }

    pub fn has_ended(&self) -> bool {
        self.0.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end. `Err`: what it panicked with.
    pub fn join(mut self) -> Result<T> {
        match self.0.take() {
            Some(handle) => handle.join(),
            None => Err(Box::new("joined before")),
        }
    }
}

impl<T> Drop for Thread<T> {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(Box::new(handle));
        let (ended, running) = take(&mut *left).into_iter().partition(|thread| thread.has_ended());
        *left = running;
        drop(left);
        ended.into_iter().for_each(Left::wait);
    }
}

/// A thread that nobody waits for, whatever it returns.
trait Left: Send {
    fn has_ended(&self) -> bool;
    fn wait(self: Box<Self>);
}

impl<T> Left for JoinHandle<T> {
    fn has_ended(&self) -> bool {
        self.is_finished()
    }

    fn wait(self: Box<Self>) {
        // Nobody asks what it returned, or why it panicked.
        drop(self.join());
    }
}

/// A thread of a scope. Dropping it waits for the thread.
pub(crate) struct Scoped<'scope, T>(Option<ScopedJoinHandle<'scope, T>>);

impl<'scope, T: Send + 'scope> Scoped<'scope, T> {
    /// # Errors
    /// When the system has no more threads.
    #[expect(clippy::disallowed_methods, reason = "the handle is joined")]
    pub fn start(
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<Self> {
        Builder::new().spawn_scoped(scope, work).map(|handle| Self(Some(handle)))
    }

    /// Waits for its end. `Err`: what it panicked with.
    pub fn join(mut self) -> Result<T> {
        match self.0.take() {
            Some(handle) => handle.join(),
            None => Err(Box::new("joined before")),
        }
    }
}

impl<T> Drop for Scoped<'_, T> {
    fn drop(&mut self) {
        // Whoever drops it has no use for what it returned.
        self.0.take().map(ScopedJoinHandle::join);
    }
}

/// Drops `value`, which waits for something, on a thread of its own. Without one, the value stays as it is.
pub(crate) fn end<T: Send + 'static>(value: T) {
    let value = ManuallyDrop::new(value);
    let work = move || drop(ManuallyDrop::into_inner(value));
    drop(Thread::start(Builder::new().name("btfdb-end".into()), work));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Stacks of this size are unmapped when their thread ends, and not kept for the next one.
    const STACK: usize = 64 << 20;

    #[test]
    fn a_thread_is_joined_or_left() {
        let start = || Thread::start(Builder::new().stack_size(STACK), || 7).unwrap();
        assert_eq!(start().join().unwrap(), 7);
        for _ in 0..200 {
            let thread = start();
            while !thread.has_ended() {
                std::thread::yield_now();
            }
            // Its end is close: a detached thread could be gone in this moment.
            drop(thread);
        }
        let left = LEFT.lock().unwrap().len();
        assert!(left < 50, "{left} threads that ended are not joined");
    }

    #[test]
    fn a_panic_is_not_lost_when_it_is_asked_for() {
        let thread: Thread<()> = Thread::start(Builder::new(), || panic!("of a test")).unwrap();
        assert_eq!(*thread.join().unwrap_err().downcast::<&str>().unwrap(), "of a test");
    }

    #[test]
    fn a_scope_waits_where_a_handle_is_dropped() {
        let ended = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let work = || {
                std::thread::sleep(Duration::from_millis(20));
                ended.fetch_add(1, Ordering::SeqCst)
            };
            drop(Scoped::start(scope, work).unwrap());
            assert_eq!(ended.load(Ordering::SeqCst), 1);
            assert_eq!(Scoped::start(scope, work).unwrap().join().unwrap(), 1);
        });
    }

    #[test]
    fn what_waits_ends_elsewhere() {
        struct Slow(std::sync::mpsc::Sender<std::thread::ThreadId>);
        impl Drop for Slow {
            fn drop(&mut self) {
                std::thread::sleep(Duration::from_millis(20));
                self.0.send(std::thread::current().id()).unwrap();
            }
        }
        let (sender, ended) = std::sync::mpsc::channel();
        end(Slow(sender));
        assert!(ended.try_recv().is_err(), "nobody waits");
        assert_ne!(ended.recv().unwrap(), std::thread::current().id());
    }
}
