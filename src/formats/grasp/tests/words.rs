//! Words of Tcl: the rules of Tcl(n), and that quoted words are read back.

use crate::formats::grasp::join;
use crate::formats::grasp::quote::quote;
use crate::formats::grasp::words::{Kind, Stop, Trouble, Word, command, comment, skip_blanks, split};
use proptest::prelude::*;

fn texts(line: &str) -> Vec<String> {
    split(line).unwrap().into_iter().map(String::from).collect()
}

fn trouble(line: &str) -> Trouble {
    split(line).unwrap_err().1
}

#[test]
fn words_are_bare_quoted_or_braced() {
    assert_eq!(
        texts("plot 5\tmessage {two {nested} words}  -name \"a b\" "),
        ["plot", "5", "message", "two {nested} words", "-name", "a b"]
    );
    assert_eq!(texts("a{b c\"d e} {} \"\""), ["a{b", "c\"d", "e}", "", ""]);
    assert_eq!(texts("  {*} {a\\}b}\r"), ["*", "a\\}b"]);
    assert!(texts("   ").is_empty());
}

#[test]
fn backslashes_mean_what_they_mean_in_tcl() {
    assert_eq!(texts(r#""0\nI" a\ b \x41g \u00e4\101 \q \$x"#), ["0\nI", "a b", "Ag", "äA", "q", "$x"]);
    assert_eq!(
        texts("plot 50 jobPreempted a \\\n    -target b"),
        ["plot", "50", "jobPreempted", "a", "-target", "b"]
    );
    assert_eq!(texts("x {a \\\n \t b} \"c\\\r\n d\""), ["x", "a  b", "c d"]);
    assert_eq!(texts("\\"), ["\\"]);
    assert_eq!(texts(r"\400 \777 \x \xg"), [" 0", "?7", "x", "xg"]);
}

#[test]
fn what_would_have_to_run_is_reported() {
    assert_eq!(trouble("a $b"), Trouble::Variable);
    assert_eq!(trouble("a x[b]"), Trouble::Substitution);
    assert_eq!(trouble("a \"x [b] \""), Trouble::Substitution);
    assert_eq!(trouble("a [b c]"), Trouble::Substitution);
    assert_eq!(trouble("a {*}{b c}"), Trouble::Expansion);
    assert_eq!(texts("a $ $. 5$ \\$b {$c [d]}"), ["a", "$", "$.", "5$", "$b", "$c [d]"]);
}

#[test]
fn what_is_not_closed_is_reported() {
    for (line, expected) in [
        ("a {b", Trouble::OpenBrace),
        ("a \"b", Trouble::OpenQuote),
        ("[a b", Trouble::OpenBracket),
        ("a {b}c", Trouble::AfterBrace),
        ("a \"b\"c d", Trouble::AfterQuote),
    ] {
        assert_eq!(trouble(line), expected, "{line}");
    }
    assert_eq!(trouble(&"[".repeat(100)), Trouble::Limit);
    assert_eq!(trouble(&"a ".repeat(5000)), Trouble::Limit);
}

#[test]
fn a_word_may_be_a_bracket() {
    let mut words = Vec::new();
    let script = "[Job {a ]}] initWithTask x; y\nz";
    let parsed = command(script, 0, &mut words);
    assert_eq!((parsed.stop, parsed.trouble), (Stop::Semicolon, None));
    let Word { text, kind, at } = &words[0];
    assert_eq!((text.as_ref(), *kind, *at), ("Job {a ]}", Kind::Bracketed, 0));
    assert_eq!(words.len(), 3);
    let parsed = command(script, skip_blanks(script, parsed.end + 1), &mut words);
    assert_eq!((parsed.stop, script.get(parsed.end..)), (Stop::Line, Some("\nz")));
}

#[test]
fn comments_end_with_their_line() {
    assert_eq!(comment("# a {\nb", 0), Some(5));
    assert_eq!(comment("# a \\\n b\nc", 0), Some(8));
    assert_eq!(comment("# a \\\\\nc", 0), Some(6));
    assert_eq!(comment("a # b", 0), None);
    assert_eq!(comment("#\\", 0), Some(2));
}

proptest! {
    #[test]
    fn what_is_quoted_is_read_back(words in prop::collection::vec(any::<String>(), 1..6)) {
        let line = join(words.iter().map(String::as_str));
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(texts(&line), words);
    }

    #[test]
    fn what_is_quoted_is_read_back_whatever_tcl_makes_of_it(words in prop::collection::vec("[]#a{}\\[\\\\\"$ ;\n*x\u{1}-]{0,8}", 1..6)) {
        let line = join(words.iter().map(String::as_str));
        prop_assert_eq!(comment(&line, 0), None);
        prop_assert_eq!(texts(&line), words.clone());
        prop_assert_eq!(split(&quote(&words[0])).unwrap().len(), usize::from(!line.is_empty()));
    }

    #[test]
    fn any_text_is_split_without_panic(text in "[]ab{}\\[\\\\\"$ ;\n\r*#ä-]{0,40}") {
        let mut words = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let begin = skip_blanks(&text, at);
            let parsed = command(&text, begin, &mut words);
            prop_assert!(parsed.end >= begin && text.is_char_boundary(parsed.end));
            prop_assert!(words.iter().all(|w| w.at < text.len() && text.is_char_boundary(w.at)));
            at = parsed.end + 1;
        }
    }
}
