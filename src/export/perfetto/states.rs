//! The states of tasks and ISRs, on their own tracks and on those of their cores. Not for other slices.

use super::packets::{Argument, Flow, TrackKind};
use super::tracks::Group;
use super::{Export, activation, cut};
use crate::btf::spec::{EntityType, State};
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::schema::columns::{process_instance as instance, process_state as state};

impl Export<'_, '_> {
    pub(super) fn states(&mut self) -> Result<()> {
        let cores = self.wants(EntityType::Core);
        if !cores && !self.wants(EntityType::Task) && !self.wants(EntityType::Isr) {
            return Ok(());
        }
        let of = |column| [column, state::CORE];
        let entities = of(state::PROCESS);
        let types: &[&str] = if cores { &[] } else { &[state::TYPE] };
        let condition =
            self.selection.overlap(self.recording, (state::BEGIN_AT, state::END_AT), &entities, types);
        // The stored order is that of their ends, so that no sort is needed.
        let select = "SELECT process, type, instance, core, state, begin_at, end_at, idle FROM process_state";
        let rows = condition.rows(self.session, select, &format!("ORDER BY {}", state::END_AT))?;
        let mut rows = Cursor::new(rows);
        let sql = format!(
            "SELECT process, type, instance, {0} FROM process_instance \
             WHERE recording = $recording AND {0} IS NOT NULL ORDER BY {0}",
            instance::TERMINATE_AT,
        );
        let mut ends = Cursor::new(self.session.sql(&sql, &[("recording", self.recording.into())])?);
        let mut more = ends.next()?;
        while rows.next()? {
            let (begin, end) = (rows.int(5).unwrap_or(0), rows.int(6).unwrap_or(0));
            while more && ends.int(3).is_some_and(|at| at <= begin) {
                let kind = EntityType::parse_tolerant(ends.name(1)).unwrap_or(EntityType::Task);
                let thread = self.tracks.known_thread(kind, ends.name(0));
                if let (Some(thread), Some(instance)) = (thread, ends.int(2)) {
                    thread.states.leave(instance);
                }
                more = ends.next()?;
            }
            let (begin, end) = cut(self.selection, begin, end);
            self.state(
                (rows.name(0), rows.name(1), rows.int(2).unwrap_or(0)),
                (rows.text(3), rows.int(7) == Some(1)),
                rows.name(4),
                (begin, end),
            )?;
        }
        Ok(())
    }

    /// Activations without an event of their own: in dialects, and in traces that do not count instances.
    pub(super) fn activations(&mut self) -> Result<()> {
        let (at, entities) = (instance::ACTIVATE_AT, [instance::PROCESS]);
        let condition = self.selection.overlap(self.recording, (at, at), &entities, &[instance::TYPE]);
        let select = format!("SELECT process, type, instance, {at} FROM process_instance");
        let rest = format!("AND {at} IS NOT NULL ORDER BY {at}, process, instance");
        let mut rows = Cursor::new(condition.rows(self.session, &select, &rest)?);
        let mut text = String::new();
        while rows.next()? {
            let kind = EntityType::parse_tolerant(rows.name(1)).unwrap_or(EntityType::Task);
            let thread = self.tracks.thread(kind, rows.name(0), &mut self.packets)?;
            if thread.activated {
                continue;
            }
            let instance = rows.int(2).unwrap_or(0);
            text.clear();
            text.push_str("activate ");
            text.push_str(rows.name(0));
            let args = [Argument::Int("instance", instance)];
            let flow = Some(Flow::Through(activation(thread.number, instance)));
            self.packets.instant(thread.track, rows.int(3).unwrap_or(0), &text, &args, flow)?;
        }
        Ok(())
    }

    fn state(
        &mut self,
        (process, ty, instance): (&str, &str, i64),
        (core, idle): (Option<&str>, bool),
        state: &str,
        (begin, end): (i64, i64),
    ) -> Result<()> {
        let kind = EntityType::parse_tolerant(ty).unwrap_or(EntityType::Task);
        let running = state == State::Running.as_str();
        let polling = state == State::Polling.as_str();
        let packets = &mut self.packets;
        let own = self.selection.types.is_empty()
            || self.selection.types.iter().any(|word| EntityType::parse_tolerant(word) == Some(kind));
        if own {
            let thread = self.tracks.thread(kind, process, packets)?;
            let placed = thread.states.place_instance(instance, running, (begin, end), packets)?;
            let (track, starts) = placed;
            let flow = starts.then(|| Flow::To(activation(thread.number, instance)));
            let mut args = vec![Argument::Int("instance", instance)];
            args.extend(core.map(|core| Argument::Name("core", core)));
            packets.begin(track, begin, state, &args, flow)?;
            packets.end(track, end)?;
        }
        // A core with an idle task on it is idle.
        if let Some(core) = core.filter(|_| (running || polling) && !idle) {
            let row = self.tracks.row(Group::Cores, core, TrackKind::Other, "gaps", packets)?;
            let track = row.slices.place((begin, end), packets)?;
            let args = [Argument::Int("instance", instance), Argument::Name("state", state)];
            packets.begin(track, begin, process, &args, None)?;
            packets.end(track, end)?;
        }
        Ok(())
    }
}
