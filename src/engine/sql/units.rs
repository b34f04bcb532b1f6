//! Times with a unit in SQL, such as `10ms`, as ticks of the database. Not for the values of parameters.

use std::iter::Peekable;

use datafusion::common::{Result, Span};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::refused;
use crate::time::{TimeScale, parse_time_argument};

/// Replaces every number that is followed by a unit, without a blank, by the ticks of `scale` that it counts.
/// Without a scale, the number does not matter.
///
/// # Errors
/// When it is no whole number of ticks, or does not fit 64 bits; and for a number that is followed by another
/// word, which the parser would take for the name of a column.
pub(super) fn in_ticks(tokens: Vec<TokenWithSpan>, scale: Option<TimeScale>) -> Result<Vec<TokenWithSpan>> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(mut token) = rest.next() {
        if let Token::Number(number, false) = &token.token
            && let Some((word, end)) = word(&mut rest)
        {
            token.span.end = end.span.end;
            let literal = format!("{number}{word}");
            let ticks = match (TimeScale::parse(&word), scale) {
                (None, _) => Err(format!("'{literal}' is neither a number nor a time")),
                (Some(_), None) => Ok(0),
                (Some(_), Some(scale)) => parse_time_argument(&literal, scale),
            };
            let ticks = ticks.map_err(|why| {
                let span = Span::try_from_sqlparser_span(token.span);
                refused(why, span, "a time is a number and ps, ns, us, ms or s, without a blank: 1.5ms")
            })?;
            token.token = Token::Number(ticks.to_string(), false);
        }
        out.push(token);
    }
    Ok(out)
}

/// The word that follows at once, which is taken.
fn word(rest: &mut Peekable<impl Iterator<Item = TokenWithSpan>>) -> Option<(String, TokenWithSpan)> {
    let word = match &rest.peek()?.token {
        Token::Word(Word { value, quote_style: None, .. }) => value.clone(),
        _ => return None,
    };
    Some((word, rest.next()?))
}
