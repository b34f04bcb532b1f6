//! Text of the user to values, with messages that name the option.

use super::super::args::Limits;
use crate::engine::Param;
use crate::error::{Error, Result};
use crate::time::{TimeScale, parse_time_argument};

/// Threads to use.
pub(super) fn threads(limits: &Limits) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    limits.threads.map_or_else(all, usize::from)
}

/// A time argument in ticks of `scale`.
pub(super) fn time(option: &str, text: Option<&str>, scale: TimeScale) -> Result<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    let ticks = parse_time_argument(text, scale).map_err(|e| Error::usage(format!("{option}: {e}")))?;
    Ok(Some(ticks))
}

/// The names of a list that was cut at its commas, without the blanks around them. Fails for an option that
/// names nothing.
pub(super) fn names(option: &str, list: &[String]) -> Result<Vec<String>> {
    let names: Vec<_> = list.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() && !list.is_empty() {
        return Err(Error::usage(format!("{option}: '{}' names nothing", list.join(",")))
            .hint("write names with commas between them"));
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// `NAME=VALUE` for a parameter of SQL. The value is a number, a time with a unit, `null`, or text, which may
/// be in single quotes; times become ticks of `scale`.
pub(in crate::cli) fn param(text: &str, scale: TimeScale) -> Result<(&str, Param)> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        let error = Error::usage(format!("--param: '{text}' is not NAME=VALUE"));
        return Err(error.hint("e.g. --param window=10ms"));
    };
    let bare = name.strip_prefix('$').unwrap_or(name);
    if bare.is_empty() || !bare.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(Error::usage(format!("--param: '{bare}' cannot be the name of a parameter"))
            .hint("a name has letters, digits and _, as in $window"));
    }
    let digits = value.trim_start_matches(['+', '-']);
    if !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && value.parse::<i128>().map_or(true, |number| i64::try_from(number).is_err())
    {
        return Err(Error::usage(format!("--param: {value} does not fit 64 bits"))
            .hint(format!("'{value}' in quotes is a text: CAST({0} AS DECIMAL(38, 0)) in SQL", dollar(name)))
            .hint("1e20 is a number of type DOUBLE, which keeps about 16 digits"));
    }
    let hexadecimal = value.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
    let quoted = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let number = hexadecimal.map_or_else(|| parse_time_argument(value, scale), Ok);
    let value = match (quoted, number, value.parse::<f64>()) {
        (Some(text), ..) => text.into(),
        (None, Ok(number), _) => number.into(),
        (None, Err(_), Ok(number))
            if value.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) =>
        {
            Param::Float(number)
        }
        _ if value.eq_ignore_ascii_case("null") => Param::Null,
        _ => value.into(),
    };
    Ok((bare, value))
}

/// The name of a parameter as SQL has it.
fn dollar(name: &str) -> String {
    format!("${}", name.trim_start_matches('$'))
}

/// The bytes of `--memory-limit`.
pub(in crate::cli) fn memory(limits: &Limits) -> Result<Option<u64>> {
    limits.memory_limit.as_deref().map(|text| size("--memory-limit", text)).transpose()
}

/// `512MiB`, `4GiB`, `1TB` or a number of bytes; not 0.
pub(super) fn size(option: &str, text: &str) -> Result<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit: u64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        "tib" | "t" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => 0,
    };
    let number = text[..digits].parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0);
    number
        .ok_or_else(|| Error::usage(format!("{option}: '{text}' is not a size")).hint("e.g. 512MiB or 4GiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters() {
        let of = |text| param(text, TimeScale::Ns).unwrap();
        assert_eq!(of("window=1.5us"), ("window", Param::Int(1500)));
        assert_eq!(of("$n=-7"), ("n", Param::Int(-7)));
        assert_eq!((of("x=0x33").1, of("x=0xyz").1), (Param::Int(51), "0xyz".into()));
        assert_eq!(of("x=1.25"), ("x", Param::Float(1.25)));
        assert_eq!((of("x=NULL").1, of("x='7'").1), (Param::Null, "7".into()));
        assert_eq!(
            (of("x=infinity").1, of("x=a=b").1, of("x=").1),
            ("infinity".into(), "a=b".into(), "".into())
        );
        assert!(param("x=99999999999999999999", TimeScale::Ns).is_err());
        assert_eq!(of("x=1e20"), ("x", Param::Float(1e20)));
        for wrong in ["window", "a b=1", "$=1", "'x=1"] {
            assert_eq!(param(wrong, TimeScale::Ns).unwrap_err().hints().len(), 1, "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        let of = |text: &str| size("--memory-limit", text);
        assert_eq!(of("512MiB").unwrap(), 512 << 20);
        assert_eq!(of("1GB").unwrap(), 1_000_000_000);
        assert_eq!(of("2 TiB").unwrap(), 2 << 40);
        for bad in ["", "x", "1 parsec", "0", "99999999999GiB"] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
