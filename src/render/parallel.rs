//! A stream of jobs → text, written in the order of the stream on any number of threads. Memory is bounded by
//! the number of threads: a worker that finishes early waits for its turn. Not for the content of the text.

use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::error::{Error, ErrorKind, Result};
use crate::threads::Scoped;

/// The text of a worker is written in pieces of this many bytes.
pub(crate) const PORTION: usize = 1 << 20;

/// Turns jobs into text.
pub(crate) trait Worker<J>: Send {
    /// Appends the text of `job` to `out`; returns true if there is more, because `out` has a [`PORTION`].
    fn work(&mut self, job: &mut J, out: &mut Vec<u8>) -> Result<bool>;
}

/// Gives each job to one of `threads` workers, and their text to `write`; returns the workers. A free worker
/// takes its next job from the stream itself, so a stream whose jobs are cheaper than their texts keeps all
/// threads busy.
///
/// # Errors
/// The first one in the order of the stream.
pub(crate) fn in_order<J, W>(
    threads: usize,
    mut jobs: impl Iterator<Item = Result<J>> + Send,
    worker: impl Fn() -> W,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<W>>
where
    J: Send,
    W: Worker<J>,
{
    if threads <= 1 {
        let mut worker = worker();
        alone(&mut worker, &mut jobs, write)?;
        return Ok(vec![worker]);
    }
    let jobs = Mutex::new(jobs);
    let spare = Mutex::new(Vec::new());
    // A turn is taken together with a job, so turns are in the order of the stream.
    let (turn, turns) = sync_channel(threads);
    std::thread::scope(|scope| {
        let (jobs, spare) = (&jobs, &spare);
        let start = |_| {
            let (turn, mut worker) = (turn.clone(), worker());
            let started = Scoped::start(scope, move || {
                // After an error, the text has no receiver.
                while let Some((job, text)) = next(jobs, &turn) {
                    if !one(&mut worker, job, &text, spare) {
                        break;
                    }
                }
                worker
            });
            started.ok()
        };
        // With fewer threads than were asked for, it only takes longer.
        let workers: Vec<_> = (0..threads).filter_map(start).collect();
        if workers.is_empty() {
            return Err(Error::new(ErrorKind::Io, "cannot start a thread"));
        }
        drop(turn);
        for bytes in turns.into_iter().flatten() {
            let mut bytes: Vec<u8> = bytes?;
            write(&bytes)?;
            bytes.clear();
            spare.lock().map_err(|_| died())?.push(bytes);
        }
        workers.into_iter().map(|worker| worker.join().map_err(|_| died())).collect()
    })
}

/// Runs on the calling thread.
fn alone<J>(
    worker: &mut impl Worker<J>,
    jobs: &mut dyn Iterator<Item = Result<J>>,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut bytes = Vec::new();
    for job in jobs {
        let mut job = job?;
        while {
            let more = worker.work(&mut job, &mut bytes)?;
            if bytes.len() >= PORTION {
                write(&bytes)?;
                bytes.clear();
            }
            more
        } {}
    }
    write(&bytes)
}

/// Portions of the text of one job.
type Text = SyncSender<Result<Vec<u8>>>;

/// A job, and the channel for its text.
fn next<J>(
    jobs: &Mutex<impl Iterator<Item = Result<J>>>,
    turn: &SyncSender<std::sync::mpsc::Receiver<Result<Vec<u8>>>>,
) -> Option<(Result<J>, Text)> {
    let mut jobs = jobs.lock().ok()?;
    let job = jobs.next()?;
    let (text, portions) = sync_channel(1);
    turn.send(portions).ok()?;
    Some((job, text))
}

/// Does a job; returns false if the receiver is gone.
fn one<J>(worker: &mut impl Worker<J>, job: Result<J>, text: &Text, spare: &Mutex<Vec<Vec<u8>>>) -> bool {
    let mut job = match job {
        Ok(job) => job,
        Err(e) => return text.send(Err(e)).is_err(),
    };
    loop {
        let mut bytes = spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        let more = worker.work(&mut job, &mut bytes);
        let (portion, more) = match more {
            Ok(more) => (Ok(bytes), more),
            Err(e) => (Err(e), false),
        };
        if text.send(portion).is_err() {
            return false;
        }
        if !more {
            return true;
        }
    }
}

fn died() -> Error {
    Error::new(ErrorKind::Bug, "a thread of the output died")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes a number that many times, in small pieces.
    struct Repeat;

    impl Worker<(u32, u32)> for Repeat {
        fn work(&mut self, (number, times): &mut (u32, u32), out: &mut Vec<u8>) -> Result<bool> {
            let now = (*times).min(3);
            out.extend(format!("{number},").repeat(now as usize).as_bytes());
            *times -= now;
            if *number == 77 { Err(Error::input("unlucky")) } else { Ok(*times > 0) }
        }
    }

    fn written(threads: usize, jobs: &[Option<(u32, u32)>], most: usize) -> (Vec<u8>, Result<usize>) {
        let mut out = Vec::new();
        let jobs = jobs.iter().map(|job| job.ok_or_else(|| Error::input("no job")));
        let workers = in_order(threads, jobs, || Repeat, &mut |bytes| {
            out.extend_from_slice(bytes);
            if out.len() > most { Err(Error::input("full")) } else { Ok(()) }
        });
        (out, workers.map(|workers| workers.len()))
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_stream(
            jobs in prop::collection::vec((0u32..77, 0u32..20), 0..50), threads in 0usize..5
        ) {
            let expected: String = jobs.iter().map(|(n, times)| format!("{n},").repeat(*times as usize)).collect();
            let jobs: Vec<_> = jobs.into_iter().map(Some).collect();
            let (out, workers) = written(threads, &jobs, usize::MAX);
            prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
            prop_assert_eq!(workers.unwrap(), threads.max(1));
        }
    }

    #[test]
    fn errors_of_jobs_workers_and_the_output_end_everything() {
        let endless = |failing: Option<(u32, u32)>| {
            let mut jobs = vec![Some((1, 1000)); 100];
            jobs.insert(10, failing);
            jobs
        };
        for threads in 1..4 {
            for (failing, most, message) in [
                (None, usize::MAX, "no job"),
                (Some((77, 5)), usize::MAX, "unlucky"),
                (Some((1, 1)), 1000, "full"),
            ] {
                let (_, workers) = written(threads, &endless(failing), most);
                assert!(workers.unwrap_err().to_string().contains(message), "{threads} {message}");
            }
        }
    }
}
