//! Whole numbers as they are typed: hexadecimal, which the parser takes for bytes; with `_` between digits;
//! and of more than 64 bits, which the engine would read as floating-point numbers: exact decimals. Not for
//! times with a unit (see `units`).

use std::iter::Peekable;

use datafusion::common::{Result, Span};
use datafusion::sql::sqlparser::ast::{CastKind, DataType, ExactNumberInfo, Expr, UnaryOperator, Value};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::refused;

/// Digits of the largest decimal.
const DIGITS: usize = 38;

/// Writes hexadecimal numbers and those with `_` between their digits in plain digits.
///
/// # Errors
/// For what begins like a hexadecimal number and is none.
pub(super) fn in_digits(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(mut token) = rest.next() {
        let hexadecimal = match &token.token {
            Token::HexStringLiteral(digits) if !is_quoted(&token, digits) => Some(digits.clone()),
            Token::Number(zero, false) if zero == "0" => {
                word(&mut rest, |text| text.starts_with('X')).map(|(text, end)| {
                    token.span.end = end.span.end;
                    text.trim_start_matches('X').to_owned()
                })
            }
            _ => None,
        };
        if let Some(mut digits) = hexadecimal {
            if let Some((more, end)) = word(&mut rest, |_| true) {
                digits.push_str(&more);
                token.span.end = end.span.end;
            }
            let number = digits_between(&digits, |b| b.is_ascii_hexdigit());
            let Some(number) = number.and_then(|digits| u128::from_str_radix(&digits, 16).ok()) else {
                let span = Span::try_from_sqlparser_span(token.span);
                let message = format!("'0x{digits}' is no hexadecimal number of at most 128 bits");
                return Err(refused(message, span, "0x1F is 31, X'1F' is a byte"));
            };
            token.token = Token::Number(number.to_string(), false);
        } else if let Token::Number(number, false) = &token.token
            && number.bytes().all(|b| b.is_ascii_digit())
            && let Some((more, end)) = word(&mut rest, |text| text.starts_with('_'))
        {
            // What follows the last digit may be a unit.
            let digits = more.trim_end_matches(|c: char| !c.is_ascii_digit());
            let unit = more.get(digits.len()..).unwrap_or_default().to_owned();
            let Some(digits) = digits_between(&format!("{number}{digits}"), |b| b.is_ascii_digit()) else {
                let span = Span::try_from_sqlparser_span(token.span);
                return Err(refused(format!("'{number}{more}' is no number"), span, "1_000 is 1000"));
            };
            token.token = Token::Number(digits, false);
            token.span.end = end.span.end;
            out.push(token);
            if !unit.is_empty() {
                out.push(TokenWithSpan { token: Token::make_word(&unit, None), span: end.span });
            }
            continue;
        }
        out.push(token);
    }
    Ok(out)
}

/// True for `X'1F'`, bytes; false for `0x1F`.
fn is_quoted(token: &TokenWithSpan, digits: &str) -> bool {
    let width = token.span.end.column.saturating_sub(token.span.start.column);
    usize::try_from(width).is_ok_and(|width| width != digits.len() + "0x".len())
}

/// The word that follows at once, which is taken.
fn word(
    rest: &mut Peekable<impl Iterator<Item = TokenWithSpan>>,
    is_wanted: fn(&str) -> bool,
) -> Option<(String, TokenWithSpan)> {
    let text = match &rest.peek()?.token {
        Token::Word(Word { value, quote_style: None, .. }) if is_wanted(value) => value.clone(),
        _ => return None,
    };
    Some((text, rest.next()?))
}

/// The digits without the `_` between them; `None` if there is anything else.
fn digits_between(text: &str, is_digit: fn(u8) -> bool) -> Option<String> {
    let groups = text.split('_').all(|group| !group.is_empty() && group.bytes().all(is_digit));
    groups.then(|| text.replace('_', ""))
}

/// The digits of a whole number.
fn digits(number: &str) -> Option<String> {
    let digits = number.replace('_', "");
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// Refuses whole numbers with more digits than a decimal has.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    for token in tokens {
        if let Token::Number(number, _) = &token.token
            && let Some(digits) = digits(number)
            && digits.trim_start_matches('0').len() > DIGITS
        {
            let message = format!("the number has more than {DIGITS} digits");
            let span = Span::try_from_sqlparser_span(token.span);
            return Err(refused(
                message,
                span,
                "1e40 is a number of type DOUBLE, which keeps about 16 digits",
            ));
        }
    }
    Ok(())
}

/// Makes a whole number that does not fit 64 bits a decimal. Inner expressions come first.
pub(super) fn make_exact(expression: &mut Expr) {
    match expression {
        // Above `i64`, the engine has unsigned numbers.
        Expr::Value(_) => decimal(expression, |digits| digits.parse::<u64>().is_ok()),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            decimal(expr, |digits| format!("-{digits}").parse::<i64>().is_ok());
        }
        _ => {}
    }
}

fn decimal(expression: &mut Expr, fits: fn(&str) -> bool) {
    let Expr::Value(value) = &*expression else { return };
    let Value::Number(number, _) = &value.value else { return };
    let Some(digits) = digits(number).filter(|digits| !fits(digits)) else { return };
    *expression = Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::SingleQuotedString(digits).into())),
        data_type: DataType::Decimal(ExactNumberInfo::PrecisionAndScale(DIGITS as u64, 0)),
        array: false,
        format: None,
    };
}

#[cfg(test)]
mod tests {
    use crate::engine::sql::{ParseOptions, parse};
    use crate::time::TimeScale;

    fn in_ns() -> ParseOptions {
        ParseOptions { scale: Some(TimeScale::Ns), ..ParseOptions::default() }
    }

    #[test]
    fn large_numbers_stay_exact() {
        let of = |sql: &str| parse(sql, ParseOptions::default()).unwrap().statement.to_string();
        let exact = "CAST('99999999999999999999' AS DECIMAL(38,0))";
        assert_eq!(of("SELECT 99999999999999999999 AS n"), format!("SELECT {exact} AS n"));
        assert_eq!(of("SELECT -99999999999999999999 AS n"), format!("SELECT -{exact} AS n"));
        for fits in ["18446744073709551615", "-9223372036854775808", "1e30", "99999999999999999999.5"] {
            assert_eq!(of(&format!("SELECT {fits} AS n")), format!("SELECT {fits} AS n"));
        }
        assert!(of("SELECT -9223372036854775809").contains("DECIMAL"));
        assert!(parse(&format!("SELECT {}", "9".repeat(39)), ParseOptions::default()).is_err());
    }

    #[test]
    fn digits_may_be_hexadecimal_and_in_groups() {
        let of = |number: &str| {
            let statement = parse(&format!("SELECT {number} AS n"), in_ns()).unwrap().statement;
            statement.to_string().trim_start_matches("SELECT ").trim_end_matches(" AS n").to_owned()
        };
        for (typed, read) in [
            ("0x10", "16"),
            ("0X1f", "31"),
            ("-0xFF", "-255"),
            ("0xFFFF_0000", "4294901760"),
            ("0xFFFFFFFFFFFFFFFF", "18446744073709551615"),
            ("X'10'", "X'10'"),
            ("x'0A'", "X'0A'"),
            ("1_000", "1000"),
            ("1_000_000ms", "1000000000000"),
            ("a0x10", "a0x10"),
            ("'0x10'", "'0x10'"),
        ] {
            assert_eq!(of(typed), read, "{typed}");
        }
        for bad in ["0x", "0xZZ", "0x10ms", "0x1__0", "1_", "1__0", "1_a", "10min", "1.5_0", "10xyz", "0b11"]
        {
            let error = parse(&format!("SELECT {bad}, 1"), in_ns()).err().unwrap();
            let diagnostic = error.diagnostic().unwrap_or_else(|| panic!("{bad}: {error}"));
            assert!(diagnostic.span.is_some() && !diagnostic.helps.is_empty(), "{bad}: {error}");
        }
    }
}
