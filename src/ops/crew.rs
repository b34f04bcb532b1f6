//! A few threads for work in lanes. The steps of a lane are made one after the other, in order, by whichever thread is
//! free; steps of different lanes are made at the same time. So what comes out does not depend on how many threads
//! there are, and no thread is tied to one kind of work. Knows nothing of what the steps do.

use crate::error::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// The threads and their lanes. What lanes borrow lives for `'a`.
pub(super) struct Crew<'a> {
    board: Mutex<Board<'a>>,
    /// Something may be ready that was not.
    changed: Condvar,
    /// How many items a lane holds between two threads.
    room: usize,
}

struct Board<'a> {
    /// In the order in which work is taken: what is nearest to the end of the pipeline first, but for [`Crew::ahead_of_all`].
    lanes: Vec<Arc<dyn Lane + 'a>>,
    over: bool,
}

trait Lane: Send + Sync {
    /// There is a step to make, and nobody is at it.
    fn is_ready(&self) -> bool;
    /// Makes a step, unless somebody else was faster.
    fn step(&self);
}

impl<'a> Crew<'a> {
    /// Runs `lead` on this thread and the lanes that it begins on as many as `threads` together.
    pub fn run<T>(threads: usize, lead: impl FnOnce(&Crew<'a>) -> Result<T>) -> Result<T> {
        let board = Mutex::new(Board { lanes: Vec::new(), over: false });
        let room = if threads < 2 { 1 } else { 3 };
        let crew = Crew { board, changed: Condvar::new(), room };
        std::thread::scope(|scope| {
            let _end = End(&crew);
            for _ in 1..threads {
                // With fewer threads than were asked for, it only takes longer.
                let _ = Builder::new().spawn_scoped(scope, || crew.help(None, || false));
            }
            lead(&crew)
        })
    }

    /// Takes from `items` ahead of need. After an error nothing follows.
    pub fn ahead<T: Send + 'a>(
        &self,
        items: impl Iterator<Item = Result<T>> + Send + 'a,
    ) -> Ahead<'_, 'a, T> {
        let state = Source { items: Some(Box::new(items)), made: VecDeque::new(), over: false };
        let lane = Arc::new(SourceLane { state: Mutex::new(state), room: self.room });
        self.board().lanes.push(lane.clone());
        Ahead { crew: self, lane }
    }

    /// As [`Crew::ahead`], for items that everything else comes from: whoever is free makes them before what there is by now.
    pub fn ahead_of_all<T: Send + 'a>(
        &self,
        items: impl Iterator<Item = Result<T>> + Send + 'a,
    ) -> Ahead<'_, 'a, T> {
        let ahead = self.ahead(items);
        self.board().lanes.rotate_right(1);
        ahead
    }

    /// Gives items to `take`, together with `state`, after they have been handed in.
    pub fn behind<S: Send + 'a, T: Send + 'a>(
        &self,
        state: S,
        take: impl Fn(&mut S, T) -> Result<()> + Send + Sync + 'a,
    ) -> Behind<'_, 'a, S, T> {
        let state = Sink { state: Some(state), waiting: VecDeque::new(), failed: false, error: None };
        let lane = Arc::new(SinkLane { state: Mutex::new(state), room: self.room, take: Box::new(take) });
        self.board().lanes.insert(0, lane.clone());
        Behind { crew: self, lane }
    }

    fn board(&self) -> MutexGuard<'_, Board<'a>> {
        lock(&self.board)
    }

    /// Makes steps, those of `first` before others, until `done` or until all is over. Waits when there are none.
    fn help(&self, first: Option<&dyn Lane>, done: impl Fn() -> bool) {
        let mut board = self.board();
        while !board.over && !done() {
            let ready = |lane: &&Arc<dyn Lane + 'a>| lane.is_ready();
            match (first.filter(|lane| lane.is_ready()), board.lanes.iter().find(ready).cloned()) {
                (None, None) => {
                    board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                (Some(lane), _) => {
                    drop(board);
                    lane.step();
                }
                (None, Some(lane)) => {
                    drop(board);
                    lane.step();
                }
            }
            board = self.board();
            self.changed.notify_all();
        }
    }

    /// Tells the others that something has changed.
    fn tell(&self) {
        let _board = self.board();
        self.changed.notify_all();
    }

    fn remove(&self, lane: *const ()) {
        self.board().lanes.retain(|other| !std::ptr::addr_eq(Arc::as_ptr(other), lane));
    }
}

/// Sends the crew home, also when its lead fails.
struct End<'c, 'a>(&'c Crew<'a>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        let mut board = self.0.board();
        board.over = true;
        board.lanes.clear();
        self.0.changed.notify_all();
    }
}

/// Items that are made before they are asked for.
pub(super) struct Ahead<'c, 'a, T: Send> {
    crew: &'c Crew<'a>,
    lane: Arc<SourceLane<'a, T>>,
}

struct SourceLane<'a, T> {
    state: Mutex<Source<'a, T>>,
    room: usize,
}

struct Source<'a, T> {
    /// `None` while somebody makes the next one, and after the last one.
    items: Option<Box<dyn Iterator<Item = Result<T>> + Send + 'a>>,
    made: VecDeque<Result<T>>,
    over: bool,
}

impl<T: Send> Lane for SourceLane<'_, T> {
    fn is_ready(&self) -> bool {
        let state = lock(&self.state);
        state.items.is_some() && state.made.len() < self.room
    }

    fn step(&self) {
        let mut state = lock(&self.state);
        // Others may have seen the same place.
        let free = state.made.len() < self.room;
        let Some(mut items) = state.items.take_if(|_| free) else { return };
        drop(state);
        let item = guarded(|| items.next().transpose()).transpose();
        let mut state = lock(&self.state);
        match item {
            Some(Ok(_)) => state.items = Some(items),
            _ => state.over = true,
        }
        state.made.extend(item);
    }
}

impl<T: Send> Iterator for Ahead<'_, '_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let there = || {
            let state = lock(&self.lane.state);
            !state.made.is_empty() || state.over
        };
        self.crew.help(Some(&*self.lane), there);
        let item = lock(&self.lane.state).made.pop_front();
        self.crew.tell();
        item
    }
}

impl<T: Send> Drop for Ahead<'_, '_, T> {
    fn drop(&mut self) {
        self.crew.remove(Arc::as_ptr(&self.lane).cast());
    }
}

/// The giving end of a lane that takes items.
pub(super) struct Behind<'c, 'a, S: Send, T: Send> {
    crew: &'c Crew<'a>,
    lane: Arc<SinkLane<'a, S, T>>,
}

type Take<'a, S, T> = Box<dyn Fn(&mut S, T) -> Result<()> + Send + Sync + 'a>;

struct SinkLane<'a, S, T> {
    state: Mutex<Sink<S, T>>,
    room: usize,
    take: Take<'a, S, T>,
}

struct Sink<S, T> {
    /// `None` while somebody is at it, and after a failure.
    state: Option<S>,
    waiting: VecDeque<T>,
    failed: bool,
    /// Why, until it is told.
    error: Option<Error>,
}

impl<S: Send, T: Send> Lane for SinkLane<'_, S, T> {
    fn is_ready(&self) -> bool {
        let sink = lock(&self.state);
        sink.state.is_some() && !sink.waiting.is_empty()
    }

    fn step(&self) {
        let mut sink = lock(&self.state);
        let Some(mut state) = sink.state.take() else { return };
        let item = sink.waiting.pop_front();
        drop(sink);
        let taken = guarded(|| item.map_or(Ok(()), |item| (self.take)(&mut state, item)));
        let mut sink = lock(&self.state);
        match taken {
            Ok(()) => sink.state = Some(state),
            Err(e) => (sink.failed, sink.error) = (true, Some(e)),
        }
    }
}

impl<S: Send, T: Send> Behind<'_, '_, S, T> {
    /// Hands in an item; waits while too many are on their way.
    ///
    /// # Errors
    /// What taking an item failed with.
    pub fn push(&self, item: T) -> Result<()> {
        self.settle(|sink| sink.waiting.len() < self.lane.room)?;
        lock(&self.lane.state).waiting.push_back(item);
        self.crew.tell();
        Ok(())
    }

    /// What the state has become when everything is taken.
    ///
    /// # Errors
    /// See [`Behind::push`].
    pub fn finish(self) -> Result<S> {
        self.settle(|sink| sink.waiting.is_empty() && sink.state.is_some())?;
        let state = lock(&self.lane.state).state.take();
        state.ok_or_else(stopped)
    }

    fn settle(&self, done: impl Fn(&Sink<S, T>) -> bool) -> Result<()> {
        self.crew.help(Some(&*self.lane), || {
            let sink = lock(&self.lane.state);
            sink.failed || done(&sink)
        });
        let mut sink = lock(&self.lane.state);
        if sink.failed { Err(sink.error.take().unwrap_or_else(stopped)) } else { Ok(()) }
    }
}

/// A step that panics is an error of this program, not the end of a thread that others wait for.
fn guarded<T>(step: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Err(stopped()))
}

fn stopped() -> Error {
    Error::new(ErrorKind::Bug, "a worker stopped")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No step is made under a lock, so what it protects is whole even when somebody panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Numbers from a lane, doubled in a second and gathered in a third.
    fn doubled(threads: usize, count: u64) -> Result<Vec<u64>> {
        Crew::run(threads, |crew| {
            let gather = crew.behind(Vec::new(), |all: &mut Vec<u64>, n| {
                all.push(n);
                Ok(())
            });
            for n in crew.ahead(crew_numbers(count)) {
                gather.push(n? * 2)?;
            }
            gather.finish()
        })
    }

    fn crew_numbers(count: u64) -> impl Iterator<Item = Result<u64>> + Send {
        (0..count).map(Ok)
    }

    #[test]
    fn items_keep_their_order_whatever_the_number_of_threads() {
        let expected: Vec<u64> = (0..1000).map(|n| n * 2).collect();
        for threads in [0, 1, 2, 3, 8] {
            assert_eq!(doubled(threads, 1000).unwrap(), expected, "{threads} threads");
        }
    }

    #[test]
    fn one_thread_is_the_one_that_leads() {
        let here = std::thread::current().id();
        let same = move || assert_eq!(std::thread::current().id(), here);
        let made = (0..20).map(move |n| {
            same();
            Ok(n)
        });
        let sum = Crew::run(1, |crew| {
            let sum = crew.behind(0, move |sum: &mut i32, n| {
                same();
                *sum += n;
                Ok(())
            });
            for n in crew.ahead(made) {
                sum.push(n?)?;
            }
            sum.finish()
        });
        assert_eq!(sum.unwrap(), 190);
    }

    #[test]
    fn a_lane_is_not_far_ahead_of_what_is_asked_for() {
        let made = AtomicUsize::new(0);
        let count = (0..1000).map(|n| {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(n)
        });
        Crew::run(3, |crew| {
            let mut items = crew.ahead(count);
            for n in 0..100 {
                assert_eq!(items.next().unwrap()?, n);
                assert!(made.load(Ordering::SeqCst) <= n + 6);
            }
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn what_everything_comes_from_is_made_first() {
        let order = Mutex::new(Vec::new());
        let note = |what| lock(&order).push(what);
        let items = std::iter::from_fn(|| {
            note("made");
            Some(Ok(()))
        });
        Crew::run(1, |crew| {
            let sink = crew.behind((), |(), ()| {
                note("taken");
                Ok(())
            });
            let _items = crew.ahead_of_all(items);
            sink.push(())?;
            crew.help(None, || lock(&order).len() == 2);
            Ok(())
        })
        .unwrap();
        assert_eq!(*lock(&order), ["made", "taken"]);
    }

    #[test]
    fn errors_and_panics_end_the_lane_and_are_told() {
        let fail = |n: u64| if n == 5 { Err(Error::usage("five")) } else { Ok(n) };
        let panics = |n: u64| if n == 5 { panic!("five") } else { Ok(n) };
        for threads in [1, 2, 3] {
            let from = |step: fn(u64) -> Result<u64>| {
                Crew::run(threads, |crew| {
                    let mut items = crew.ahead((0..9).map(step));
                    let found = items.by_ref().map(|n| n.map_err(|e| e.kind())).collect::<Vec<_>>();
                    assert!(items.next().is_none());
                    Ok(found)
                })
            };
            let into = |step: fn(u64) -> Result<u64>| {
                Crew::run(threads, |crew| {
                    let sink = crew.behind((), move |(), n| step(n).map(drop));
                    let pushed: Result<Vec<()>> = (0..9).map(|n| sink.push(n)).collect();
                    pushed.and_then(|_| sink.finish())
                })
            };
            for (step, kind) in [(fail as fn(u64) -> Result<u64>, ErrorKind::Usage), (panics, ErrorKind::Bug)]
            {
                let found = from(step).unwrap();
                assert_eq!(found, [Ok(0), Ok(1), Ok(2), Ok(3), Ok(4), Err(kind)]);
                assert_eq!(into(step).unwrap_err().kind(), kind);
            }
        }
    }
}
