//! The text of distributions and of the arrivals of ISRs → what they mean. Not their checks, and not random
//! numbers.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::observed::{self, ObservedText};
use super::values::{FineTime, Number, Scalar, Time, Whole};
use crate::error::{Error, Result};
use crate::simulate::model::{Arrivals, Distribution};

/// A time that may be random: `"1ms"`, or a table with the key of a distribution.
#[derive(Debug, Clone)]
pub(super) enum DistributionText {
    Constant(Time),
    Table(Box<DistributionTable>),
}

/// Exactly one of the distributions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DistributionTable {
    uniform: Option<[Time; 2]>,
    normal: Option<NormalText>,
    weibull: Option<WeibullText>,
    beta: Option<BetaText>,
    log_normal: Option<Spanned<LogNormalText>>,
    in_turn: Option<Vec<ObservedText>>,
    one_of: Option<Vec<ObservedText>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with mean, deviation, min and max")]
struct NormalText {
    mean: FineTime,
    deviation: FineTime,
    #[serde(default = "none")]
    min: Time,
    max: Time,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with shape, scale, min and max")]
struct WeibullText {
    shape: Number,
    scale: FineTime,
    #[serde(default = "none")]
    min: Time,
    max: Time,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with alpha, beta, min and max")]
struct BetaText {
    alpha: Number,
    beta: Number,
    #[serde(default = "none")]
    min: Time,
    max: Time,
}

/// `mean` and `deviation` are those of the time; `mu` and `sigma` those of its logarithm.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with mean, deviation, min and max")]
struct LogNormalText {
    mean: Option<FineTime>,
    deviation: Option<FineTime>,
    mu: Option<Number>,
    sigma: Option<Number>,
    #[serde(default = "none")]
    min: Time,
    max: Time,
}

fn none() -> Time {
    Time(0)
}

/// Written by hand, so that the place of a mistake in the table is kept.
impl<'de> Deserialize<'de> for DistributionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = DistributionText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a time such as \"1.5ms\", or a distribution such as { uniform = [\"1ms\", \"2ms\"] }",
                )
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<DistributionText, E> {
                constant(Scalar::Text(text.to_owned()))
            }

            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<DistributionText, E> {
                constant(Scalar::Integer(n.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DistributionText, A::Error> {
                let table = DistributionTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(DistributionText::Table(Box::new(table)))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

fn constant<E: serde::de::Error>(scalar: Scalar) -> Result<DistributionText, E> {
    Time::try_from(scalar).map(DistributionText::Constant).map_err(E::custom)
}

impl DistributionText {
    /// What it means.
    pub(super) fn lower(&self) -> Result<Distribution> {
        match self {
            Self::Constant(time) => Ok(Distribution::Constant(time.0)),
            Self::Table(table) => table.lower(),
        }
    }
}

impl DistributionTable {
    fn lower(&self) -> Result<Distribution> {
        let Self { uniform, normal, weibull, beta, log_normal, in_turn, one_of } = self;
        let all = [
            uniform.map(|[min, max]| Ok(Distribution::Uniform { min: min.0, max: max.0 })),
            normal.as_ref().map(|n| Ok(n.lower())),
            weibull.as_ref().map(|w| Ok(w.lower())),
            beta.as_ref().map(|b| Ok(b.lower())),
            log_normal.as_ref().map(|l| l.get_ref().lower()),
            in_turn.as_ref().map(|list| observed::lower(list, true)),
            one_of.as_ref().map(|list| observed::lower(list, false)),
        ];
        let mut written = all.into_iter().flatten();
        match (written.next(), written.next()) {
            (Some(only), None) => only,
            _ => Err(Error::input("a distribution has exactly one key")
                .hint("one of uniform, normal, weibull, beta, log_normal, in_turn, one_of")),
        }
    }
}

impl NormalText {
    fn lower(&self) -> Distribution {
        let (mean, deviation) = (self.mean.0, self.deviation.0);
        Distribution::Normal { mean, deviation, min: self.min.0, max: self.max.0 }
    }
}

impl WeibullText {
    fn lower(&self) -> Distribution {
        let (shape, scale) = (self.shape.0, self.scale.0);
        Distribution::Weibull { shape, scale, min: self.min.0, max: self.max.0 }
    }
}

impl BetaText {
    fn lower(&self) -> Distribution {
        let (alpha, beta) = (self.alpha.0, self.beta.0);
        Distribution::Beta { alpha, beta, min: self.min.0, max: self.max.0 }
    }
}

impl LogNormalText {
    fn lower(&self) -> Result<Distribution> {
        let (mu, sigma) = match (self.mean, self.deviation, self.mu, self.sigma) {
            (Some(mean), Some(deviation), None, None) => {
                if mean.0 <= 0.0 {
                    return Err(Error::input("the mean of log_normal is 0").hint("it has to be more than 0"));
                }
                // The moments of a log-normal distribution, solved for those of its logarithm.
                let ratio = deviation.0 / mean.0;
                let variance = libm::log1p(ratio * ratio);
                (libm::log(mean.0) - variance / 2.0, libm::sqrt(variance))
            }
            (None, None, Some(mu), Some(sigma)) => (mu.0, sigma.0),
            _ => {
                return Err(Error::input("log_normal takes mean and deviation, or mu and sigma")
                    .hint("e.g. log_normal = { mean = \"1ms\", deviation = \"100us\", max = \"2ms\" }"));
            }
        };
        Ok(Distribution::LogNormal { mu, sigma, min: self.min.0, max: self.max.0 })
    }
}

/// `periodic = { offset, period, jitter }`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with offset, period and jitter")]
pub(super) struct PeriodicText {
    #[serde(default = "none")]
    offset: Time,
    period: Time,
    #[serde(default = "none")]
    jitter: Time,
}

/// `sporadic = { offset, distance, more }`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with offset, distance and more")]
pub(super) struct SporadicText {
    #[serde(default = "none")]
    offset: Time,
    distance: Time,
    more: Option<DistributionText>,
}

/// `curve = { offset, limits }`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with offset and limits")]
pub(super) struct CurveText {
    #[serde(default = "none")]
    offset: Time,
    limits: Vec<(Whole, Time)>,
}

impl PeriodicText {
    pub(super) fn lower(&self) -> Arrivals {
        Arrivals::Periodic { offset: self.offset.0, period: self.period.0, jitter: self.jitter.0 }
    }
}

impl SporadicText {
    pub(super) fn lower(&self) -> Result<Arrivals> {
        let more = self.more.as_ref().map_or(Ok(Distribution::Constant(0)), DistributionText::lower)?;
        Ok(Arrivals::Sporadic { offset: self.offset.0, distance: self.distance.0, more })
    }
}

impl CurveText {
    pub(super) fn lower(&self) -> Arrivals {
        let limits = self.limits.iter().map(|(n, span)| (n.0, span.0)).collect();
        Arrivals::Curve { offset: self.offset.0, limits }
    }
}
