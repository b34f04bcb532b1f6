//! The tables of an aligned recording that are not copies: clocks, their bounds and messages, entities and
//! their control units, sources, and the gaps before and after the recording of a unit.

use super::ecu::Ecu;
use super::sightings::RuleMessage;
use crate::btf::EntityType;
use crate::clocks::Fate;
use crate::error::Result;
use crate::ops::parts::ROWS_OUT;
use crate::schema::{
    BtfEventRow, BtfEventRows, ClockBoundRow, ClockBoundRows, ClockMessageRow, ClockMessageRows, ClockRow,
    ClockRows, DiagnosticRow, DiagnosticRows, DiagnosticView, EcuEntityRow, EcuEntityRows, EntityRow,
    EntityRows, EntityView, GapRow, GapRows, GapView, SourceRow, SourceRows, tables,
};
use crate::store::{Transaction, read_batches};
use arrow::array::RecordBatch;

/// The environment, as BTF 2.1.5 calls it.
const ENVIRONMENT: &str = "SIM";
/// `gap.reason` of the time in which a control unit was not recorded.
const NOT_RECORDED: &str = "not_recorded";
/// `source.format` of the recordings that an aligned one is made of.
const FORMAT: &str = "recording";

/// The tags that say which cores a control unit has: each belongs to the last unit before it (BTF 2.1.5, tags
/// of the environment). Nothing is known of its processors.
pub(super) fn hierarchy(ecus: &[Ecu<'_>], spans: &[(i64, i64)]) -> Result<RecordBatch> {
    let begin = ecus.iter().zip(spans).map(|(ecu, span)| ecu.clock.aligned(span.0)).min();
    let mut rows = BtfEventRows::new();
    let mut seq = 0;
    let mut tag = |source: &str, note: &str| {
        let (target, target_type, action) = (ENVIRONMENT.into(), ENVIRONMENT.into(), "tag".into());
        let (source, note, time) = (source.into(), Some(note.into()), begin.unwrap_or(0));
        let (source_instance, target_instance) = (Some(-1), Some(-1));
        rows.push(BtfEventRow {
            time,
            seq,
            source,
            source_instance,
            target_type,
            target,
            target_instance,
            action,
            note,
        });
        seq += 1;
    };
    for ecu in ecus {
        tag(ecu.name, "ECU_INIT");
        for core in ecu.cores() {
            tag(&core, "CORE_INIT");
        }
    }
    rows.take_batch()
}

pub(super) fn write(
    tx: &mut Transaction,
    ecus: &[Ecu<'_>],
    messages: &[RuleMessage],
    into: &str,
) -> Result<()> {
    write_entities(tx, ecus, into)?;
    let spans = ecus.iter().map(|ecu| {
        let recording = tx.recording(ecu.recording)?.unwrap_or_default();
        Ok((recording.begin_at.unwrap_or(0), recording.end_at.unwrap_or(0)))
    });
    let spans = spans.collect::<Result<Vec<(i64, i64)>>>()?;
    write_gaps(tx, ecus, &spans, into)?;
    write_clocks(tx, ecus, &spans, messages, into)?;
    write_messages(tx, ecus, messages, into)?;
    let mut sources = SourceRows::new();
    for (ecu, span) in ecus.iter().zip(&spans) {
        let events =
            tx.files(tables::BTF_EVENT, ecu.recording)?.iter().map(|(file, _)| file.rows).sum::<u64>() as i64;
        sources.push(SourceRow {
            source: ecu.name.into(),
            path: ecu.recording,
            format: FORMAT.into(),
            core: None,
            bytes: 0,
            digest: None,
            records: events,
            rows: events,
            rejected: 0,
            skipped: 0,
            gaps: 0,
            inexact_times: 0,
            backwards: 0,
            first_at: Some(ecu.clock.aligned(span.0)),
            last_at: Some(ecu.clock.aligned(span.1)),
        });
    }
    tx.put_rows(tables::SOURCE, into, &[sources.take_batch()?])
}

/// What was found in the recordings of the control units: what makes their results doubtful does so here,
/// too.
pub(super) fn diagnostics(tx: &Transaction, ecus: &[Ecu<'_>]) -> Result<RecordBatch> {
    let mut rows = DiagnosticRows::new();
    for ecu in ecus {
        for (_, place) in tx.files(tables::DIAGNOSTIC, ecu.recording)? {
            for batch in read_batches(&place, tables::DIAGNOSTIC, None, ROWS_OUT)? {
                let batch = batch?;
                for row in DiagnosticView::of(&batch)?.rows() {
                    let source = format!("{}: {}", ecu.name, row.source.text());
                    rows.push(DiagnosticRow { source: source.as_str().into(), ..row });
                }
            }
        }
    }
    rows.take_batch()
}

/// All entities, and the control units, as entities.
fn write_entities(tx: &mut Transaction, ecus: &[Ecu<'_>], into: &str) -> Result<()> {
    let mut batches = Vec::new();
    for (n, ecu) in ecus.iter().enumerate() {
        for (_, place) in tx.files(tables::ENTITY, ecu.recording)? {
            for batch in read_batches(&place, tables::ENTITY, None, ROWS_OUT)? {
                batches.push((n, batch?));
            }
        }
    }
    let views = batches.iter().map(|(n, batch)| Ok((*n, EntityView::of(batch)?)));
    let views = views.collect::<Result<Vec<_>>>()?;
    let mut rows: Vec<(String, String, usize, EntityRow<'_>)> = Vec::new();
    for (n, view) in &views {
        let Some(ecu) = ecus.get(*n) else { continue };
        let named =
            |row: EntityRow<'_>| (row.r#type.text().to_owned(), ecu.entity(row.entity.text()).into_owned());
        for row in view.rows() {
            let (ty, entity) = named(row);
            rows.push((ty, entity, *n, row));
        }
    }
    rows.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let (mut entities, mut of_ecus) = (EntityRows::new(), Vec::new());
    let units = ecus.iter().map(|ecu| (EntityType::Ecu.as_str(), ecu.name));
    let mut units: Vec<_> = units.collect();
    units.sort_unstable();
    let push_unit = |entities: &mut EntityRows, name: &str| {
        entities.push(EntityRow {
            entity: name.into(),
            r#type: EntityType::Ecu.as_str().into(),
            core: None,
            priority: None,
            activation_limit: None,
            period: None,
            cycle: None,
            preemption: None,
            mask: None,
            process: None,
            idle: false,
            occurs: true,
            file: None,
        });
    };
    let mut units = units.into_iter().peekable();
    for (ty, entity, n, row) in &rows {
        while let Some((_, name)) =
            units.next_if(|(unit, name)| (*unit, *name) < (ty.as_str(), entity.as_str()))
        {
            push_unit(&mut entities, name);
        }
        let Some(ecu) = ecus.get(*n) else { continue };
        let other =
            |name: Option<crate::names::Name<'_>>| name.map(|name| ecu.entity(name.text()).into_owned());
        let (core, process) = (other(row.core), other(row.process));
        entities.push(EntityRow {
            entity: entity.as_str().into(),
            core: core.as_deref().map(Into::into),
            process: process.as_deref().map(Into::into),
            ..*row
        });
        of_ecus.push((ecu.name, ty.as_str(), entity.as_str(), row.entity.text()));
    }
    units.for_each(|(_, name)| push_unit(&mut entities, name));
    let entities = entities.take_batch()?;
    of_ecus.sort_unstable();
    let mut of = EcuEntityRows::new();
    for (ecu, ty, entity, original) in of_ecus {
        of.push(EcuEntityRow {
            ecu: ecu.into(),
            r#type: ty.into(),
            entity: entity.into(),
            original: original.into(),
        });
    }
    tx.put_rows(tables::ENTITY, into, &[entities])?;
    tx.put_rows(tables::ECU_ENTITY, into, &[of.take_batch()?])
}

/// The gaps of all control units: one of a whole recording is one of each core of its unit. Where others were
/// recorded, and a unit was not, nothing is known of its cores, either.
fn write_gaps(tx: &mut Transaction, ecus: &[Ecu<'_>], spans: &[(i64, i64)], into: &str) -> Result<()> {
    let aligned: Vec<_> = ecus
        .iter()
        .zip(spans)
        .map(|(ecu, span)| (ecu.clock.aligned(span.0), ecu.clock.aligned(span.1)))
        .collect();
    let (begin, end) = (aligned.iter().map(|span| span.0).min(), aligned.iter().map(|span| span.1).max());
    let (begin, end) = (begin.unwrap_or(0), end.unwrap_or(0));
    let mut gaps = Vec::new();
    for (ecu, span) in ecus.iter().zip(&aligned) {
        let cores: Vec<String> = ecu.cores().collect();
        for core in &cores {
            let not_recorded = [(begin, span.0), (span.1, end)];
            let not_recorded = not_recorded.into_iter().filter(|(from, to)| from < to);
            gaps.extend(
                not_recorded.map(|(from, to)| (from, to, Some(core.clone()), NOT_RECORDED.to_owned())),
            );
        }
        for (_, place) in tx.files(tables::GAP, ecu.recording)? {
            for batch in read_batches(&place, tables::GAP, None, ROWS_OUT)? {
                let batch = batch?;
                for row in GapView::of(&batch)?.rows() {
                    let of = match row.core {
                        Some(core) => vec![Some(ecu.entity(core.text()).into_owned())],
                        None if cores.is_empty() => vec![None],
                        None => cores.iter().cloned().map(Some).collect(),
                    };
                    let [from, to] = [row.begin_at, row.end_at].map(|at| ecu.clock.aligned(at));
                    gaps.extend(of.into_iter().map(|core| (from, to, core, row.reason.text().to_owned())));
                }
            }
        }
    }
    gaps.sort_unstable();
    let mut rows = GapRows::new();
    for (begin_at, end_at, core, reason) in &gaps {
        let (begin_at, end_at, core) = (*begin_at, *end_at, core.as_deref().map(Into::into));
        rows.push(GapRow { core, begin_at, end_at, reason: reason.as_str().into() });
    }
    tx.put_rows(tables::GAP, into, &[rows.take_batch()?])
}

fn write_clocks(
    tx: &mut Transaction,
    ecus: &[Ecu<'_>],
    spans: &[(i64, i64)],
    messages: &[RuleMessage],
    into: &str,
) -> Result<()> {
    let (mut clocks, mut bounds) = (ClockRows::new(), ClockBoundRows::new());
    // Rates of table `clock` are in parts per 10^12.
    let parts = |rate: f64| (rate * 1e12).round() as i64;
    for (n, (ecu, span)) in ecus.iter().zip(spans).enumerate() {
        let clock = &ecu.clock;
        let used = messages.iter().filter(|of| of.message.fate == Fate::Used && of.is_of(n));
        clocks.push(ClockRow {
            ecu: ecu.name.into(),
            of_recording: ecu.recording.into(),
            model: clock.model.as_str().into(),
            begin_at: clock.aligned(span.0),
            end_at: clock.aligned(span.1),
            local_begin: span.0,
            local_end: span.1,
            drift: parts(clock.rate),
            least_drift: parts(clock.rates.0),
            most_drift: parts(clock.rates.1),
            wander: parts(clock.wander),
            proven_wander: parts(clock.proven_wander),
            messages: used.count() as i64,
        });
        for bound in clock.bounds() {
            bounds.push(ClockBoundRow {
                ecu: ecu.name.into(),
                time: bound.from,
                local: bound.local,
                early: bound.early,
                late: bound.late,
            });
        }
    }
    tx.put_rows(tables::CLOCK, into, &[clocks.take_batch()?])?;
    tx.put_rows(tables::CLOCK_BOUND, into, &[bounds.take_batch()?])
}

fn write_messages(
    tx: &mut Transaction,
    ecus: &[Ecu<'_>],
    messages: &[RuleMessage],
    into: &str,
) -> Result<()> {
    let mut rows = ClockMessageRows::new();
    let of = |side: Option<(usize, i64)>| {
        let (clock, time) = side?;
        let ecu = ecus.get(clock)?;
        let aligned = ecu.clock.aligned(time);
        Some((ecu.name, aligned, ecu.clock.bound(aligned)))
    };
    for RuleMessage { rule, message, within } in messages {
        let (sent, received) = (of(message.sent), of(message.received));
        let both = sent.zip(received);
        // The clock of the sender may be late where that of the receiver is early.
        let latency = both.map(|((_, sent, from), (_, received, to))| {
            let latency = received.saturating_sub(sent);
            let least = latency.saturating_sub(from.late).saturating_sub(to.early);
            let most = latency.saturating_add(from.early).saturating_add(to.late);
            // No message is received before it is sent.
            let least = if *within == 0 && most >= 0 { least.max(0) } else { least };
            (latency, least, most)
        });
        rows.push(ClockMessageRow {
            rule: (&**rule).into(),
            key: &message.key,
            fate: message.fate.as_str().into(),
            sender: sent.map(|(name, ..)| name.into()),
            sent_at: sent.map(|(_, time, _)| time),
            receiver: received.map(|(name, ..)| name.into()),
            received_at: received.map(|(_, time, _)| time),
            latency: latency.map(|(latency, ..)| latency),
            least_latency: latency.map(|(_, least, _)| least),
            most_latency: latency.map(|(.., most)| most),
        });
    }
    tx.put_rows(tables::CLOCK_MESSAGE, into, &[rows.take_batch()?])
}
