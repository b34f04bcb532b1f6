//! A pipeline of stages on a small pool of threads. The steps of one stage run one after the other, in order,
//! on whichever thread is free; steps of different stages run at the same time. So the result does not depend
//! on the number of threads, and no thread is tied to one stage. Not for what the steps do.
//!
//! `rayon` and channels between threads were measured instead: with a thread for each stage on two cores, the
//! parser is runnable and does not run for a tenth of the time (`benches/NOTES.md`).

use crate::error::{Error, ErrorKind, Result};
use crate::threads::Scoped;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The threads and their stages. What stages borrow lives for `'a`.
pub(crate) struct Pipeline<'a> {
    schedule: Mutex<Schedule<'a>>,
    /// Something may be ready that was not.
    changed: Condvar,
    /// How many items a stage holds between two threads.
    room: usize,
}

struct Schedule<'a> {
    /// In the order in which work is taken: what is nearest to the end of the pipeline first, but for
    /// [`Pipeline::prefetch_first`].
    stages: Vec<Arc<dyn Stage + 'a>>,
    over: bool,
}

trait Stage: Send + Sync {
    /// A step is ready and no thread is running it.
    fn is_ready(&self) -> bool;
    /// Runs a step, unless another thread has taken it.
    fn step(&self);
}

impl<'a> Pipeline<'a> {
    /// Runs `lead` on this thread, and the stages that it adds on `threads` threads, this one included.
    pub fn run<T>(threads: usize, lead: impl FnOnce(&Pipeline<'a>) -> Result<T>) -> Result<T> {
        let schedule = Mutex::new(Schedule { stages: Vec::new(), over: false });
        let room = if threads < 2 { 1 } else { 3 };
        let pipeline = Pipeline { schedule, changed: Condvar::new(), room };
        std::thread::scope(|scope| {
            // With fewer threads than were asked for, it only takes longer.
            let start = |_| Scoped::start(scope, || pipeline.work(None, || false)).ok();
            let _others: Vec<_> = (1..threads).filter_map(start).collect();
            let _end = Shutdown(&pipeline);
            lead(&pipeline)
        })
    }

    /// Adds a stage that takes from `items` before they are asked for. After an error nothing follows.
    pub fn prefetch<T: Send + 'a>(
        &self,
        items: impl Iterator<Item = Result<T>> + Send + 'a,
    ) -> Prefetch<'_, 'a, T> {
        let state = PrefetchState { items: Some(Box::new(items)), made: VecDeque::new(), over: false };
        let stage = Arc::new(PrefetchStage { state: Mutex::new(state), room: self.room });
        self.schedule().stages.push(stage.clone());
        Prefetch { pipeline: self, stage }
    }

    /// As [`Pipeline::prefetch`], for what everything else comes from: it is made before any other step.
    pub fn prefetch_first<T: Send + 'a>(
        &self,
        items: impl Iterator<Item = Result<T>> + Send + 'a,
    ) -> Prefetch<'_, 'a, T> {
        let stage = self.prefetch(items);
        self.schedule().stages.rotate_right(1);
        stage
    }

    /// Adds a stage that gives each pushed item to `take`, together with `state`.
    pub fn sink<S: Send + 'a, T: Send + 'a>(
        &self,
        state: S,
        take: impl Fn(&mut S, T) -> Result<()> + Send + Sync + 'a,
    ) -> Sink<'_, 'a, S, T> {
        let stage = StepStage::new(state, take);
        self.schedule().stages.insert(0, stage.clone());
        Sink { pipeline: self, stage }
    }

    /// Adds a stage that makes something else of each pushed item, with `state`; it comes out in the order of
    /// the items. The thread that pushes also takes out, so the stage holds everything that is pushed.
    pub fn transform<S: Send + 'a, T: Send + 'a, U: Send + 'a>(
        &self,
        state: S,
        step: impl Fn(&mut S, T) -> U + Send + Sync + 'a,
    ) -> Transform<'_, 'a, S, T, U> {
        let stage = StepStage::new(state, move |state: &mut S, item| Ok(step(state, item)));
        self.schedule().stages.push(stage.clone());
        Transform { pipeline: self, stage }
    }

    fn schedule(&self) -> MutexGuard<'_, Schedule<'a>> {
        lock(&self.schedule)
    }

    /// Runs steps, those of `first` before others, until `done` or shutdown. Waits when none is ready.
    fn work(&self, first: Option<&dyn Stage>, done: impl Fn() -> bool) {
        let mut schedule = self.schedule();
        while !schedule.over && !done() {
            let ready = |stage: &&Arc<dyn Stage + 'a>| stage.is_ready();
            match (first.filter(|stage| stage.is_ready()), schedule.stages.iter().find(ready).cloned()) {
                (None, None) => {
                    schedule = self.changed.wait(schedule).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                (Some(stage), _) => {
                    drop(schedule);
                    stage.step();
                }
                (None, Some(stage)) => {
                    drop(schedule);
                    stage.step();
                }
            }
            schedule = self.schedule();
            self.changed.notify_all();
        }
    }

    /// Wakes the threads that wait for a step.
    fn notify(&self) {
        let _schedule = self.schedule();
        self.changed.notify_all();
    }

    fn remove(&self, stage: *const ()) {
        self.schedule().stages.retain(|other| !std::ptr::addr_eq(Arc::as_ptr(other), stage));
    }
}

/// Ends the threads, also when `lead` fails.
struct Shutdown<'c, 'a>(&'c Pipeline<'a>);

impl Drop for Shutdown<'_, '_> {
    fn drop(&mut self) {
        let mut schedule = self.0.schedule();
        schedule.over = true;
        schedule.stages.clear();
        self.0.changed.notify_all();
    }
}

/// Items that are made before they are asked for.
pub(crate) struct Prefetch<'c, 'a, T: Send> {
    pipeline: &'c Pipeline<'a>,
    stage: Arc<PrefetchStage<'a, T>>,
}

struct PrefetchStage<'a, T> {
    state: Mutex<PrefetchState<'a, T>>,
    room: usize,
}

struct PrefetchState<'a, T> {
    /// `None` while a thread makes the next one, and after the last one.
    items: Option<Box<dyn Iterator<Item = Result<T>> + Send + 'a>>,
    made: VecDeque<Result<T>>,
    over: bool,
}

impl<T: Send> Stage for PrefetchStage<'_, T> {
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

impl<T: Send> Iterator for Prefetch<'_, '_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let there = || {
            let state = lock(&self.stage.state);
            !state.made.is_empty() || state.over
        };
        self.pipeline.work(Some(&*self.stage), there);
        let item = lock(&self.stage.state).made.pop_front();
        self.pipeline.notify();
        item
    }
}

impl<T: Send> Drop for Prefetch<'_, '_, T> {
    fn drop(&mut self) {
        self.pipeline.remove(Arc::as_ptr(&self.stage).cast());
    }
}

/// A stage that makes something of each item it is given, with a state.
struct StepStage<'a, S, T, U> {
    state: Mutex<StepState<S, T, U>>,
    step: Step<'a, S, T, U>,
}

type Step<'a, S, T, U> = Box<dyn Fn(&mut S, T) -> Result<U> + Send + Sync + 'a>;

struct StepState<S, T, U> {
    /// `None` while a thread runs a step, and after a failure.
    state: Option<S>,
    waiting: VecDeque<T>,
    made: VecDeque<U>,
    failed: bool,
    /// Why, until it is reported.
    error: Option<Error>,
}

impl<'a, S, T, U> StepStage<'a, S, T, U> {
    fn new(state: S, step: impl Fn(&mut S, T) -> Result<U> + Send + Sync + 'a) -> Arc<Self> {
        let (waiting, made) = (VecDeque::new(), VecDeque::new());
        let state = StepState { state: Some(state), waiting, made, failed: false, error: None };
        Arc::new(Self { state: Mutex::new(state), step: Box::new(step) })
    }
}

impl<S: Send, T: Send, U: Send> Stage for StepStage<'_, S, T, U> {
    fn is_ready(&self) -> bool {
        let stage = lock(&self.state);
        stage.state.is_some() && !stage.waiting.is_empty()
    }

    fn step(&self) {
        let mut stage = lock(&self.state);
        let Some(mut state) = stage.state.take() else { return };
        let item = stage.waiting.pop_front();
        drop(stage);
        let made = guarded(|| item.map(|item| (self.step)(&mut state, item)).transpose());
        let mut stage = lock(&self.state);
        match made {
            Ok(made) => {
                stage.state = Some(state);
                stage.made.extend(made);
            }
            Err(e) => (stage.failed, stage.error) = (true, Some(e)),
        }
    }
}

/// The giving end of a stage that takes items.
pub(crate) struct Sink<'c, 'a, S: Send, T: Send> {
    pipeline: &'c Pipeline<'a>,
    stage: Arc<StepStage<'a, S, T, ()>>,
}

impl<S: Send, T: Send> Sink<'_, '_, S, T> {
    /// Pushes an item; waits while the queue of the stage is full.
    pub fn push(&self, item: T) -> Result<()> {
        self.settle(|sink| sink.waiting.len() < self.pipeline.room)?;
        lock(&self.stage.state).waiting.push_back(item);
        self.pipeline.notify();
        Ok(())
    }

    /// What the state has become when everything is taken.
    pub fn finish(self) -> Result<S> {
        self.settle(|sink| sink.waiting.is_empty() && sink.state.is_some())?;
        let state = lock(&self.stage.state).state.take();
        state.ok_or_else(stopped)
    }

    fn settle(&self, done: impl Fn(&StepState<S, T, ()>) -> bool) -> Result<()> {
        self.pipeline.work(Some(&*self.stage), || {
            let sink = lock(&self.stage.state);
            sink.failed || done(&sink)
        });
        let mut sink = lock(&self.stage.state);
        if sink.failed { Err(sink.error.take().unwrap_or_else(stopped)) } else { Ok(()) }
    }
}

/// Both ends of a stage that makes something else of items.
pub(crate) struct Transform<'c, 'a, S: Send, T: Send, U: Send> {
    pipeline: &'c Pipeline<'a>,
    stage: Arc<StepStage<'a, S, T, U>>,
}

impl<S: Send, T: Send, U: Send> Transform<'_, '_, S, T, U> {
    pub fn push(&self, item: T) {
        lock(&self.stage.state).waiting.push_back(item);
        self.pipeline.notify();
    }

    /// What was made of the first item that is not taken out yet. Fails when there is none.
    pub fn next(&self) -> Result<U> {
        self.pipeline.work(Some(&*self.stage), || {
            let transform = lock(&self.stage.state);
            let idle = transform.waiting.is_empty() && transform.state.is_some();
            !transform.made.is_empty() || transform.failed || idle
        });
        lock(&self.stage.state).made.pop_front().ok_or_else(stopped)
    }
}

/// Runs `work` on `threads` threads, this one included: each gets an iterator over the items that no other
/// thread has taken. Gives what each of them returns, in no order. After an error no thread gets another
/// item.
pub(crate) fn fan_out<I: Iterator + Send, R: Send>(
    threads: usize,
    items: I,
    work: impl Fn(&mut dyn Iterator<Item = I::Item>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let items = Mutex::new(Some(items));
    let run = || {
        let done = guarded(|| work(&mut std::iter::from_fn(|| lock(&items).as_mut()?.next())));
        if done.is_err() {
            *lock(&items) = None;
        }
        done
    };
    std::thread::scope(|scope| {
        // With fewer threads than were asked for, it only takes longer.
        let start = |_| Scoped::start(scope, run).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let own = run();
        let joined = others.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(stopped())));
        std::iter::once(own).chain(joined).collect()
    })
}

/// A step that panics is an error of this program, not the end of a thread that others wait for.
fn guarded<T>(step: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Err(stopped()))
}

fn stopped() -> Error {
    Error::new(ErrorKind::Bug, "a worker stopped")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No step is made under a lock, so what it protects is whole even when a step panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Numbers from a stage, doubled in a second and collected in a third.
    fn doubled(threads: usize, count: u64) -> Result<Vec<u64>> {
        Pipeline::run(threads, |pipeline| {
            let gather = pipeline.sink(Vec::new(), |all: &mut Vec<u64>, n| {
                all.push(n);
                Ok(())
            });
            for n in pipeline.prefetch(numbers(count)) {
                gather.push(n? * 2)?;
            }
            gather.finish()
        })
    }

    fn numbers(count: u64) -> impl Iterator<Item = Result<u64>> + Send {
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
        let sum = Pipeline::run(1, |pipeline| {
            let sum = pipeline.sink(0, move |sum: &mut i32, n| {
                same();
                *sum += n;
                Ok(())
            });
            for n in pipeline.prefetch(made) {
                sum.push(n?)?;
            }
            sum.finish()
        });
        assert_eq!(sum.unwrap(), 190);
    }

    #[test]
    fn a_stage_is_not_far_ahead_of_what_is_asked_for() {
        let made = AtomicUsize::new(0);
        let count = (0..1000).map(|n| {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(n)
        });
        Pipeline::run(3, |pipeline| {
            let mut items = pipeline.prefetch(count);
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
        Pipeline::run(1, |pipeline| {
            let sink = pipeline.sink((), |(), ()| {
                note("taken");
                Ok(())
            });
            let _items = pipeline.prefetch_first(items);
            sink.push(())?;
            pipeline.work(None, || lock(&order).len() == 2);
            Ok(())
        })
        .unwrap();
        assert_eq!(*lock(&order), ["made", "taken"]);
    }

    #[test]
    fn every_item_of_a_fan_out_is_taken_once() {
        for threads in [0, 1, 2, 5] {
            let parts = fan_out(threads, 0..100, |items| Ok(items.collect::<Vec<i32>>())).unwrap();
            assert_eq!(parts.len(), threads.max(1));
            let mut all = parts.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..100), "{threads} threads");
        }
    }

    #[test]
    fn errors_and_panics_end_a_fan_out() {
        let until_five = |items: &mut dyn Iterator<Item = u64>| {
            for n in items {
                if n == 5 {
                    return true;
                }
            }
            false
        };
        let fails = |items: &mut dyn Iterator<Item = u64>| match until_five(items) {
            true => Err(Error::usage("five")),
            false => Ok(()),
        };
        let panics = |items: &mut dyn Iterator<Item = u64>| match until_five(items) {
            true => panic!("five"),
            false => Ok(()),
        };
        for threads in [1, 2, 3] {
            assert_eq!(fan_out(threads, 0.., fails).unwrap_err().kind(), ErrorKind::Usage);
            assert_eq!(fan_out(threads, 0.., panics).unwrap_err().kind(), ErrorKind::Bug);
        }
    }

    #[test]
    fn what_is_made_of_items_keeps_their_order() {
        for threads in [1, 2, 8] {
            let made = Pipeline::run(threads, |pipeline| {
                let stages = [1, 2, 3].map(|by| pipeline.transform(by, |by, n: u64| n * *by));
                let mut made = Vec::new();
                for n in 0..100 {
                    stages.iter().for_each(|stage| stage.push(n));
                    for stage in &stages {
                        made.push(stage.next()?);
                    }
                }
                assert_eq!(stages[0].next().unwrap_err().kind(), ErrorKind::Bug, "nothing was pushed");
                Ok(made)
            });
            let expected: Vec<u64> = (0..100).flat_map(|n| [n, 2 * n, 3 * n]).collect();
            assert_eq!(made.unwrap(), expected, "{threads} threads");
        }
        let panics = Pipeline::run(2, |pipeline| {
            let stage = pipeline.transform((), |(), ()| panic!("a step"));
            stage.push(());
            stage.push(());
            Ok(stage.next())
        });
        assert_eq!(panics.unwrap().unwrap_err().kind(), ErrorKind::Bug);
    }

    #[test]
    fn errors_and_panics_end_the_stage_and_are_reported() {
        let fail = |n: u64| if n == 5 { Err(Error::usage("five")) } else { Ok(n) };
        let panics = |n: u64| if n == 5 { panic!("five") } else { Ok(n) };
        for threads in [1, 2, 3] {
            let from = |step: fn(u64) -> Result<u64>| {
                Pipeline::run(threads, |pipeline| {
                    let mut items = pipeline.prefetch((0..9).map(step));
                    let found = items.by_ref().map(|n| n.map_err(|e| e.kind())).collect::<Vec<_>>();
                    assert!(items.next().is_none());
                    Ok(found)
                })
            };
            let into = |step: fn(u64) -> Result<u64>| {
                Pipeline::run(threads, |pipeline| {
                    let sink = pipeline.sink((), move |(), n| step(n).map(drop));
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
