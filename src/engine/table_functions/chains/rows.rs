//! Events of a recording as rows of `chains()` and `chain_latencies()`. Not for what follows from what (see
//! [`crate::chain`]).

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Builder, ListBuilder, RecordBatch, StringViewBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result};

use super::{GAP, HOME, What};
use crate::btf::spec::is_on_core;
use crate::btf::{Action, EntityType};
use crate::chain::{
    Cause, Chain, ChainStep, Ends, Event, Follower, Latency, Link, Links, Occurrence, Outcome,
};
use crate::engine::time_columns::time_column;
use crate::schema::result::{self, Integers, Texts};

/// The columns, as `queries/chains/chain_instance.sql` and `chain_latency.sql` describe them; those of ways
/// also have the entities of the first and the last step of the chain.
pub(super) fn schema(what: What) -> SchemaRef {
    let text = |name| Field::new(name, DataType::Utf8View, false);
    let time = |name, null| time_column(&Field::new(name, DataType::Int64, null));
    let columns = match what {
        What::Ways => vec![
            text("recording"),
            text("chain"),
            time("begin_at", false),
            time("end_at", true),
            time("age", true),
            time("reaction", true),
            text("outcome"),
            Field::new("step_at", DataType::new_list(DataType::Int64, true), false),
            text("first_entity"),
            text("last_entity"),
        ],
        What::Latencies => vec![
            text("recording"),
            text("chain"),
            text("definition"),
            time("begin_at", false),
            time("end_at", false),
            time("latency", true),
        ],
    };
    Arc::new(Schema::new(columns))
}

/// Events of a recording → rows.
pub(super) struct Rows {
    recording: String,
    chains: Arc<[Chain]>,
    /// By entity, the steps that happen to it: of each chain the last one first.
    steps: HashMap<String, Vec<(usize, usize)>>,
    followers: Vec<Follower>,
    /// Of each chain, until when a gap hides some of its steps.
    hidden_until: Vec<i64>,
    /// The cores that entities were seen on, if the recording has gaps.
    homes: HashMap<String, Vec<String>>,
    links: Links,
    found: Vec<(usize, Occurrence)>,
    /// One for each chain, if latencies are wanted.
    ends: Vec<Ends>,
    latencies: Vec<(usize, Latency)>,
    what: What,
}

struct Columns {
    time: Integers,
    target_type: Texts,
    target: Texts,
    target_instance: Integers,
    action: Texts,
    source: Texts,
    source_instance: Integers,
}

impl Rows {
    pub fn new(recording: &str, chains: &Arc<[Chain]>, what: What) -> Self {
        let follower = |chain: &Chain| Follower::new(chain.steps.iter().map(|s| s.instance).collect());
        let mut steps: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        for (i, chain) in chains.iter().enumerate() {
            for (step, wanted) in chain.steps.iter().enumerate().rev() {
                steps.entry(wanted.entity.clone()).or_default().push((i, step));
            }
        }
        let ends = if what == What::Latencies { chains.len() } else { 0 };
        Self {
            recording: recording.to_owned(),
            chains: Arc::clone(chains),
            steps,
            followers: chains.iter().map(follower).collect(),
            hidden_until: vec![i64::MIN; chains.len()],
            homes: HashMap::new(),
            links: Links::default(),
            found: Vec::new(),
            ends: vec![Ends::default(); ends],
            latencies: Vec::new(),
            what,
        }
    }

    /// The rows that the next events make.
    pub fn follow(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = Columns::of(batch)?;
        for row in 0..batch.num_rows() {
            let (time, event) = (columns.time.value(row), columns.link(row));
            match columns.target_type.value(row) {
                GAP => {
                    self.gap(columns.target.get(row), columns.target_instance.value(row));
                    continue;
                }
                HOME => {
                    let cores = self.homes.entry(columns.target.value(row).to_owned()).or_default();
                    cores.push(columns.source.value(row).to_owned());
                    continue;
                }
                _ => self.link(&columns, row),
            }
            let steps = self.steps.get(columns.target.value(row)).map_or(&[][..], Vec::as_slice);
            for (i, step) in steps.iter().copied() {
                let (Some(chain), Some(follower)) = (self.chains.get(i), self.followers.get_mut(i)) else {
                    continue;
                };
                let Some(wanted) = chain.steps.get(step).filter(|wanted| columns.is(row, wanted)) else {
                    continue;
                };
                if self.hidden_until.get(i).is_some_and(|end| time < *end) {
                    // What follows from it, and from what it follows, may be hidden.
                    let open = |begin| Occurrence {
                        begin,
                        times: vec![begin],
                        reaction: None,
                        outcome: Outcome::Open,
                    };
                    self.found.extend((step == 0).then(|| (i, open(time))));
                    continue;
                }
                let before = step.checked_sub(1).and_then(|before| chain.steps.get(before));
                let cause = before.map_or(Cause::Latest, |before| self.links.cause(before, wanted, event));
                let next = chain.steps.get(step + 1).filter(|next| wanted.may_be_named_by(next));
                let instance = event.target.1.filter(|_| next.is_some());
                let (process, overlaps) = (event.process, event.overlaps);
                if let (0, Some(ends)) = (step, self.ends.get_mut(i)) {
                    ends.stimulus(time);
                }
                let mut found = Vec::new();
                follower.push(Event { step, time, process, instance, overlaps, cause }, &mut found);
                self.found.extend(found.into_iter().map(|o| (i, o)));
            }
            self.measure();
        }
        self.batch()
    }

    /// Learns what the event says of the causes of others.
    fn link(&mut self, columns: &Columns, row: usize) {
        let (source, target) = (&columns.source, &columns.target);
        let source = source.get(row).zip(columns.source_instance.get(row));
        let target = target.get(row).zip(columns.target_instance.get(row));
        let (Some(source), Some(target)) = (source, target) else { return };
        match Action::parse_tolerant(columns.action.value(row)) {
            Some(Action::Activate) => self.links.activation(source, target, false),
            Some(Action::Trigger) => self.links.trigger(source, target),
            Some(Action::MtaLimitExceeded) => {
                self.links.activation(source, target, true);
                for (i, (chain, follower)) in self.chains.iter().zip(&mut self.followers).enumerate() {
                    for (step, _) in chain.steps.iter().enumerate().filter(|(_, s)| s.entity == source.0) {
                        let mut found = Vec::new();
                        follower.refuse(step, source.1, &mut found);
                        self.found.extend(found.into_iter().map(|o| (i, o)));
                    }
                }
            }
            _ => {}
        }
    }

    /// The rows that the end of the recording makes.
    pub fn end(&mut self) -> Result<RecordBatch> {
        (0..self.followers.len()).for_each(|i| self.cut(i));
        self.batch()
    }

    /// A gap of a core, or of all, until a time.
    fn gap(&mut self, core: Option<&str>, end: i64) {
        for i in 0..self.followers.len() {
            if self.is_hidden(i, core) {
                self.cut(i);
                let until = self.hidden_until.get_mut(i).into_iter();
                until.for_each(|until| *until = end.max(*until));
            }
        }
    }

    /// Whether some of the steps of a chain may happen on a core.
    fn is_hidden(&self, chain: usize, core: Option<&str>) -> bool {
        let (Some(core), Some(chain)) = (core, self.chains.get(chain)) else { return true };
        chain.steps.iter().any(|step| {
            let moves = Action::parse_tolerant(&step.action).is_some_and(is_on_core);
            let who = if moves { Some(&step.entity) } else { step.source.as_ref() };
            // Who was seen on no core may be on any: also what is no process.
            let cores = who.and_then(|who| self.homes.get(who));
            cores.is_none_or(|cores| cores.iter().any(|home| home == core))
        })
    }

    /// Ends all ways of a chain.
    fn cut(&mut self, chain: usize) {
        let mut found = Vec::new();
        self.followers.get_mut(chain).into_iter().for_each(|follower| follower.cut(&mut found));
        self.found.extend(found.into_iter().map(|way| (chain, way)));
        self.measure();
        self.ends.get_mut(chain).into_iter().for_each(Ends::cut);
    }

    /// Ways → latencies, if these are wanted.
    fn measure(&mut self) {
        if self.what == What::Ways {
            return;
        }
        for (i, way) in self.found.drain(..) {
            let is_response = matches!(way.outcome, Outcome::Used | Outcome::Repeated);
            let (Some(ends), Some(end)) = (self.ends.get_mut(i), way.times.last()) else { continue };
            if is_response {
                let mut latencies = Vec::new();
                ends.response(way.begin, *end, &mut latencies);
                self.latencies.extend(latencies.into_iter().map(|latency| (i, latency)));
            }
        }
    }

    /// The rows since the last time.
    fn batch(&mut self) -> Result<RecordBatch> {
        let columns = match self.what {
            What::Ways => self.ways(),
            What::Latencies => self.latencies(),
        };
        Ok(RecordBatch::try_new(schema(self.what), columns)?)
    }

    fn latencies(&mut self) -> Vec<ArrayRef> {
        let [mut recordings, mut chains, mut definitions] = [(); 3].map(|()| StringViewBuilder::new());
        let [mut begins, mut ends, mut latencies] = [(); 3].map(|()| Int64Builder::new());
        for (i, Latency { of, begin, end }) in self.latencies.drain(..) {
            recordings.append_value(&self.recording);
            chains.append_value(self.chains.get(i).map_or("", |chain| &chain.name));
            definitions.append_value(of.as_str());
            begins.append_value(begin);
            ends.append_value(end);
            latencies.append_option(end.checked_sub(begin));
        }
        vec![
            Arc::new(recordings.finish()),
            Arc::new(chains.finish()),
            Arc::new(definitions.finish()),
            Arc::new(begins.finish()),
            Arc::new(ends.finish()),
            Arc::new(latencies.finish()),
        ]
    }

    fn ways(&mut self) -> Vec<ArrayRef> {
        let found = std::mem::take(&mut self.found);
        let (mut recordings, mut chains) = (StringViewBuilder::new(), StringViewBuilder::new());
        let (mut outcomes, mut steps) = (StringViewBuilder::new(), ListBuilder::new(Int64Builder::new()));
        let (mut firsts, mut lasts) = (StringViewBuilder::new(), StringViewBuilder::new());
        let [mut begins, mut ends, mut ages, mut reactions] = [(); 4].map(|()| Int64Builder::new());
        for (i, occurrence) in &found {
            recordings.append_value(&self.recording);
            let chain = self.chains.get(*i);
            chains.append_value(chain.map_or("", |c| &c.name));
            firsts.append_value(chain.and_then(|c| c.steps.first()).map_or("", |step| &step.entity));
            lasts.append_value(chain.and_then(|c| c.steps.last()).map_or("", |step| &step.entity));
            begins.append_value(occurrence.begin);
            let end = occurrence.times.last().filter(|_| occurrence.times.len() > 1);
            ends.append_option(end.copied());
            ages.append_option(end.map(|end| end - occurrence.begin));
            reactions.append_option(occurrence.reaction);
            outcomes.append_value(occurrence.outcome.as_str());
            steps.append_value(occurrence.times.iter().copied().map(Some));
        }
        vec![
            Arc::new(recordings.finish()),
            Arc::new(chains.finish()),
            Arc::new(begins.finish()),
            Arc::new(ends.finish()),
            Arc::new(ages.finish()),
            Arc::new(reactions.finish()),
            Arc::new(outcomes.finish()),
            Arc::new(steps.finish()),
            Arc::new(firsts.finish()),
            Arc::new(lasts.finish()),
        ]
    }
}

impl Columns {
    /// The columns of [`events_of`](super::events_of), in its order.
    fn of(batch: &RecordBatch) -> Result<Self> {
        type Row = ([Integers; 2], [Texts; 2], Integers, [Texts; 2], Integers);
        let columns = result::columns::<Row>(batch).map_err(|e| DataFusionError::External(Box::new(e)))?;
        let ([time, _], [target_type, target], target_instance, [action, source], source_instance) = columns;
        Ok(Self { time, target_type, target, target_instance, action, source, source_instance })
    }

    fn is(&self, row: usize, step: &ChainStep) -> bool {
        self.target.value(row) == step.entity
            && Action::same(self.action.value(row), &step.action)
            && step.source.as_deref().is_none_or(|source| self.source.value(row) == source)
    }

    /// Who an event is about, and who causes it.
    fn link(&self, row: usize) -> Link<'_> {
        let kind = EntityType::parse_tolerant(self.target_type.value(row));
        let is_process = kind.is_some_and(EntityType::is_process);
        let (target, source) = (self.target.value(row), self.source.value(row));
        let (of_target, of_source) = (self.target_instance.get(row), self.source_instance.get(row));
        let (name, instance) = if is_process { (target, of_target) } else { (source, of_source) };
        let has_instances = is_process || kind == Some(EntityType::Stimulus);
        Link {
            target: (target, of_target.filter(|_| has_instances)),
            source: (source, of_source),
            overlaps: kind == Some(EntityType::Isr),
            process: instance.map(|instance| (name, instance)),
        }
    }
}
