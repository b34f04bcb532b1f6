//! The values of samples, in few bytes, and their extremes. Not their statistics.

/// Whole numbers, narrow while all of them are, as durations mostly are: there may be many. Or others, once
/// one is.
#[derive(Debug, Clone)]
pub(super) enum Values {
    Narrow(Series<u32>),
    Wide(Series<i64>),
    Fractions(Series<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Narrow(Series::default())
    }
}

/// Values, and the times of the least and of the greatest of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Series<T> {
    pub values: Vec<T>,
    min: Moment<T>,
    max: Moment<T>,
}

/// A value and the first instant with it, [`NEVER`] if that is not known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moment<T> {
    pub value: T,
    pub at: i64,
}

pub(super) const NEVER: i64 = i64::MAX;

impl<T: PartialOrd + Copy> Series<T> {
    #[inline]
    fn push(&mut self, value: T, at: i64) {
        let Self { min, max, values } = self;
        let is_first = values.is_empty();
        if is_first || value < min.value || (value == min.value && at < min.at) {
            *min = Moment { value, at };
        }
        if is_first || value > max.value || (value == max.value && at < max.at) {
            *max = Moment { value, at };
        }
        values.push(value);
    }

    /// Adds values of which the instants are known for the extremes only. Of equal extremes, those that were
    /// there first count.
    fn join(&mut self, Self { values, min, max }: Self) {
        if values.is_empty() {
            return;
        }
        if self.values.is_empty() || min.value < self.min.value {
            self.min = min;
        }
        if self.values.is_empty() || max.value > self.max.value {
            self.max = max;
        }
        self.values.extend(values);
    }

    fn map<U>(self, to: impl Fn(T) -> U + Copy) -> Series<U> {
        let moment = |Moment { value, at }| Moment { value: to(value), at };
        let values = self.values.into_iter().map(to).collect();
        Series { values, min: moment(self.min), max: moment(self.max) }
    }

    /// The extremes, if there are values.
    fn extremes(&self) -> Option<[Moment<T>; 2]> {
        (!self.values.is_empty()).then_some([self.min, self.max])
    }
}

impl Values {
    #[inline]
    pub fn push_integer(&mut self, value: i64, at: i64) {
        match (&mut *self, u32::try_from(value)) {
            (Self::Narrow(values), Ok(value)) => values.push(value, at),
            (Self::Wide(values), _) => values.push(value, at),
            (Self::Fractions(values), _) => values.push(value as f64, at),
            (Self::Narrow(_), Err(_)) => {
                *self = Self::Wide(std::mem::take(self).into_wide());
                self.push_integer(value, at);
            }
        }
    }

    pub fn push_fraction(&mut self, value: f64, at: i64) {
        match self {
            Self::Fractions(values) => values.push(value, at),
            _ => {
                *self = Self::Fractions(std::mem::take(self).into_fractions());
                self.push_fraction(value, at);
            }
        }
    }

    /// Whole numbers of any width; fractions are not asked for.
    fn into_wide(self) -> Series<i64> {
        match self {
            Self::Narrow(values) => values.map(i64::from),
            Self::Wide(values) => values,
            Self::Fractions(values) => values.map(|value| value as i64),
        }
    }

    fn into_fractions(self) -> Series<f64> {
        match self {
            Self::Narrow(values) => values.map(f64::from),
            Self::Wide(values) => values.map(|value| value as f64),
            Self::Fractions(values) => values,
        }
    }

    pub fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Narrow(values), Self::Narrow(other)) => values.join(other),
            (Self::Wide(values), Self::Wide(other)) => values.join(other),
            (Self::Wide(values), Self::Narrow(other)) => values.join(other.map(i64::from)),
            (Self::Fractions(values), other) => values.join(other.into_fractions()),
            (_, other @ Self::Wide(_)) => {
                *self = Self::Wide(std::mem::take(self).into_wide());
                self.join(other);
            }
            (_, other @ Self::Fractions(_)) => {
                *self = Self::Fractions(std::mem::take(self).into_fractions());
                self.join(other);
            }
        }
    }

    /// The least and the greatest.
    pub fn extremes(&self) -> Option<[Moment<f64>; 2]> {
        fn of<T: PartialOrd + Copy>(
            series: &Series<T>,
            number: impl Fn(T) -> f64,
        ) -> Option<[Moment<f64>; 2]> {
            let moment = |Moment { value, at }| Moment { value: number(value), at };
            series.extremes().map(|both| both.map(moment))
        }
        match self {
            Self::Narrow(values) => of(values, f64::from),
            Self::Wide(values) => of(values, |value| value as f64),
            Self::Fractions(values) => of(values, |value| value),
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(series) => series.values.len(),
            Self::Wide(series) => series.values.len(),
            Self::Fractions(series) => series.values.len(),
        }
    }

    /// Sets the instants of the least and of the greatest.
    #[cfg(feature = "cluster")]
    pub fn set_times(&mut self, [min, max]: [i64; 2]) {
        match self {
            Self::Narrow(series) => (series.min.at, series.max.at) = (min, max),
            Self::Wide(series) => (series.min.at, series.max.at) = (min, max),
            Self::Fractions(series) => (series.min.at, series.max.at) = (min, max),
        }
    }
}
