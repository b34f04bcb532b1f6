//! Columns of results: two of one name, and ORDER BY that names a column. Not units, files and errors (see
//! `typed_sql`).

use crate::support::Bench;

#[test]
fn columns_may_have_one_name() {
    let bench = Bench::engine();
    let first = |sql: &str| {
        let run = bench.ok(&["query", "engine.db", sql, "--format", "csv"]);
        run.stdout.lines().take(2).map(str::to_owned).collect::<Vec<_>>().join("|")
    };
    assert_eq!(first("SELECT 1, 1"), "1,1|1,1");
    let state = "FROM process_state WHERE process = 'T_5' ORDER BY begin_at LIMIT 1";
    assert_eq!(first(&format!("SELECT instance, Instance {state}")), "instance,instance|0,0");
    assert_eq!(first(&format!("SELECT instance, process_state.instance {state}")), "instance,instance|0,0");
    assert_eq!(first(&format!("SELECT instance AS a, core AS A {state}")), "a,a|0,Core_1");
    assert_eq!(
        first(&format!("SELECT DISTINCT instance, instance {state}").replace("begin_at", "1")),
        "instance,instance|0,0"
    );
    assert!(first(&format!("SELECT *, instance {state}")).starts_with("recording,"));
    assert!(first(&format!("SELECT *, instance {state}")).split('|').next().unwrap().ends_with(",instance"));
    assert!(
        first(&format!("SELECT core, s.*, s.core {}", state.replace("process_state", "process_state s")))
            .contains(",core|")
    );
    assert!(first(&format!("SELECT process_state.*, core {state}")).contains(",core|"));
    assert_eq!(
        first("SELECT count(*), COUNT(*) FROM gap UNION ALL SELECT 1, 1").split('|').next(),
        Some("count(*),COUNT(*)")
    );
    assert_eq!(first("SELECT 99999999999999999999 - 1"), "99999999999999999999 - 1|99999999999999999998");
    assert!(first("SUMMARIZE (SELECT 1+1)").contains("|1+1,BIGINT,2,2,"));
}

/// The engine has one name for `x` and `CAST(x AS DOUBLE)`, and for a function and its other spelling.
#[test]
fn columns_that_the_engine_names_alike_are_two() {
    let bench = Bench::engine();
    let of = |sql: &str| {
        let run = bench.ok(&["query", "engine.db", sql, "--format", "csv"]);
        run.stdout.lines().take(2).map(str::to_owned).collect::<Vec<_>>().join("|")
    };
    let state = "FROM process_state WHERE process = 'T_5' ORDER BY begin_at LIMIT 1";
    assert_eq!(
        of(&format!("SELECT instance, CAST(instance AS DOUBLE) {state}")),
        "instance,CAST(instance AS DOUBLE)|0,0"
    );
    assert_eq!(of(&format!("SELECT instance, instance::VARCHAR {state}")), "instance,instance::VARCHAR|0,0");
    assert_eq!(
        of("SELECT instance::VARCHAR, instance::TEXT FROM process_state LIMIT 1"),
        "instance::VARCHAR,instance::TEXT|0,0"
    );
    assert_eq!(
        of("SELECT regexp_like('a', 'A', 'i'), regexp_matches('a', 'A', 'i'), 1 + 1, (1 + 1), 1000ns, 1us")
            .lines()
            .next(),
        Some(
            "\"regexp_like('a', 'A', 'i')\",\"regexp_matches('a', 'A', 'i')\",1 + 1,(1 + 1),1000ns,1us|true,true,2,2,1000,1000"
        )
    );
    assert_eq!(
        of("SELECT * FROM (SELECT 1 AS n, 2 UNION ALL SELECT instance, instance::DOUBLE FROM process_state \
            WHERE instance < 0)"),
        "n,2|1,2"
    );
    assert_eq!(
        of("SELECT 1, 2 UNION ALL SELECT instance, instance::INTEGER FROM process_state WHERE false"),
        "1,2|1,2"
    );
    assert_eq!(
        of("SELECT DISTINCT instance, instance::DOUBLE FROM process_state ORDER BY instance::DOUBLE"),
        "instance,instance::DOUBLE|0,0"
    );
    assert!(of("EXPLAIN SELECT begin_at, begin_at::DOUBLE FROM gap").starts_with("plan_type,plan"));
    assert!(of("DESCRIBE SELECT instance, instance + 1 FROM process_state").ends_with("|instance,BIGINT,NO"));
}

#[test]
fn order_by_finds_every_column() {
    let bench = Bench::engine();
    let rows = |sql: &str| bench.ok(&["query", "engine.db", sql, "--format", "csv"]).stdout;
    let by = |order: &str| {
        rows(&format!(
            "SELECT process, rank() OVER (ORDER BY sum(end_at - begin_at) DESC) FROM process_state \
             GROUP BY process ORDER BY {order}, 1"
        ))
    };
    assert_eq!(by("2"), by("rank() OVER (ORDER BY sum(end_at - begin_at) DESC)"));
    assert!(by("2").lines().nth(1).is_some_and(|line| line.ends_with(",1")), "{}", by("2"));
    let counts =
        rows("SELECT process, sum(count(*)) OVER () FROM process_state GROUP BY process ORDER BY 2, 1");
    assert!(counts.starts_with("process,sum(count(*)) OVER ()\n"), "{counts}");
    let counts = rows("SELECT process, count(*)+1 FROM process_state GROUP BY process ORDER BY 2 DESC, 1");
    assert!(counts.starts_with("process,count(*)+1\n"), "{counts}");
    let union = "SELECT core || '!' FROM process_state UNION SELECT core || '?' FROM process_state ORDER BY core || '!'";
    assert_eq!(rows(union).lines().nth(1), Some("Core_0!"));
    let distinct = rows("SELECT DISTINCT core || '!' AS x FROM process_state ORDER BY core || '!' DESC");
    assert_eq!(distinct.lines().next(), Some("x"));
}

#[test]
fn files_have_a_column_of_each_name() {
    let bench = Bench::engine();
    let sql = "SELECT a.process, b.process FROM process_state a JOIN process_state b ON a.process < b.process ORDER BY 1, 2 LIMIT 1";
    let both = bench.ok(&["query", "engine.db", sql, "--format", "csv"]).stdout;
    let (header, row) = both.split_once('\n').unwrap();
    assert_eq!(header, "process,process");
    let (first, second) = row.split_once(',').unwrap();
    let json = bench.ok(&["query", "engine.db", sql, "--format", "json"]).stdout;
    let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((rows[0]["process"].as_str(), rows[0]["process_1"].as_str()), (Some(first), Some(second)));
    bench.ok(&["query", "engine.db", sql, "-o", "x.parquet"]);
    let read =
        bench.ok(&["query", "engine.db", "SELECT * FROM read_parquet('x.parquet')", "--format", "csv"]);
    assert_eq!(read.stdout, format!("process,process_1\n{row}"));
    bench.write("x.csv", &both);
    let read = bench.ok(&["query", "engine.db", "SELECT * FROM read_csv('x.csv')", "--format", "csv"]);
    assert_eq!(read.stdout, format!("process,process_1\n{row}"));
}
