//! CONTRIBUTING.md says how a mapper is added: a type that implements `Mapper` and a line in the list. This
//! is that, with a list of its own: every function is a task, which runs from its entry to its exit. For
//! recordings of one core.

use super::*;
use crate::btf::Event;
use crate::btf::spec::{Action, EntityType};
use crate::map::Finished;
use crate::schema::{BtfEventView, FunctionEventRow, FunctionEventView};
use std::collections::HashMap;

#[derive(Default)]
struct FunctionMapper {
    names: Names,
    core: String,
    range: (i64, i64),
    /// How often each function began.
    begun: HashMap<String, i64>,
    out: Vec<Output>,
}

impl Mapper for FunctionMapper {
    const NAME: &'static str = "functions";
    const STATE_VERSION: u32 = 1;
    const TABLES: &'static [&'static TableSpec] = &[tables::FUNCTION_EVENT];
    const LOOK_AHEADS: usize = 0;
    const TELLS_ACTIVATIONS: bool = false;

    type Settings = ();
    type Event<'a> = FunctionEventRow<'a>;
    type NativeRows = ();
    type State = ();

    fn new((): (), recording: &Recording<'_>) -> Result<Self> {
        Ok(Self { range: (recording.begin, recording.end), ..Self::default() })
    }

    fn resume(&mut self, (): ()) -> Result<()> {
        Ok(())
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        _pass: usize,
        mut take: impl FnMut(&mut Self, &FunctionEventRow<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for core in rows.cores(tables::FUNCTION_EVENT) {
            self.core.clone_from(&core);
            for batch in rows.read(tables::FUNCTION_EVENT, Some(core), FunctionEventView::COLUMNS, Ok) {
                let batch = batch?;
                for row in FunctionEventView::of(&batch)?.rows() {
                    if take(self, &row)?.is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn time_of(event: &FunctionEventRow<'_>) -> i64 {
        event.time
    }

    fn look_ahead(&mut self, _pass: usize, _event: &FunctionEventRow<'_>) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end_look_ahead(&mut self, _pass: usize) {}

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, event: &FunctionEventRow<'_>) {
        let function = event.function.text();
        let begun = self.begun.entry(function.to_owned()).or_default();
        let action = match event.kind.text() {
            "entry" => {
                *begun += 1;
                Action::Start
            }
            "exit" if *begun > 0 => Action::Terminate,
            _ => return,
        };
        self.out.push(Output::Event(Event {
            time: event.time,
            source: self.names.intern(&self.core),
            source_instance: 0,
            target_type: EntityType::Task,
            target: self.names.intern(function),
            target_instance: *begun - 1,
            action,
            note: Note::None,
        }));
    }

    fn gap(&mut self, _gap: &Gap) {}

    fn names(&self) -> &Names {
        &self.names
    }

    fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        (self.out.len() >= at_least).then(|| std::mem::take(&mut self.out))
    }

    fn finish(&mut self) -> Finished<Self> {
        let outputs = std::mem::take(&mut self.out);
        Finished { relevant: outputs.len() as u64, outputs, rows: (), log: Log::default(), state: () }
    }
}

/// The one line.
const WITH_FUNCTIONS: &[MapperEntry] = &[MapperEntry::of::<QnxMapper>(), MapperEntry::of::<FunctionMapper>()];

#[test]
fn a_mapper_is_a_type_and_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let name = stored(&path, "tests/data/osek/runnables");
    let control = Arc::new(Control::default());
    let mut tx = Database::begin(Arc::new(RealDisk), &path, None).unwrap();
    MappingSetup::new(Some(FunctionMapper::NAME), &()).unwrap().write(&mut tx, &name).unwrap();
    // Others do not know it.
    let e = map_stored(MAPPERS, &mut tx, &name, MapOptions::default(), &control).unwrap_err();
    assert!(e.to_string().contains("unknown mapper, 'functions'"), "{e}");
    let report = map_stored(
        WITH_FUNCTIONS,
        &mut tx,
        &name,
        MapOptions { threads: 2, ..MapOptions::default() },
        &control,
    )
    .unwrap()
    .unwrap();
    tx.commit().unwrap();

    let db = Database::open(&path).unwrap();
    let mut events = Vec::new();
    for file in db.files(tables::BTF_EVENT, Some(&name)).unwrap() {
        for batch in read_batches(&db.place_of(&file), tables::BTF_EVENT, None, 1024).unwrap() {
            let batch = batch.unwrap();
            let rows = BtfEventView::of(&batch).unwrap();
            events.extend(rows.rows().map(|e| format!("{} {}", e.target.text(), e.action.text())));
        }
    }
    assert_eq!(report.events, events.len() as u64);
    let nested =
        ["R_OUT start", "R_IN start", "helper start", "R_B start", "R_B terminate", "helper terminate"];
    assert_eq!(events[..2], ["R_INIT start", "R_INIT terminate"]);
    assert_eq!(events[2..8], nested);
    assert!(db.has(tables::PROCESS_INSTANCE, name.as_str()).unwrap());
}
