//! The generator of random statements, in SQL of btfdb and of DuckDB. Not the database (see `data`).

use super::Random;
use super::data::{PROCESSES, STATES, VARIABLES};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Ours,
    DuckDb,
}

/// SQL in both dialects. Where they differ, it has both: `⟦ours‖theirs⟧`, also inside of each other.
#[derive(Debug, Clone)]
pub(super) struct Text(String);

impl Text {
    pub fn in_dialect(&self, dialect: Dialect) -> String {
        let mut result = String::new();
        // Whether the text of each bracket that is open is in the dialect.
        let mut open: Vec<bool> = Vec::new();
        for c in self.0.chars() {
            match c {
                '⟦' => open.push(dialect == Dialect::Ours),
                '‖' => open.iter_mut().last().into_iter().for_each(|ours| *ours = !*ours),
                '⟧' => drop(open.pop()),
                c if open.iter().all(|shown| *shown) => result.push(c),
                _ => {}
            }
        }
        result
    }
}

fn both(ours: &str, theirs: &str) -> String {
    format!("⟦{ours}‖{theirs}⟧")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer,
    Text,
}

/// What can be selected from: SQL after FROM, and its columns. The columns `order` tell all rows apart.
#[derive(Debug, Clone)]
struct Relation {
    sql: String,
    columns: Vec<(String, Type)>,
    order: Vec<String>,
}

/// A table, its whole numbers, its texts, and the columns that put its rows in order.
type Columns = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const TABLES: [Columns; 4] = [
    (
        "data_event",
        &["time", "seq", "CAST(value AS BIGINT)"],
        &["recording", "core", "variable", "access"],
        &["recording", "core", "seq"],
    ),
    (
        "process_state",
        &["begin_at", "end_at", "instance"],
        &["recording", "core", "process", "state", "type"],
        &["recording", "begin_at"],
    ),
    (
        "process_instance",
        &["instance", "activate_at", "start_at", "terminate_at", "running", "ready", "preemptions", "lost"],
        &["recording", "process", "core", "type"],
        &["recording", "process", "instance"],
    ),
    (
        "btf_event",
        &["time", "seq", "target_instance", "source_instance"],
        &["recording", "source", "target", "action", "note", "target_type"],
        &["recording", "seq"],
    ),
];

fn table(random: &mut Random, alias: &str) -> Relation {
    let (name, integers, texts, order) = random.pick(&TABLES);
    let qualified = |column: &str| match column.strip_prefix("CAST(") {
        Some(inner) => format!("CAST({alias}.{inner}"),
        None => format!("{alias}.{column}"),
    };
    let mut columns: Vec<_> = integers.iter().map(|c| (qualified(c), Type::Integer)).collect();
    columns.extend(texts.iter().map(|c| (qualified(c), Type::Text)));
    // All rows, or the first ones in an order that leaves no choice.
    let sql = match random.chance(20) {
        false => format!("{name} {alias}"),
        true => {
            let mut sort: Vec<String> = order.iter().map(|c| (*c).to_owned()).collect();
            if random.chance(70) {
                sort.insert(0, leading(random, integers));
            }
            format!(
                "(SELECT * FROM {name} ORDER BY {} LIMIT {}) {alias}",
                ordered(&sort),
                1 + random.below(200)
            )
        }
    };
    Relation { sql, columns, order: order.iter().map(|c| qualified(c)).collect() }
}

impl Relation {
    fn column(&self, random: &mut Random, ty: Type) -> String {
        let of: Vec<_> = self.columns.iter().filter(|c| c.1 == ty).map(|c| c.0.clone()).collect();
        if of.is_empty() {
            return if ty == Type::Integer { "7" } else { "'x'" }.to_owned();
        }
        random.pick(&of)
    }
}

/// Expressions over a relation.
fn integer(random: &mut Random, of: &Relation, depth: u32) -> String {
    if depth == 0 || random.chance(25) {
        return match random.below(5) {
            0 => random.pick(&["0", "1", "7", "40", "1000"]).to_owned(),
            _ => of.column(random, Type::Integer),
        };
    }
    let part = |random: &mut Random| integer(random, of, depth - 1);
    match random.below(12) {
        0 | 1 => format!("({} + {})", part(random), part(random)),
        2 | 3 => format!("({} - {})", part(random), part(random)),
        4 => format!("({} * {})", part(random), random.pick(&["2", "3", "-1", "10"])),
        5 => format!("({} % {})", part(random), random.pick(&["2", "3", "7"])),
        6 => format!("coalesce({}, {})", part(random), random.pick(&["0", "-5", "3"])),
        7 => format!("{}({}, {})", random.pick(&["greatest", "least"]), part(random), part(random)),
        8 => format!("abs({})", part(random)),
        9 => format!("nullif({}, {})", part(random), random.pick(&["0", "1", "7"])),
        10 => format!("CAST(length({}) AS BIGINT)", text(random, of, 1)),
        _ => {
            format!("CASE WHEN {} THEN {} ELSE {} END", condition(random, of, 1), part(random), part(random))
        }
    }
}

fn text(random: &mut Random, of: &Relation, depth: u32) -> String {
    if depth == 0 || random.chance(50) {
        return of.column(random, Type::Text);
    }
    let part = |random: &mut Random| text(random, of, depth - 1);
    match random.below(6) {
        0 => format!("upper({})", part(random)),
        1 => format!("substr({}, 1, {})", part(random), random.pick(&["1", "3", "20"])),
        2 => format!("coalesce({}, 'none')", part(random)),
        3 => format!("({} || '-' || {})", part(random), part(random)),
        4 => format!("CAST({} AS VARCHAR)", integer(random, of, 1)),
        _ => format!("CASE WHEN {} THEN {} ELSE 'other' END", condition(random, of, 1), part(random)),
    }
}

/// A constant for comparisons with a column: mostly one that it has.
fn constant(random: &mut Random, column: &str) -> String {
    let name = column.rsplit('.').next().unwrap_or(column);
    let of: &[&str] = match name {
        "recording" => &["a", "b"],
        "core" => &["Core_0", "Core_1"],
        "process" | "target" => &PROCESSES,
        "state" => &STATES,
        "variable" => &VARIABLES,
        "access" => &["read", "write"],
        "type" | "target_type" => &["T", "I"],
        "action" => &["activate", "start", "preempt", "terminate"],
        "source" => &["Core_0", "STI_1"],
        _ => &["a", "Core_0", "T_1", "read", "1"],
    };
    format!("'{}'", if random.chance(92) { random.pick(of) } else { "nobody" })
}

fn condition(random: &mut Random, of: &Relation, depth: u32) -> String {
    if depth > 0 && random.chance(45) {
        let (one, other) = (condition(random, of, depth - 1), condition(random, of, depth - 1));
        return match random.below(5) {
            0 | 1 => format!("({one} AND {other})"),
            2 | 3 => format!("({one} OR {other})"),
            _ => format!("NOT ({one})"),
        };
    }
    let comparison = random.pick(&["=", "<>", "<", "<=", ">", ">="]);
    match random.below(9) {
        0 | 1 => format!("{} {comparison} {}", integer(random, of, 1), integer(random, of, 1)),
        2 => format!("{} {comparison} {}", of.column(random, Type::Integer), random.below(2500)),
        3 | 4 => {
            let equals = random.pick(&["=", "<>", "=", ">"]);
            let column = of.column(random, Type::Text);
            format!("{column} {equals} {}", constant(random, &column))
        }
        5 => {
            let column = of.column(random, Type::Text);
            format!("{column} IN ({}, {})", constant(random, &column), constant(random, &column))
        }
        6 => format!("{} IS {}NULL", of.column(random, Type::Integer), random.pick(&["", "NOT "])),
        7 => {
            // Other patterns become regular expressions, which cost more time than all the rest.
            let pattern = if random.chance(4) { "%_1" } else { random.pick(&["T%", "%a%", "%1", "Core%"]) };
            format!("{} LIKE '{pattern}'", text(random, of, 1))
        }
        _ => {
            let low = random.below(2000);
            let (low, high) = (low, low + random.below(1500));
            format!("{} BETWEEN {low} AND {high}", of.column(random, Type::Integer))
        }
    }
}

fn filter(random: &mut Random, of: &Relation, percent: u64) -> String {
    if random.chance(percent) { format!(" WHERE {}", condition(random, of, 2)) } else { String::new() }
}

/// An aggregate over the rows of a group.
fn aggregate(random: &mut Random, of: &Relation) -> String {
    let number = |random: &mut Random| match random.chance(65) {
        true => of.column(random, Type::Integer),
        false => integer(random, of, 2),
    };
    let call = match random.below(12) {
        0 => "count(*)".to_owned(),
        1 => format!("count({})", number(random)),
        2 => {
            let ty = random_type(random);
            format!("count(DISTINCT {})", of.column(random, ty))
        }
        3 | 4 => format!("sum({})", number(random)),
        5 => format!("min({})", number(random)),
        6 => format!("max({})", number(random)),
        7 => format!("avg({})", number(random)),
        8 => format!("stddev({})", of.column(random, Type::Integer)),
        9 => format!("sum(DISTINCT {})", of.column(random, Type::Integer)),
        10 => format!("{}({})", random.pick(&["min", "max"]), text(random, of, 1)),
        _ => format!("sum(CASE WHEN {} THEN 1 ELSE 0 END)", condition(random, of, 1)),
    };
    if random.chance(20) { format!("{call} FILTER (WHERE {})", condition(random, of, 1)) } else { call }
}

fn random_type(random: &mut Random) -> Type {
    if random.chance(50) { Type::Integer } else { Type::Text }
}

/// Several aggregates of the same column, as in a summary.
fn summary(random: &mut Random, of: &Relation) -> Vec<String> {
    let column = of.column(random, Type::Integer);
    let all = ["count", "min", "max", "sum", "avg", "stddev"];
    all.iter().filter(|_| random.chance(75)).map(|f| format!("{f}({column})")).collect()
}

fn grouped(random: &mut Random, of: &Relation) -> String {
    let count = random.below(4);
    let mut keys: Vec<String> = Vec::new();
    for _ in 0..count {
        let key = match random.below(10) {
            0..=6 => of.column(random, Type::Text),
            7 => of.column(random, Type::Integer),
            8 => text(random, of, 1),
            _ => format!("({} % 5)", of.column(random, Type::Integer)),
        };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut columns = keys.clone();
    if random.chance(30) {
        columns.extend(summary(random, of));
    }
    for _ in 0..=random.below(3) {
        columns.push(aggregate(random, of));
    }
    let columns = numbered(&columns);
    let group = if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", keys.join(", ")) };
    let having = match !keys.is_empty() && random.chance(20) {
        true => format!(" HAVING count(*) > {}", random.below(6)),
        false => String::new(),
    };
    format!("SELECT {columns} FROM {}{}{group}{having}", of.sql, filter(random, of, 60))
}

/// Columns with names that no other has.
fn numbered(columns: &[String]) -> String {
    let named = columns.iter().enumerate().map(|(i, c)| format!("{c} AS c{i}"));
    named.collect::<Vec<_>>().join(", ")
}

fn ordered(order: &[String]) -> String {
    order.iter().map(|c| format!("{c} NULLS LAST")).collect::<Vec<_>>().join(", ")
}

/// One of the columns, up or down.
fn leading<C: AsRef<str>>(random: &mut Random, of: &[C]) -> String {
    let column = of[random.below(of.len() as u64) as usize].as_ref();
    format!("{column}{}", random.pick(&["", " DESC"]))
}

fn rows(random: &mut Random, of: &Relation) -> String {
    let mut columns: Vec<String> = of.order.clone();
    for _ in 0..=random.below(3) {
        columns.push(match random_type(random) {
            Type::Integer => integer(random, of, 3),
            Type::Text => text(random, of, 2),
        });
    }
    let mut sort = of.order.clone();
    if random.chance(50) {
        let integers: Vec<_> = of.columns.iter().filter(|c| c.1 == Type::Integer).map(|c| &c.0).collect();
        sort.insert(0, leading(random, &integers));
    }
    let limit = match random.below(4) {
        0 => format!(" ORDER BY {} LIMIT {}", ordered(&sort), 1 + random.below(30)),
        1 => {
            format!(" ORDER BY {} LIMIT {} OFFSET {}", ordered(&sort), 1 + random.below(30), random.below(40))
        }
        _ => String::new(),
    };
    let distinct = if limit.is_empty() && random.chance(25) {
        columns.drain(..of.order.len());
        "DISTINCT "
    } else {
        ""
    };
    format!("SELECT {distinct}{} FROM {}{}{limit}", numbered(&columns), of.sql, filter(random, of, 80))
}

/// A window function over rows whose order is known.
fn window(random: &mut Random, of: &Relation) -> String {
    let mut columns = of.order.clone();
    for _ in 0..=random.below(3) {
        let keys: Vec<String> = (0..random.below(3)).map(|_| of.column(random, Type::Text)).collect();
        let partition =
            if keys.is_empty() { String::new() } else { format!("PARTITION BY {} ", keys.join(", ")) };
        let mut order = Vec::new();
        if random.chance(50) {
            order.push(of.column(random, Type::Integer));
        }
        order.extend(of.order.iter().cloned());
        let order = ordered(&order);
        let argument = match random.below(3) {
            0 => of.column(random, Type::Text),
            1 => integer(random, of, 1),
            _ => of.column(random, Type::Integer),
        };
        let number = of.column(random, Type::Integer);
        let nulls = if random.chance(40) { both("", " IGNORE NULLS") } else { String::new() };
        let outside = if nulls.is_empty() { String::new() } else { both(" IGNORE NULLS", "") };
        let frame = match random.below(4) {
            0 => format!(" ROWS BETWEEN {} PRECEDING AND CURRENT ROW", random.below(6)),
            1 => " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".to_owned(),
            2 => format!(" ROWS BETWEEN {} PRECEDING AND {} FOLLOWING", random.below(4), random.below(4)),
            _ => String::new(),
        };
        columns.push(match random.below(10) {
            0 | 1 => format!("lag({argument}{nulls}){outside} OVER ({partition}ORDER BY {order})"),
            2 => format!("lead({argument}) OVER ({partition}ORDER BY {order})"),
            3 => format!("lag({argument}, {}) OVER ({partition}ORDER BY {order})", random.below(4)),
            4 => format!("first_value({argument}{nulls}){outside} OVER ({partition}ORDER BY {order}{frame})"),
            5 | 6 => {
                format!("last_value({argument}{nulls}){outside} OVER ({partition}ORDER BY {order}{frame})")
            }
            7 => format!("row_number() OVER ({partition}ORDER BY {order})"),
            8 => format!(
                "{}({number}) OVER ({partition}ORDER BY {order}{frame})",
                random.pick(&["sum", "count", "min", "max", "avg"])
            ),
            _ => format!(
                "{}() OVER ({partition}ORDER BY {number} NULLS LAST)",
                random.pick(&["rank", "dense_rank"])
            ),
        });
    }
    let inner = format!("SELECT {} FROM {}{}", numbered(&columns), of.sql, filter(random, of, 40));
    match random.below(4) {
        0 => format!("SELECT c{}, count(*) FROM ({inner}) w GROUP BY 1", columns.len() - 1),
        1 => format!("SELECT * FROM ({inner}) w WHERE c{} IS NOT NULL", columns.len() - 1),
        _ => inner,
    }
}

/// Pairs of rows with equal texts, and perhaps a condition on their times.
fn joined(random: &mut Random) -> String {
    let (left, right) = (table(random, "l"), table(random, "r"));
    let common: Vec<&str> = ["recording", "core", "process", "type"]
        .into_iter()
        .filter(|c| {
            [&left, &right].iter().all(|t| t.columns.iter().any(|own| own.0.ends_with(&format!(".{c}"))))
        })
        .collect();
    let mut conditions: Vec<String> =
        common.iter().filter(|_| random.chance(70)).map(|c| format!("l.{c} = r.{c}")).collect();
    match random.below(4) {
        0 => conditions.push(format!(
            "{} = {}",
            left.column(random, Type::Integer),
            right.column(random, Type::Integer)
        )),
        1 => {
            let (a, b) = (left.column(random, Type::Integer), left.column(random, Type::Integer));
            let (c, d) = (right.column(random, Type::Integer), right.column(random, Type::Integer));
            conditions.push(format!("{a} {} {d}", random.pick(&["<", "<="])));
            conditions.push(format!("{c} {} {b}", random.pick(&["<", "<="])));
        }
        2 => conditions.push(format!("{} < {}", left.column(random, Type::Integer), random.below(800))),
        _ => {}
    }
    if conditions.is_empty() {
        conditions.push("l.recording = r.recording".to_owned());
    }
    let on = conditions.join(" AND ");
    let both_sides = Relation {
        sql: String::new(),
        columns: [left.columns.clone(), right.columns.clone()].concat(),
        order: [left.order.clone(), right.order.clone()].concat(),
    };
    if random.chance(25) {
        let exists = random.pick(&["EXISTS", "NOT EXISTS"]);
        let columns = numbered(&[left.order.clone(), vec![integer(random, &left, 1)]].concat());
        return format!(
            "SELECT {columns} FROM {} WHERE {exists} (SELECT 1 FROM {} WHERE {on})",
            left.sql, right.sql
        );
    }
    let kind = random.pick(&["JOIN", "LEFT JOIN", "JOIN", "RIGHT JOIN", "FULL JOIN"]);
    // A condition of FULL JOIN has to have an equality.
    let kind = if kind == "FULL JOIN" && !on.contains(" = ") { "LEFT JOIN" } else { kind };
    let mut columns = Vec::new();
    let key = both_sides.column(random, Type::Text);
    for _ in 0..=random.below(3) {
        columns.push(aggregate(random, &both_sides));
    }
    let columns = numbered(&columns);
    format!(
        "SELECT {key}, count(*), {columns} FROM {} {kind} {} ON {on}{} GROUP BY {key}",
        left.sql,
        right.sql,
        filter(random, &both_sides, 30)
    )
}

/// Intervals with one or two keys: SQL in brackets, and the keys.
fn intervals(random: &mut Random, extra: &str) -> (String, Vec<&'static str>) {
    let keys = random.pick(&[
        vec![],
        vec!["recording"],
        vec!["recording", "core"],
        vec!["recording", "process"],
        vec!["core"],
    ]);
    let of = Relation {
        sql: "process_state s".to_owned(),
        columns: vec![
            ("s.begin_at".to_owned(), Type::Integer),
            ("s.end_at".to_owned(), Type::Integer),
            ("s.state".to_owned(), Type::Text),
            ("s.process".to_owned(), Type::Text),
        ],
        order: Vec::new(),
    };
    (
        format!(
            "(SELECT recording, core, process, begin_at, end_at{extra} FROM process_state s{})",
            filter(random, &of, 70)
        ),
        keys,
    )
}

/// A cast of a key in our dialect, which changes no value.
fn recast(random: &mut Random, key: &str) -> String {
    let ty = random.pick(&["Utf8", "LargeUtf8", "Utf8View", "Dictionary(Int32, Utf8)", ""]);
    if ty.is_empty() { key.to_owned() } else { both(&format!("arrow_cast({key}, '{ty}')"), key) }
}

fn call_over_intervals(random: &mut Random) -> String {
    let (relation, keys) = intervals(random, "");
    let list = keys.join(", ");
    let comma = if keys.is_empty() { "" } else { ", " };
    // The begins and ends of what overlaps or touches, with the largest end so far.
    let partition = if keys.is_empty() { String::new() } else { format!("PARTITION BY {list} ") };
    let islands = format!(
        "(SELECT {list}{comma}min(begin_at) AS begin_at, max(end_at) AS end_at, count(*) AS intervals FROM \
         (SELECT *, sum(fresh) OVER ({partition}ORDER BY begin_at, end_at ROWS UNBOUNDED PRECEDING) AS island FROM \
         (SELECT *, CASE WHEN begin_at > max(end_at) OVER ({partition}ORDER BY begin_at, end_at ROWS BETWEEN UNBOUNDED PRECEDING \
         AND 1 PRECEDING) THEN 1 ELSE 0 END AS fresh FROM {relation} i0 WHERE begin_at < end_at) i1) i2 GROUP BY {list}{comma}island)"
    );
    match random.below(4) {
        0 => {
            let call = both(&format!("interval_merge({relation}{comma}{list})"), &islands);
            format!("SELECT {list}{comma}begin_at, end_at, intervals FROM {call} m")
        }
        1 => {
            let gaps = format!(
                "(SELECT {list}{comma}end_at AS begin_at, next AS end_at FROM (SELECT *, lead(begin_at) OVER \
                 ({partition}ORDER BY begin_at) AS next FROM {islands} i3) i4 WHERE next IS NOT NULL)"
            );
            let call = both(&format!("interval_gaps({relation}{comma}{list})"), &gaps);
            format!("SELECT {list}{comma}begin_at, end_at FROM {call} g")
        }
        2 => {
            // The time with each number of open intervals, from the changes of that number.
            let changes = format!(
                "(SELECT {list}{comma}open, moment AS begin_at, next AS end_at FROM (SELECT *, sum(change) OVER ({partition}ORDER BY moment) AS \
                 open, lead(moment) OVER ({partition}ORDER BY moment) AS next FROM (SELECT {list}{comma}moment, sum(change) AS change FROM \
                 (SELECT {list}{comma}begin_at AS moment, 1 AS change FROM {relation} i0 WHERE begin_at < end_at UNION ALL \
                 SELECT {list}{comma}end_at, -1 FROM {relation} i5 WHERE begin_at < end_at) i1 GROUP BY {list}{comma}moment) i2) i3 WHERE next IS NOT NULL)"
            );
            let call = both(&format!("concurrency({relation}{comma}{list})"), &changes);
            format!(
                "SELECT {list}{comma}open, sum(end_at - begin_at) AS c0 FROM {call} c GROUP BY {list}{comma}open"
            )
        }
        _ => {
            let width = random.pick(&[7, 50, 333, 5000]);
            let list = if keys.is_empty() { "recording" } else { list.as_str() };
            let pieces = format!(
                "(SELECT recording, core, process, greatest(begin_at, b) AS begin_at, least(end_at, b + {width}) AS end_at, b AS bucket_at \
                 FROM (SELECT *, unnest(range(begin_at - begin_at % {width}, end_at, {width})) AS b FROM {relation} i0 \
                 WHERE begin_at < end_at) i1)"
            );
            let call = both(&format!("buckets({relation}, {width})"), &pieces);
            format!(
                "SELECT {list}, bucket_at, sum(end_at - begin_at) AS c0, count(*) AS c1 FROM {call} b GROUP BY {list}, bucket_at"
            )
        }
    }
}

fn call_intersect(random: &mut Random) -> String {
    let ((one, keys), (other, _)) =
        (intervals(random, ", state AS one"), intervals(random, ", state AS other"));
    let own: Vec<String> = keys.iter().map(|key| format!("{} AS {key}", recast(random, key))).collect();
    let one = format!(
        "(SELECT {}begin_at, end_at, one FROM {one} i0)",
        own.iter().map(|k| format!("{k}, ")).collect::<Vec<_>>().concat()
    );
    let on: Vec<String> = keys.iter().map(|key| format!("i1.{key} = i2.{key} AND ")).collect();
    let keyed: Vec<String> = keys.iter().map(|key| format!("i1.{key} AS {key}, ")).collect();
    let join = format!(
        "(SELECT {}greatest(i1.begin_at, i2.begin_at) AS begin_at, least(i1.end_at, i2.end_at) AS end_at, one, other FROM {one} i1 \
         JOIN {other} i2 ON {}i1.begin_at < i2.end_at AND i2.begin_at < i1.end_at AND i1.begin_at < i1.end_at AND i2.begin_at < i2.end_at)",
        keyed.concat(),
        on.concat()
    );
    let list = keys.iter().map(|key| format!(", {key}")).collect::<Vec<_>>().concat();
    let call = both(&format!("interval_intersect({one}, {other}{list})"), &join);
    format!(
        "SELECT one, other{list}, count(*) AS c0, sum(end_at - begin_at) AS c1 FROM {call} x GROUP BY one, other{list}"
    )
}

/// As-of joins in all their forms: the function, LATERAL, and in SELECT.
fn as_of(random: &mut Random) -> String {
    let keys = random.pick(&[vec!["recording"], vec!["recording", "core"], vec!["core"]]);
    let condition = random.pick(&["", " WHERE value > 3", " WHERE variable <> 'x'", " WHERE time % 3 > 0"]);
    let states = random.pick(&["", " WHERE state = 'running'", " WHERE process <> 'T_1'"]);
    let column = |key: &&str, random: &mut Random| match random.below(12) {
        0 => format!("'{}' AS {key}", if *key == "core" { "Core_0" } else { "a" }),
        _ => format!("{} AS {key}", recast(random, key)),
    };
    let own: Vec<String> = keys.iter().map(|key| column(key, random)).collect();
    let theirs: Vec<String> = keys.iter().map(|key| format!("{} AS {key}", recast(random, key))).collect();
    // The keys of the whole rows, under other names.
    let one = format!(
        "(SELECT recording AS r, core AS c, seq AS n, time, {} FROM data_event{condition})",
        own.join(", ")
    );
    let other = format!(
        "(SELECT begin_at AS time, begin_at * 2 + CASE recording WHEN 'a' THEN 0 ELSE 1 END AS seq, process, {} FROM process_state{states})",
        theirs.join(", ")
    );
    let equal: Vec<String> = keys.iter().map(|key| format!("s.{key} = a.{key}")).collect();
    let latest = format!(
        "FROM {other} s WHERE {} AND s.time <= a.time ORDER BY s.time DESC, s.seq DESC LIMIT 1",
        equal.join(" AND ")
    );
    let lateral = format!(
        "SELECT a.r, a.c, a.n, w.process, w.seq FROM {one} a LEFT JOIN LATERAL (SELECT * {latest}) AS w ON true"
    );
    match random.below(4) {
        0 | 1 => both(
            &format!("SELECT r, c, n, process, seq FROM as_of({one}, {other}, {}) f", keys.join(", ")),
            &lateral,
        ),
        2 => lateral,
        _ => format!("SELECT a.r, a.c, a.n, (SELECT s.seq {latest}) AS c0 FROM {one} a"),
    }
}

fn subquery(random: &mut Random) -> String {
    let (outer, inner) = (table(random, "l"), table(random, "r"));
    let columns = numbered(&outer.order);
    let column = outer.column(random, Type::Integer);
    match random.below(5) {
        0 => format!(
            "SELECT {columns} FROM {} WHERE {column} > (SELECT avg({}) FROM {}{})",
            outer.sql,
            inner.column(random, Type::Integer),
            inner.sql,
            filter(random, &inner, 60)
        ),
        1 => format!(
            "SELECT {columns} FROM {} WHERE {} IN (SELECT {} FROM {}{})",
            outer.sql,
            outer.column(random, Type::Text),
            inner.column(random, Type::Text),
            inner.sql,
            filter(random, &inner, 80)
        ),
        2 => format!(
            "SELECT {columns}, (SELECT max({}) FROM {} WHERE r.recording = l.recording) AS c9 FROM {}",
            inner.column(random, Type::Integer),
            inner.sql,
            outer.sql
        ),
        3 => format!(
            "WITH q AS (SELECT recording AS k, max({}) AS m FROM {} GROUP BY recording) SELECT {columns}, q.m FROM {} JOIN q ON q.k = l.recording WHERE {column} < q.m",
            inner.column(random, Type::Integer),
            inner.sql,
            outer.sql
        ),
        _ => {
            let (a, b) = (integer(random, &outer, 2), integer(random, &inner, 2));
            let (c, d) = (text(random, &outer, 1), text(random, &inner, 1));
            let operation = random.pick(&["UNION ALL", "UNION", "EXCEPT", "INTERSECT"]);
            format!(
                "SELECT {a} AS c0, {c} AS c1 FROM {}{} {operation} SELECT {b}, {d} FROM {}{}",
                outer.sql,
                filter(random, &outer, 50),
                inner.sql,
                filter(random, &inner, 50)
            )
        }
    }
}

/// A relation: a table, or a query over one.
fn relation(random: &mut Random) -> Relation {
    let of = table(random, "t");
    if random.chance(75) {
        return of;
    }
    let mut columns: Vec<(String, String, Type)> = Vec::new();
    for (at, order) in of.order.iter().enumerate() {
        let ty = of.columns.iter().find(|c| c.0 == *order).map_or(Type::Integer, |c| c.1);
        columns.push((order.clone(), format!("o{at}"), ty));
    }
    let keys = columns.len();
    for at in 0..3 {
        columns.push((integer(random, &of, 2), format!("i{at}"), Type::Integer));
        columns.push((text(random, &of, 1), format!("x{at}"), Type::Text));
    }
    let selected: Vec<_> = columns.iter().map(|(e, name, _)| format!("{e} AS {name}")).collect();
    let sql = format!("(SELECT {} FROM {}{}) q", selected.join(", "), of.sql, filter(random, &of, 60));
    Relation {
        sql,
        columns: columns.iter().map(|(_, name, ty)| (format!("q.{name}"), *ty)).collect(),
        order: columns.iter().take(keys).map(|(_, name, _)| format!("q.{name}")).collect(),
    }
}

pub(super) fn statement(random: &mut Random) -> Text {
    let of = relation(random);
    Text(match random.below(20) {
        0..=2 => rows(random, &of),
        3..=6 => grouped(random, &of),
        7..=10 => window(random, &of),
        11..=13 => joined(random),
        14 => call_over_intervals(random),
        15 => call_intersect(random),
        16 | 17 => as_of(random),
        _ => subquery(random),
    })
}
