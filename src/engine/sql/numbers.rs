//! Whole numbers of more than 64 bits, which the engine would read as floating-point numbers: exact decimals.
//! Not for times with a unit (see `units`).

use datafusion::common::{Result, Span};
use datafusion::sql::sqlparser::ast::{CastKind, DataType, ExactNumberInfo, Expr, UnaryOperator, Value};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::refused;

/// Digits of the largest decimal.
const DIGITS: usize = 38;

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
    use crate::engine::sql::parse;

    #[test]
    fn large_numbers_stay_exact() {
        let of = |sql: &str| parse(sql, None).unwrap().statement.to_string();
        let exact = "CAST('99999999999999999999' AS DECIMAL(38,0))";
        assert_eq!(of("SELECT 99999999999999999999"), format!("SELECT {exact}"));
        assert_eq!(of("SELECT -99999999999999999999"), format!("SELECT -{exact}"));
        for fits in ["18446744073709551615", "-9223372036854775808", "1e30", "99999999999999999999.5"] {
            assert_eq!(of(&format!("SELECT {fits}")), format!("SELECT {fits}"));
        }
        assert!(of("SELECT -9223372036854775809").contains("DECIMAL"));
        assert!(parse(&format!("SELECT {}", "9".repeat(39)), None).is_err());
    }
}
