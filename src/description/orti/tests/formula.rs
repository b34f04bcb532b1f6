//! Formulas: shapes that generators write, and random expressions against a second evaluator. Not for paths
//! and types, which are tested next to `formula`.

use super::super::*;
use proptest::prelude::*;

fn formula(text: &str) -> Formula {
    Formula::parse(text).unwrap()
}

/// The value for the given values of variables; dynamic paths are looked up in the same list.
fn value(text: &str, known: &[(&str, i64)]) -> Option<i64> {
    let f = formula(text);
    let look = |name: &str| known.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    f.eval(&|place| look(&f.variables()[place]), &|path| look(path))
}

#[test]
fn shapes_of_generators_name_their_variables() {
    let cases: [(&str, &[&str], &[&str], bool); 12] = [
        ("EE_stkfirst", &["EE_stkfirst"], &[], true),
        ("(EE_th_status[0])", &["EE_th_status[0]"], &[], true),
        ("(2 - EE_th_rnact[0x1])", &["EE_th_rnact[1]"], &[], true),
        ("tpl_dyn_proc_table[0]->state != 2", &["tpl_dyn_proc_table[0].state"], &[], true),
        (
            "(EE_stkfirst == -1) ? 0 : EE_ORTI_th_priority[EE_stkfirst]",
            &["EE_stkfirst"],
            &["EE_ORTI_th_priority"],
            true,
        ),
        ("EE_counter_RAM[EE_oo_ROM[2].c].value", &["EE_oo_ROM[2].c"], &["EE_counter_RAM"], true),
        ("a.b[3].c[x].d[y + 1][2]", &["x", "y"], &["a.b[3].c"], true),
        ("a[b[c]]", &["c"], &["b", "a"], true),
        ("(EE_locked[0] ? EE_locker[0] : -1)", &["EE_locked[0]", "EE_locker[0]"], &[], true),
        ("(unsigned int *)( (int)(&EE_stack_1))", &["EE_stack_1"], &[], false),
        ("((unsigned long *)(tcb[0].sp))[5]", &["tcb[0].sp"], &[], false),
        ("(unsigned int *)(0x7C000-14848)", &[], &[], true),
    ];
    for (text, variables, bases, evaluable) in cases {
        let f = formula(text);
        assert_eq!(f.variables(), variables, "{text}");
        assert_eq!(f.dynamic_bases(), bases, "{text}");
        assert_eq!((f.has_dynamic_paths(), f.is_evaluable()), (!bases.is_empty(), evaluable), "{text}");
    }
    let opaque = [
        "&x",
        "*p",
        "sizeof x",
        "sizeof(int)",
        "\"s\"",
        "(a + 1).b",
        "(a + 1)[0]",
        "a[-1]",
        "a[1/0]",
        "a[&b]",
    ];
    assert!(opaque.iter().all(|text| !formula(text).is_evaluable() && value(text, &[("a", 1)]).is_none()));
}

#[test]
fn values_follow_c() {
    let ternary = "(EE_stkfirst == -1) ? 0 : prio[EE_stkfirst]";
    assert_eq!(value(ternary, &[("EE_stkfirst", 0xFFFF_FFFF)]), Some(0));
    assert_eq!(value(ternary, &[("EE_stkfirst", 2), ("prio[2]", 8)]), Some(8));
    assert_eq!(value(ternary, &[("EE_stkfirst", 2)]), None);
    assert_eq!(value("prio[i]", &[("i", -1), ("prio[-1]", 8)]), None);
    assert_eq!(value("t[i].c[j]", &[("i", 1), ("j", 2), ("t[1].c[2]", 5)]), Some(5));
    let constants = [
        ("1 + 2 * 3 - 4 / 2 % 3", 5),
        ("1 << 4 | 1 ^ 3 & 2", 19),
        ("-1 == 0xFFFFFFFFu", 1),
        ("-1 < 0xFFFFFFFF", 1),
        ("10 - 4 - 3", 3),
        ("1 ? 2 : 0 ? 3 : 4", 2),
        ("0 ? 2 : 0 ? 3 : 4", 4),
        ("!5 + ~0 + +7 - -1", 7),
        ("(unsigned char)0x1FF + (EE_TID)1", 256),
        ("(uint8)-1", 255),
        ("'A'", 65),
        ("0x7C000-14848", 0x7C000 - 14848),
        ("3 && 2 || 0", 1),
        ("-9223372036854775807 - 1 - 1", i64::MAX),
        ("1 > 0 >= 1 <= 0", 0),
        ("-(x * x) + (x)*2 + (x)", 0),
    ];
    for (text, expected) in constants {
        assert_eq!(value(text, &[("x", 3)]), Some(expected), "{text}");
    }
    assert_eq!(
        (value("1/0", &[]), value("1%0", &[]), value("1<<64", &[]), value("1>>-1", &[])),
        (None, None, None, None)
    );
}

#[test]
fn sides_that_c_skips_may_be_unknown() {
    let known = [("z", 0), ("n", 3)];
    let cases = [
        ("z && u", Some(0)),
        ("n || u", Some(1)),
        ("n ? 5 : u", Some(5)),
        ("z ? u : 6", Some(6)),
        ("z && u[u]", Some(0)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text, &known), expected, "{text}");
    }
    assert!(
        ["n && u", "z || u", "u && z", "u ? 1 : 1", "u * 0"].iter().all(|text| value(text, &known).is_none())
    );
}

#[test]
fn errors_have_a_column() {
    let cases = [
        ("", 1, "missing"),
        ("a = 0", 3, "=="),
        ("f(x)", 2, "function"),
        ("(a", 3, "')'"),
        ("a b", 3, "'b'"),
        ("a +", 4, "missing"),
        ("ä + 1.5", 7, "number"),
        ("a, b", 2, "','"),
        ("99999999999999999999", 1, "64 bits"),
        ("\"x", 1, "string"),
        ("'", 1, "lone"),
        ("a[1", 4, "']'"),
        ("a ? 1", 6, "':'"),
        ("a.", 3, "missing"),
        ("TASK: 8", 5, "':'"),
    ];
    for (text, column, word) in cases {
        let error = Formula::parse(text).unwrap_err();
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.to_string().contains(word), "{text}: {error}");
    }
}

#[test]
fn nesting_and_length_are_bounded() {
    let nested = |n: usize, open: &str, close: &str| format!("{}1{}", open.repeat(n), close.repeat(n));
    for (open, close) in
        [("(", ")"), ("- ", ""), ("a[", "]"), ("1 ? 2 : ", ""), ("(int)", ""), ("sizeof ", "")]
    {
        assert!(Formula::parse(&nested(60, open, close)).is_ok(), "{open}");
        let error = Formula::parse(&nested(65, open, close)).unwrap_err();
        assert!(error.message.contains("nested"), "{open}");
    }
    let sum = "1+".repeat(2000) + "1";
    assert_eq!(value(&sum, &[]), Some(2001));
    assert!(Formula::parse(&"1+".repeat(3000)).unwrap_err().message.contains("longer"));
}

/// An expression as a tree, for the second opinion.
#[derive(Debug, Clone)]
enum Tree {
    Number(i64),
    Variable(usize),
    Element(Box<Tree>),
    Unary(char, Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Choice(Box<Tree>, Box<Tree>, Box<Tree>),
}

/// Unknown values are `None`.
const VALUES: [Option<i64>; 5] = [Some(0), Some(3), Some(-1), Some(0xFFFF_FFFF), None];

fn element(index: i64) -> Option<i64> {
    if (0..4).contains(&index) { Some(index * 10) } else { None }
}

const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<", 7),
    (">", 7),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

fn reference(tree: &Tree) -> Option<i64> {
    Some(match tree {
        Tree::Number(number) => *number,
        Tree::Variable(place) => VALUES[*place]?,
        Tree::Element(index) => element(reference(index)?)?,
        Tree::Unary('-', a) => 0_i64.wrapping_sub(reference(a)?),
        Tree::Unary('!', a) => i64::from(reference(a)? == 0),
        Tree::Unary(_, a) => -1 ^ reference(a)?,
        Tree::Choice(c, a, b) => reference(if reference(c)? != 0 { a } else { b })?,
        Tree::Binary("&&", a, b) => i64::from(reference(a)? != 0 && reference(b)? != 0),
        Tree::Binary("||", a, b) => i64::from(reference(a)? != 0 || reference(b)? != 0),
        Tree::Binary(operator, a, b) => {
            let (a, b) = (reference(a)?, reference(b)?);
            let small = |v: i64| v == i64::from(v as i32) || v == i64::from(v as u32);
            let same = a == b || (small(a) && small(b) && a as u32 == b as u32);
            match *operator {
                "|" => a | b,
                "^" => a ^ b,
                "&" => a & b,
                "==" => i64::from(same),
                "!=" => i64::from(!same),
                "<" => i64::from(a < b),
                ">" => i64::from(a > b),
                "<=" => i64::from(a <= b),
                ">=" => i64::from(a >= b),
                "<<" if (0..64).contains(&b) => (0..b).fold(a, |a, _| a.wrapping_mul(2)),
                ">>" if (0..64).contains(&b) => (0..b).fold(a, |a, _| a.div_euclid(2)),
                "+" => (i128::from(a) + i128::from(b)) as i64,
                "-" => (i128::from(a) - i128::from(b)) as i64,
                "*" => (i128::from(a) * i128::from(b)) as i64,
                "/" if b != 0 => (i128::from(a) / i128::from(b)) as i64,
                "%" if b != 0 => (i128::from(a) % i128::from(b)) as i64,
                _ => return None,
            }
        }
    })
}

/// Text with the fewest parentheses that C needs below an operator of strength `outer`.
fn render(tree: &Tree, outer: u8) -> String {
    let (text, strength) = match tree {
        Tree::Number(number) => (number.to_string(), 20),
        Tree::Variable(place) => (format!("v{place}"), 20),
        Tree::Element(index) => (format!("e[{}]", render(index, 0)), 20),
        Tree::Unary(sign, a) => (format!("{sign} {}", render(a, 11)), 11),
        Tree::Choice(c, a, b) => (format!("{} ? {} : {}", render(c, 1), render(a, 0), render(b, 0)), 0),
        Tree::Binary(operator, a, b) => {
            let strength = OPERATORS.iter().find(|(o, _)| o == operator).unwrap().1;
            (format!("{}{operator} {}", render(a, strength), render(b, strength + 1)), strength)
        }
    };
    if strength < outer { format!("({text})") } else { text }
}

fn tree() -> impl Strategy<Value = Tree> {
    let number = prop_oneof![0..4_i64, Just(0xFFFF_FFFF), Just(64), Just(i64::MAX)];
    let leaf = prop_oneof![number.prop_map(Tree::Number), (0..VALUES.len()).prop_map(Tree::Variable)];
    leaf.prop_recursive(6, 40, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let binary = (0..OPERATORS.len(), boxed(), boxed());
        prop_oneof![
            1 => boxed().prop_map(Tree::Element),
            2 => (prop_oneof![Just('-'), Just('!'), Just('~')], boxed()).prop_map(|(sign, a)| Tree::Unary(sign, a)),
            4 => binary.prop_map(|(o, a, b)| Tree::Binary(OPERATORS[o].0, a, b)),
            1 => (boxed(), boxed(), boxed()).prop_map(|(c, a, b)| Tree::Choice(c, a, b)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn values_are_those_of_a_second_evaluator(tree in tree()) {
        let text = render(&tree, 0);
        let f = formula(&text);
        let get = |place: usize| VALUES[f.variables()[place][1..].parse::<usize>().unwrap()];
        let dynamic = |path: &str| element(path[2..path.len() - 1].parse().unwrap());
        // Elements with a constant index are static paths; both ways must agree.
        let get = |place: usize| {
            if f.variables()[place].starts_with('e') { dynamic(&f.variables()[place]) } else { get(place) }
        };
        if f.is_evaluable() {
            prop_assert_eq!(f.eval(&get, &dynamic), reference(&tree), "{}", text);
        } else {
            // Only a constant index beyond every array makes these formulas unreadable for good.
            prop_assert!(text.contains("e["), "{}", text);
        }
    }

    #[test]
    fn arbitrary_formulas_never_panic(text in "\\PC{0,60}|[a-b0-9\\[\\]().&|<>=!?:*/%+\" '\\\\x-]{0,60}") {
        if let Ok(f) = Formula::parse(&text) {
            let value = f.eval(&|_| Some(1), &|_| Some(2));
            prop_assert!(f.is_evaluable() || f.variables().len() <= text.len());
            prop_assert!(value.is_none() || !f.variables().iter().any(String::is_empty));
        }
        if let Some(path) = canonical_path(&text) {
            prop_assert_eq!(canonical_path(&path), Some(path));
        }
    }
}
