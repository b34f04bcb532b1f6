//! Tails of the normal distribution and of Student's t. Only probabilities and scores, no data. Exponentials
//! and logarithms are those of the crate `libm`, which is the same code on every machine.

/// Scores beyond this are as good as infinite: the probability of ±37 is 1e-299.
pub(super) const FARTHEST: f64 = 37.0;

/// The probability of a standard normal number beyond ±`z`. The relative error is below 1e-12 up to
/// [`FARTHEST`]; there the probability is that of the farthest score, never 0.
pub(super) fn two_sided(z: f64) -> f64 {
    if z.is_nan() {
        return 1.0;
    }
    let z = z.abs().min(FARTHEST);
    let density = libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        // The power series of the integral from 0 to z: z + z³/3 + z⁵/15 + …, times the density.
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return (1.0 - 2.0 * density * sum).clamp(0.0, 1.0);
    }
    // The continued fraction of Mills' ratio, from its end: 1/(z + 1/(z + 2/(z + 3/(z + …)))).
    let ratio = (1..=120).rev().fold(z, |rest, n| z + f64::from(n) / rest);
    (2.0 * density / ratio).min(1.0)
}

/// The score beyond which, on both sides, the probability is `p`: the inverse of [`two_sided`], by halving.
pub(super) fn score(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, FARTHEST);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle) > p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The standard normal number that is as improbable as `t` is for Student's distribution with so many degrees
/// of freedom, with its sign. D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square
/// distributions", Annals of Mathematical Statistics 30 (1959).
pub(super) fn from_student(t: f64, freedom: f64) -> f64 {
    if t.is_nan() {
        return 0.0;
    }
    let freedom = freedom.max(1.0);
    let z = if t.is_infinite() {
        FARTHEST
    } else {
        (freedom * libm::log1p(t * t / freedom)).sqrt() * (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    };
    z.min(FARTHEST).copysign(t)
}

/// The inverse of [`from_student`].
pub(super) fn to_student(z: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    let plain = z * (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0);
    (libm::expm1(plain * plain / freedom) * freedom).sqrt().copysign(z)
}
