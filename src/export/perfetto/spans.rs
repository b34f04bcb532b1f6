//! Spans other than states: runnables, holds of and waits for semaphores, gaps, event chains.

use super::packets::{Argument, Flow, TrackKind};
use super::placement::Slice;
use super::tracks::Group;
use super::{CHAINS, Export, cut};
use crate::btf::State;
use crate::btf::spec::EntityType;
use crate::chain::Chain;
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::schema::columns::{gap, runnable_instance as runnable};
use std::collections::HashMap;

/// Executions as far as their time is known: those of which neither begin nor end was recorded by their
/// states. What is suspended is a slice in the innermost runnable of a process instance.
fn runnables(rows: &str) -> String {
    format!(
        "WITH execution AS (SELECT * FROM (SELECT *,
                coalesce(start_at, terminate_at - running - suspended) AS begin_at,
                coalesce(terminate_at, start_at + running + suspended) AS end_at
            FROM runnable_instance WHERE start_at IS NOT NULL OR terminate_at IS NOT NULL) AS timed {rows}),
        state AS (SELECT * FROM runnable_state {rows}),
        unbounded AS (SELECT DISTINCT recording, runnable, instance FROM runnable_instance
            WHERE start_at IS NULL AND terminate_at IS NULL)
        SELECT process, runnable, instance, process_instance, core, depth, begin_at, end_at, runnable AS name
        FROM execution
        UNION ALL
        SELECT s.process, s.runnable, s.instance, s.process_instance, s.core, s.depth, s.begin_at, s.end_at,
            s.runnable AS name
        FROM state AS s JOIN unbounded AS u
            ON s.recording = u.recording AND s.runnable = u.runnable AND s.instance = u.instance
        UNION ALL
        SELECT process, max(runnable) AS runnable, max(instance) AS instance, process_instance, core,
            max(depth) + 1 AS depth, begin_at, end_at, '{SUSPENDED}' AS name
        FROM state WHERE state = '{SUSPENDED}' AND process IS NOT NULL
        GROUP BY process, process_instance, core, begin_at, end_at
        ORDER BY process, begin_at, end_at DESC, depth, process_instance, runnable, instance"
    )
}

/// The state of a runnable whose process does not run.
const SUSPENDED: &str = State::Suspended.as_str();

impl Export<'_, '_> {
    pub(super) fn spans(&mut self) -> Result<()> {
        if self.wants(EntityType::Runnable) {
            self.runnables()?;
        }
        if self.wants(EntityType::Semaphore) {
            self.semaphores()?;
        }
        if self.wants(EntityType::Core) {
            self.gaps()?;
        }
        if self.selection.types.is_empty() {
            self.chains()?;
        }
        Ok(())
    }

    fn runnables(&mut self) -> Result<()> {
        let kinds = self.processes()?;
        let entities = [runnable::RUNNABLE, runnable::PROCESS];
        let condition = self.selection.overlap(self.recording, ("begin_at", "end_at"), &entities, &[]);
        let sql = runnables(&condition.sql());
        let mut rows = Cursor::new(self.session.sql(&sql, &condition.params())?);
        let mut last: Option<(EntityType, String)> = None;
        while rows.next()? {
            let (begin, end) = cut(self.selection, rows.int(6).unwrap_or(0), rows.int(7).unwrap_or(0));
            let packets = &mut self.packets;
            let Some(process) = rows.text(0) else {
                let row = self.tracks.row(Group::Others, rows.name(1), TrackKind::Other, "", packets)?;
                let track = row.slices.place((begin, end), packets)?;
                let args = [Argument::Int("instance", rows.int(2).unwrap_or(0))];
                packets.begin(track, begin, rows.name(1), &args, None)?;
                packets.end(track, end)?;
                continue;
            };
            let kind = kinds.get(process).copied().unwrap_or(EntityType::Task);
            if let Some((kind, name)) = last.take_if(|(_, name)| name != process) {
                self.tracks.thread(kind, &name, packets)?.runnables.close(packets)?;
            }
            last.get_or_insert_with(|| (kind, process.to_owned()));
            let thread = self.tracks.thread(kind, process, packets)?;
            let slice =
                Slice { begin, end, depth: rows.int(5).unwrap_or(0), owner: rows.int(3).unwrap_or(0) };
            let track = thread.runnables.place(slice, packets)?;
            let mut args = vec![Argument::Int("process_instance", slice.owner)];
            if rows.name(8) != SUSPENDED {
                args.insert(0, Argument::Int("instance", rows.int(2).unwrap_or(0)));
            }
            args.extend(rows.text(4).map(|core| Argument::Name("core", core)));
            packets.begin(track, begin, rows.name(8), &args, None)?;
        }
        if let Some((kind, name)) = last {
            let packets = &mut self.packets;
            self.tracks.thread(kind, &name, packets)?.runnables.close(packets)?;
        }
        Ok(())
    }

    /// Whether processes are tasks or ISRs.
    fn processes(&self) -> Result<HashMap<String, EntityType>> {
        let sql =
            "SELECT DISTINCT process, type FROM process_instance WHERE recording = $recording ORDER BY 1, 2";
        let mut rows = Cursor::new(self.session.sql(sql, &[("recording", self.recording.into())])?);
        let mut kinds = HashMap::new();
        while rows.next()? {
            let kind = EntityType::parse_tolerant(rows.name(1)).unwrap_or(EntityType::Task);
            kinds.insert(rows.name(0).to_owned(), kind);
        }
        Ok(kinds)
    }

    fn semaphores(&mut self) -> Result<()> {
        for (below, select) in [
            (false, "SELECT semaphore, process, instance, assigned_at, released_at FROM semaphore_hold"),
            (true, "SELECT semaphore, process, instance, request_at, assigned_at FROM semaphore_wait"),
        ] {
            let (from, to) =
                if below { ("request_at", "assigned_at") } else { ("assigned_at", "released_at") };
            let end = format!("coalesce({to}, {from})");
            let entities = ["semaphore", "process"];
            let condition = self.selection.overlap(self.recording, (from, &end), &entities, &[]);
            // Getting a semaphore at once is not a wait.
            let more = if below { format!("AND ({to} IS NULL OR {to} > {from})") } else { String::new() };
            let rest = format!("{more} ORDER BY semaphore, {from}, {to}, process, instance");
            let mut rows = Cursor::new(condition.rows(self.session, select, &rest)?);
            while rows.next()? {
                let packets = &mut self.packets;
                let row =
                    self.tracks.row(Group::Semaphores, rows.name(0), TrackKind::Other, "waiting", packets)?;
                let args = [Argument::Int("instance", rows.int(2).unwrap_or(0))];
                let begin = rows.int(3).unwrap_or(0);
                let tracks = if below { &mut row.below } else { &mut row.slices };
                let Some(end) = rows.int(4) else {
                    // Its end is unknown: it is shown as an instant at its begin.
                    let what = if below { "requested by" } else { "assigned to" };
                    let name = format!("{what} {}", rows.name(1));
                    packets.instant(row.track, begin, &name, &args, None)?;
                    continue;
                };
                let (begin, end) = cut(self.selection, begin, end);
                let track = tracks.place((begin, end), packets)?;
                packets.begin(track, begin, rows.name(1), &args, None)?;
                packets.end(track, end)?;
            }
        }
        Ok(())
    }

    fn gaps(&mut self) -> Result<()> {
        let span = (gap::BEGIN_AT, gap::END_AT);
        let condition = self.selection.overlap(self.recording, span, &[gap::CORE], &[]);
        let select = "SELECT core, begin_at, end_at, reason FROM gap";
        let rows = condition.rows(self.session, select, "ORDER BY core, begin_at, end_at, reason")?;
        let mut rows = Cursor::new(rows);
        while rows.next()? {
            let (begin, end) = cut(self.selection, rows.int(1).unwrap_or(0), rows.int(2).unwrap_or(0));
            let packets = &mut self.packets;
            let row = match rows.text(0) {
                Some(core) => self.tracks.row(Group::Cores, core, TrackKind::Other, "gaps", packets)?,
                None => self.tracks.row(Group::Others, "gaps", TrackKind::Other, "gaps", packets)?,
            };
            let track = row.below.place((begin, end), packets)?;
            packets.begin(track, begin, rows.name(3), &[], None)?;
            packets.end(track, end)?;
        }
        Ok(())
    }

    /// A slice from the first step to the last one, and the steps as instants with a flow through them.
    fn chains(&mut self) -> Result<()> {
        let chains: Vec<Chain> = self.session.given_chains().to_vec();
        if chains.is_empty() {
            return Ok(());
        }
        let span = ("begin_at", "coalesce(end_at, begin_at)");
        let condition = self.selection.overlap(self.recording, span, &[], &[]);
        let select = "SELECT chain, begin_at, end_at, outcome, step_at FROM chain_instance";
        let rows = condition.rows(self.session, select, "ORDER BY chain, begin_at, end_at")?;
        let mut rows = Cursor::new(rows);
        let mut flow = CHAINS;
        while rows.next()? {
            let Some(chain) = chains.iter().find(|c| c.name == rows.name(0)) else { continue };
            flow += 1;
            let packets = &mut self.packets;
            let outcome = [Argument::Name("outcome", rows.name(3))];
            let row = self.tracks.row(Group::Chains, &chain.name, TrackKind::Other, "", packets)?;
            let begin = rows.int(1).unwrap_or(0);
            match rows.int(2) {
                None => packets.instant(row.track, begin, rows.name(3), &outcome, None)?,
                Some(end) => {
                    let (begin, end) = cut(self.selection, begin, end);
                    let track = row.slices.place((begin, end), packets)?;
                    packets.begin(track, begin, &chain.name, &outcome, None)?;
                    packets.end(track, end)?;
                }
            }
            for (n, (step, at)) in chain.steps.iter().zip(rows.list(4)).enumerate() {
                if self.selection.from.is_some_and(|from| at < from)
                    || self.selection.to.is_some_and(|to| at >= to)
                {
                    continue;
                }
                let name = format!("{}: {} {} {}", chain.name, n + 1, step.action, step.entity);
                let row = self.tracks.row(Group::Chains, &name, TrackKind::Other, "", packets)?;
                let last = n + 1 == chain.steps.len();
                let through = if last { Flow::To(flow) } else { Flow::Through(flow) };
                packets.instant(row.track, at, &name, &[], Some(through))?;
            }
        }
        Ok(())
    }
}
