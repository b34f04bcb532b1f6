//! The progress line of long operations, on a terminal, after 250 ms: rows per second and time left.

use super::ui::Ui;
use crate::ops::Control;
use crate::render::printable;
use crate::threads::Scoped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Runs `work` and shows its progress.
pub(super) fn watched<T>(ui: &Ui, control: &Arc<Control>, work: impl FnOnce() -> T) -> T {
    if !ui.shows_progress() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let _shown = Scoped::start(scope, move || {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let mut stage = (String::new(), Instant::now());
            let begun = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(Duration::from_millis(100)) {
                let p = control.progress();
                if p.stage != stage.0 {
                    stage = (p.stage.clone(), Instant::now());
                    bar.reset();
                }
                if begun.elapsed() < Duration::from_millis(250) {
                    continue;
                }
                let style =
                    if p.total > 0 { "{msg} [{bar:30}] {percent}% {eta} left" } else { "{spinner} {msg}" };
                if let Ok(style) = ProgressStyle::with_template(style) {
                    bar.set_style(style.progress_chars("=> "));
                }
                bar.set_length(p.total);
                bar.set_position(p.done.min(p.total));
                let seconds = stage.1.elapsed().as_millis().max(1) as u64;
                // Some stages have no rows.
                let rows = format!(" {} rows, {} rows/s", p.rows, p.rows * 1000 / seconds);
                bar.set_message(format!("{}{}", printable(&p.stage), if p.rows > 0 { &rows } else { "" }));
                bar.tick();
            }
            bar.finish_and_clear();
        });
        // The line ends when this is dropped, also when the work panics.
        let _until = done;
        work()
    })
}
