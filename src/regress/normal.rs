//! Student's t and the standard normal numbers that are as improbable. Only scores, no data. Exponentials and
//! logarithms are those of the crate `libm`, which is the same code on every machine.

use crate::chance::FARTHEST;

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
