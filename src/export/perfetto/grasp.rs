//! What Grasp traces add to BTF: budgets of servers and levels of buffers as counters, messages as instants.

use super::Export;
use super::packets::{Argument, TrackKind, Value};
use super::tracks::Group;
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::schema::tables;

impl Export<'_, '_> {
    pub(super) fn grasp(&mut self) -> Result<()> {
        let has_grasp = self.session.database().has(tables::GRASP_EVENT, self.recording)?;
        if !has_grasp || !self.selection.types.is_empty() {
            return Ok(());
        }
        self.budgets()?;
        self.levels()?;
        self.messages()
    }

    /// A value at the begin of every span, and one at its end if the budget has fallen in between.
    fn budgets(&mut self) -> Result<()> {
        let condition = self.selection.overlap(self.recording, ("begin_at", "begin_at"), &["name"], &[]);
        let select = "SELECT name, begin_at, end_at, begin_budget, end_budget FROM server_budget";
        let rows = condition.rows(self.session, select, "ORDER BY name, begin_at, line")?;
        let mut rows = Cursor::new(rows);
        while rows.next()? {
            let packets = &mut self.packets;
            let row = self.tracks.row(Group::Servers, rows.name(0), TrackKind::Counter, "", packets)?;
            let (begin, end) = (rows.int(3).unwrap_or(0), rows.int(4).unwrap_or(0));
            packets.counter(row.track, rows.int(1).unwrap_or(0), Value::Int(begin))?;
            let at = rows.int(2).filter(|at| self.selection.to.is_none_or(|to| *at < to));
            if let Some(at) = at.filter(|_| begin != end) {
                packets.counter(row.track, at, Value::Int(end))?;
            }
        }
        Ok(())
    }

    fn levels(&mut self) -> Result<()> {
        let condition = self.selection.overlap(self.recording, ("begin_at", "begin_at"), &["name"], &[]);
        let select = "SELECT name, begin_at, level FROM buffer_level";
        let rows = condition.rows(self.session, select, "ORDER BY name, begin_at, line")?;
        let mut rows = Cursor::new(rows);
        while rows.next()? {
            let packets = &mut self.packets;
            let row = self.tracks.row(Group::Buffers, rows.name(0), TrackKind::Counter, "", packets)?;
            packets.counter(row.track, rows.int(1).unwrap_or(0), Value::Int(rows.int(2).unwrap_or(0)))?;
        }
        Ok(())
    }

    fn messages(&mut self) -> Result<()> {
        let condition = self.selection.overlap(self.recording, ("time", "time"), &["task", "job"], &[]);
        let select = "SELECT event, time, message, task, job FROM grasp_message";
        let rows = condition.rows(self.session, select, "AND time IS NOT NULL ORDER BY time, line")?;
        let mut rows = Cursor::new(rows);
        while rows.next()? {
            let packets = &mut self.packets;
            let row = self.tracks.row(Group::Others, rows.name(0), TrackKind::Other, "", packets)?;
            let name = rows.text(2).filter(|text| !text.is_empty()).unwrap_or(rows.name(0));
            let args = [(3, "task"), (4, "job")].map(|(n, key)| Some(Argument::Name(key, rows.text(n)?)));
            let args: Vec<_> = args.into_iter().flatten().collect();
            packets.instant(row.track, rows.int(1).unwrap_or(0), name, &args, None)?;
        }
        Ok(())
    }
}
