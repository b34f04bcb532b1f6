//! The date of a trace: what BTF demands, and how other tools write it. Not the times of events.

/// The date in the form of ISO 8601, which BTF demands (2.1.5 table 1; 2.2.1 §2.2.2); `None` if the text does
/// not say it, or names a time zone that has no number.
///
/// Kernel traces and loggers have the form of C: `Sat Nov 21 13:05:09 2026`, `Aug 21 2022 03:55:38`. They do
/// not say in which time zone, and neither does the result.
pub fn to_iso(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let text = text.trim();
    if is_iso(text) {
        return Some(text.to_owned());
    }
    if let Some(iso) = text.split_once(' ').map(|(day, time)| format!("{day}T{time}")).filter(|t| is_iso(t)) {
        return Some(iso);
    }
    let (mut month, mut day, mut year, mut time, mut zone) = (None, None, None, None, "");
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        let number = word.parse::<u16>().ok();
        match number {
            _ if word.contains(':') => drop(time.replace(word)),
            Some(number) if word.len() <= 2 => drop(day.replace(number)),
            Some(number) => drop(year.replace(number)),
            None if lower == "utc" || lower == "gmt" => zone = "Z",
            None => match MONTHS.iter().position(|known| lower.starts_with(known)) {
                Some(number) => drop(month.replace(number + 1)),
                None if DAYS.iter().any(|known| lower.starts_with(known)) => {}
                None => return None,
            },
        }
    }
    let iso = format!("{:04}-{:02}-{:02}T{}{zone}", year?, month?, day?, time?);
    is_iso(&iso).then_some(iso)
}

/// True for `YYYY-MM-DDTHH:MM:SS` with a fraction, `Z` or an offset after it.
pub fn is_iso(text: &str) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let fits = |(want, got): (&u8, &u8)| if *want == b'd' { got.is_ascii_digit() } else { want == got };
    if bytes.len() < pattern.len() || !pattern.iter().zip(bytes).all(fits) {
        return false;
    }
    let number =
        |from: usize| text.get(from..from + 2).and_then(|two| two.parse::<u8>().ok()).unwrap_or(u8::MAX);
    // A leap second is written as 60.
    let in_range = (1..=12).contains(&number(5))
        && (1..=31).contains(&number(8))
        && number(11) <= 24
        && number(14) <= 59
        && number(17) <= 60;
    let rest = text.get(pattern.len()..).unwrap_or("");
    let zone = match rest.strip_prefix(['.', ',']) {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if zone.len() == fraction.len() {
                return false;
            }
            zone
        }
        None => rest,
    };
    let offset = |zone: &str| {
        zone.strip_prefix(['+', '-']).is_some_and(|digits| {
            let digits = digits.as_bytes();
            let form: &[u8] = if digits.len() == 5 { b"dd:dd" } else { b"dd" };
            digits.len() == form.len() && form.iter().zip(digits).all(fits)
        })
    };
    in_range && (zone.is_empty() || zone == "Z" || offset(zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_c_are_put_into_the_form_of_iso() {
        for (text, iso) in [
            ("Sat Nov 21 13:05:09 2026", "2026-11-21T13:05:09"),
            ("Sat Nov  1 13:05:09 UTC 2026", "2026-11-01T13:05:09Z"),
            ("Aug 21 2022 03:55:38", "2022-08-21T03:55:38"),
            ("2026-11-21 13:05:09", "2026-11-21T13:05:09"),
            ("2026-11-21T13:05:09.5+02:00", "2026-11-21T13:05:09.5+02:00"),
        ] {
            assert_eq!(to_iso(text).as_deref(), Some(iso), "{text}");
        }
        // The abbreviation of a zone has no meaning of its own, and the rest are no dates.
        for text in ["Sat Nov 21 13:05:09 EST 2026", "yesterday", "", "Nov 2026", "Sat Nov 41 13:05:09 2026"]
        {
            assert_eq!(to_iso(text), None, "{text}");
        }
    }
}
