//! Formula text to postfix code: the C expression grammar of ORTI formulas. Not for evaluation.

use super::evaluation::{Binary, FormulaError, Op, Unary, Width, run};
use super::lexer::{c_character, c_integer, is_word};

/// Maximum nesting of parentheses, indices, signs and `?:`.
const MAX_DEPTH: u32 = 64;
/// Maximum length of a formula, in bytes.
const MAX_LENGTH: usize = 4096;

/// Compiles `text`; static paths become [`Op::Path`]s with one text.
pub(super) fn compile(text: &str) -> Result<Vec<Op>, FormulaError> {
    if text.len() > MAX_LENGTH {
        return Err(FormulaError { column: 1, message: format!("longer than {MAX_LENGTH} bytes") });
    }
    let mut compiler = Compiler { tokens: tokens(text)?, at: 0, depth: 0, code: Vec::new() };
    compiler.expression()?;
    match compiler.peek() {
        Item::End => Ok(compiler.code),
        _ => Err(compiler.unexpected()),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Number(i64),
    Word(String),
    Text,
    Sign(&'static str),
    End,
}

/// The signs of the subset, and those with an error message of their own; longer ones first.
#[rustfmt::skip]
const SIGNS: &[&str] = &["->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "(", ")", "[", "]", ".",
    "&", "*", "+", "-", "~", "!", "/", "%", "<", ">", "^", "|", "?", ":", "="];

/// The operators with two sides: sign, binding strength, operator (`None`: short-circuit).
#[rustfmt::skip]
const OPERATORS: &[(&str, u8, Option<Binary>)] = &[
    ("||", 1, None), ("&&", 2, None),
    ("|", 3, Some(Binary::Or)), ("^", 4, Some(Binary::Xor)), ("&", 5, Some(Binary::And)),
    ("==", 6, Some(Binary::Equal)), ("!=", 6, Some(Binary::NotEqual)),
    ("<", 7, Some(Binary::Less)), (">", 7, Some(Binary::Greater)),
    ("<=", 7, Some(Binary::LessEqual)), (">=", 7, Some(Binary::GreaterEqual)),
    ("<<", 8, Some(Binary::ShiftLeft)), (">>", 8, Some(Binary::ShiftRight)),
    ("+", 9, Some(Binary::Add)), ("-", 9, Some(Binary::Subtract)),
    ("*", 10, Some(Binary::Multiply)), ("/", 10, Some(Binary::Divide)), ("%", 10, Some(Binary::Remainder)),
];

fn tokens(text: &str) -> Result<Vec<(Item, u32)>, FormulaError> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    let mut column = 1;
    while let Some(first) = bytes.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        let fail = |message: String| Err(FormulaError { column, message });
        let (item, length) = if first.is_ascii_whitespace() {
            (None, 1)
        } else if is_word(first) {
            let length = rest.bytes().take_while(|b| is_word(*b)).count();
            let word = rest.get(..length).unwrap_or_default();
            match (first.is_ascii_digit(), c_integer(word)) {
                (true, Some(value)) => (Some(Item::Number(value)), length),
                (true, None) => return fail(format!("'{word}' is not an integer of at most 64 bits")),
                (false, _) => (Some(Item::Word(word.to_owned())), length),
            }
        } else if first == b'"' {
            let Some(length) = rest.get(1..).and_then(|inside| inside.find('"')) else {
                return fail("a string without end".to_owned());
            };
            (Some(Item::Text), length + 2)
        } else if first == b'\'' {
            let close = (3..=4).find(|n| c_character(rest.get(..*n).unwrap_or_default()).is_some());
            let Some(length) = close else {
                return fail("a lone '".to_owned());
            };
            (c_character(rest.get(..length).unwrap_or_default()).map(Item::Number), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Some(Item::Sign(sign)), sign.len())
        } else {
            return fail(format!(
                "'{}' means nothing here",
                rest.chars().next().unwrap_or_default().escape_debug()
            ));
        };
        out.extend(item.map(|item| (item, column)));
        let chars = rest.get(..length).map_or(length, |taken| taken.chars().count());
        column = column.saturating_add(u32::try_from(chars).unwrap_or(u32::MAX));
        at += length;
    }
    out.push((Item::End, column));
    Ok(out)
}

/// The rules return whether they compiled a bare variable path, which `[`, `.` and `->` may extend.
struct Compiler {
    tokens: Vec<(Item, u32)>,
    at: usize,
    depth: u32,
    code: Vec<Op>,
}

impl Compiler {
    fn item(&self, at: usize) -> &Item {
        self.tokens.get(at).map_or(&Item::End, |(item, _)| item)
    }

    fn peek(&self) -> &Item {
        self.item(self.at)
    }

    fn eat(&mut self, sign: &'static str) -> bool {
        let found = *self.peek() == Item::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), FormulaError> {
        if self.eat(sign) { Ok(()) } else { Err(self.fail(format!("'{sign}' expected"))) }
    }

    fn fail(&self, message: String) -> FormulaError {
        let column = self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, column)| *column);
        FormulaError { column, message }
    }

    fn unexpected(&self) -> FormulaError {
        self.fail(match self.peek() {
            Item::Number(_) => "a number is not expected here".to_owned(),
            Item::Word(word) => format!("'{word}' is not expected here"),
            Item::Text => "a string is not expected here".to_owned(),
            Item::Sign("=") => "'=' would assign; '==' compares".to_owned(),
            Item::Sign("(") => "functions cannot be called".to_owned(),
            Item::Sign(sign) => format!("'{sign}' is not expected here"),
            Item::End => "something is missing at the end".to_owned(),
        })
    }

    /// Sets the jump at `at` to the end of the code so far.
    fn patch(&mut self, at: usize) {
        let distance = self.code.len().saturating_sub(at + 1);
        if let Some(Op::Decide(_, skip) | Op::Jump(skip) | Op::Branch(_, skip)) = self.code.get_mut(at) {
            *skip = distance;
        }
    }

    fn expression(&mut self) -> Result<bool, FormulaError> {
        let bare = self.binary(1)?;
        if !self.eat("?") {
            return Ok(bare);
        }
        self.nested(|compiler| {
            let branch = compiler.code.len();
            compiler.code.push(Op::Branch(0, 0));
            compiler.expression()?;
            compiler.expect(":")?;
            let jump = compiler.code.len();
            compiler.code.push(Op::Jump(0));
            if let Some(Op::Branch(otherwise, _)) = compiler.code.get_mut(branch) {
                *otherwise = jump - branch;
            }
            compiler.expression()?;
            compiler.patch(jump);
            compiler.patch(branch);
            Ok(false)
        })
    }

    fn nested(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<bool, FormulaError>,
    ) -> Result<bool, FormulaError> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(format!("nested deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        let bare = rule(self)?;
        self.depth -= 1;
        Ok(bare)
    }

    /// Operators at least as strong as `weakest`, by precedence climbing.
    fn binary(&mut self, weakest: u8) -> Result<bool, FormulaError> {
        let mut bare = self.unary()?;
        while let Item::Sign(sign) = self.peek()
            && let Some((sign, strength, operator)) = OPERATORS.iter().find(|(s, ..)| s == sign)
            && *strength >= weakest
        {
            self.at += 1;
            let decide = self.code.len();
            if operator.is_none() {
                self.code.push(Op::Decide(*sign == "||", 0));
            }
            self.binary(strength + 1)?;
            match operator {
                Some(operator) => self.code.push(Op::Binary(*operator)),
                None => {
                    self.code.push(Op::Unary(Unary::Truth));
                    self.patch(decide);
                }
            }
            bare = false;
        }
        Ok(bare)
    }

    fn unary(&mut self) -> Result<bool, FormulaError> {
        let op = match self.peek() {
            Item::Sign("-") => Some(Op::Unary(Unary::Minus)),
            Item::Sign("!") => Some(Op::Unary(Unary::Not)),
            Item::Sign("~") => Some(Op::Unary(Unary::Complement)),
            // `+x` is x as a value: a cast that changes nothing.
            Item::Sign("+") => Some(Op::Cast(Width::Same)),
            Item::Sign("&" | "*") => Some(Op::Opaque(1)),
            Item::Word(word) if word == "sizeof" => return self.sizeof(),
            Item::Sign("(") => match self.cast() {
                Some((width, next)) => {
                    self.at = next - 1;
                    Some(Op::Cast(width))
                }
                None => None,
            },
            _ => None,
        };
        let Some(op) = op else { return self.postfix() };
        self.at += 1;
        self.nested(|compiler| {
            compiler.unary()?;
            compiler.code.push(op);
            Ok(false)
        })
    }

    /// `sizeof x` and `sizeof(type)`: unknown in a trace.
    fn sizeof(&mut self) -> Result<bool, FormulaError> {
        self.at += 1;
        if let Some((_, next)) = self.type_name() {
            self.at = next;
            self.code.extend([Op::Number(0), Op::Opaque(1)]);
            return Ok(false);
        }
        self.nested(|compiler| {
            compiler.unary()?;
            compiler.code.push(Op::Opaque(1));
            Ok(false)
        })
    }

    /// The current `(type)`: the width, whether it can only be a type, and the token after it.
    fn type_name(&self) -> Option<((Width, bool), usize)> {
        let mut at = self.at;
        let mut text = String::new();
        let (mut words, mut certain) = (0, false);
        if *self.item(at) != Item::Sign("(") {
            return None;
        }
        loop {
            at += 1;
            match self.item(at) {
                // `(a * b)` is a product.
                Item::Word(word) if word == "sizeof" || (text.contains('*') && word != "const") => {
                    return None;
                }
                Item::Word(word) => {
                    words += 1;
                    certain |= words > 1 || Width::of(word) != Width::Same || word == "void";
                    text.push_str(word);
                    text.push(' ');
                }
                Item::Sign("*") if words > 0 => text.push('*'),
                Item::Sign(")") if words > 0 => {
                    return Some(((Width::of(&text), certain || text.ends_with('*')), at + 1));
                }
                _ => return None,
            }
        }
    }

    /// The current cast. C needs its symbol table to distinguish `(a) - b` from a cast; here an unknown name
    /// in parentheses is a type only if no operator follows.
    fn cast(&self) -> Option<(Width, usize)> {
        let ((width, certain), next) = self.type_name()?;
        let operand = matches!(
            self.item(next),
            Item::Number(_) | Item::Word(_) | Item::Text | Item::Sign("(" | "!" | "~")
        );
        if certain || operand { Some((width, next)) } else { None }
    }

    fn postfix(&mut self) -> Result<bool, FormulaError> {
        let mut bare = match self.peek().clone() {
            Item::Number(value) => {
                self.code.push(Op::Number(value));
                self.at += 1;
                false
            }
            Item::Word(name) => {
                self.code.push(Op::Path(vec![name]));
                self.at += 1;
                true
            }
            Item::Text => {
                self.code.extend([Op::Number(0), Op::Opaque(1)]);
                self.at += 1;
                false
            }
            Item::Sign("(") => {
                self.at += 1;
                let bare = self.nested(Self::expression)?;
                self.expect(")")?;
                bare
            }
            _ => return Err(self.unexpected()),
        };
        loop {
            if self.eat("[") {
                let path = self.code.len().saturating_sub(1);
                self.nested(Self::expression)?;
                self.expect("]")?;
                bare = self.index(bare, path);
            } else if self.eat(".") || self.eat("->") {
                let Item::Word(member) = self.peek().clone() else {
                    return Err(self.unexpected());
                };
                self.at += 1;
                self.extend(bare, &format!(".{member}"));
            } else {
                return Ok(bare);
            }
        }
    }

    /// Appends to the path on top of the code; anything other than a path needs an address.
    fn extend(&mut self, bare: bool, text: &str) {
        match self.code.last_mut() {
            Some(Op::Path(texts)) if bare => {
                texts.last_mut().into_iter().for_each(|last| last.push_str(text))
            }
            _ => self.code.push(Op::Opaque(1)),
        }
    }

    /// Applies the index after the path at `path`; a constant one becomes part of the path.
    fn index(&mut self, bare: bool, path: usize) -> bool {
        let index = self.code.get(path + 1..).unwrap_or_default();
        let constant = !index.iter().any(|op| matches!(op, Op::Path(_) | Op::Opaque(_)));
        let value = run(index, &|_| None, &|_| None).filter(|value| *value >= 0);
        if !bare || (constant && value.is_none()) {
            self.code.push(Op::Opaque(2));
            return false;
        }
        if let (true, Some(value)) = (constant, value) {
            self.code.truncate(path + 1);
            self.extend(true, &format!("[{value}]"));
        } else if path < self.code.len()
            && let Op::Path(mut texts) = self.code.remove(path)
        {
            // The indices come before their path, which then takes them from the stack.
            texts.push(String::new());
            self.code.push(Op::Path(texts));
        }
        true
    }
}
