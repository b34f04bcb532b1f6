//! The least value of a function, without its derivatives: on an interval, and in two or three dimensions.
//! Not which function (see `gev`, `gpd` and `profile`).

/// The golden section, as a part of the interval.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Where a function of one variable is least between `from` and `to`, to within `close`, if it has one
/// minimum there; and its value.
pub(super) fn golden(from: f64, to: f64, close: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut from, mut to) = (from, to);
    let (mut left, mut right) = (to - GOLDEN * (to - from), from + GOLDEN * (to - from));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..100 {
        if to - from <= close {
            break;
        }
        if at_left <= at_right {
            (to, right, at_right) = (right, left, at_left);
            left = to - GOLDEN * (to - from);
            at_left = f(left);
        } else {
            (from, left, at_left) = (left, right, at_right);
            right = from + GOLDEN * (to - from);
            at_right = f(right);
        }
    }
    if at_left <= at_right { (left, at_left) } else { (right, at_right) }
}

/// A point and the value of the function there.
pub(super) type Found<const D: usize> = ([f64; D], f64);

/// Where a function is least near `start`: the simplex method of J. Nelder and R. Mead (1965), started again
/// with a fresh simplex of edges `edges` until that gains less than `gain`. The function may be infinite
/// where it is not defined, but not at `start`.
pub(super) fn simplex<const D: usize>(
    start: [f64; D],
    edges: [f64; D],
    gain: f64,
    f: impl Fn([f64; D]) -> f64,
) -> Found<D> {
    let mut best = (start, f(start));
    let mut edges = edges;
    for _ in 0..8 {
        let found = descend(best, edges, gain, &f);
        let gained = best.1 - found.1;
        best = found;
        if gained.is_nan() || gained <= gain {
            break;
        }
        edges = edges.map(|edge| edge * 0.3);
    }
    best
}

fn descend<const D: usize>(
    start: Found<D>,
    edges: [f64; D],
    gain: f64,
    f: &impl Fn([f64; D]) -> f64,
) -> Found<D> {
    let mut corners = vec![start];
    for axis in 0..D {
        let at = std::array::from_fn(|n| start.0[n] + if n == axis { edges[n] } else { 0.0 });
        corners.push((at, f(at)));
    }
    for _ in 0..200 * D {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(first), Some(before), Some(last)) =
            (corners.first().copied(), corners.get(D - 1).copied(), corners.get(D).copied())
        else {
            break;
        };
        if last.1 - first.1 <= gain {
            break;
        }
        let middle: [f64; D] =
            std::array::from_fn(|n| corners.iter().take(D).map(|corner| corner.0[n]).sum::<f64>() / D as f64);
        let along = |part: f64| {
            let at = std::array::from_fn(|n| middle[n] + part * (last.0[n] - middle[n]));
            (at, f(at))
        };
        let reflected = along(-1.0);
        let next = if reflected.1 < first.1 {
            let further = along(-2.0);
            if further.1 < reflected.1 { further } else { reflected }
        } else if reflected.1 < before.1 {
            reflected
        } else if reflected.1 < last.1 {
            let outside = along(-0.5);
            if outside.1 <= reflected.1 { outside } else { (last.0, f64::INFINITY) }
        } else {
            let inside = along(0.5);
            if inside.1 < last.1 { inside } else { (last.0, f64::INFINITY) }
        };
        if next.1.is_finite() {
            corners[D] = next;
        } else {
            for corner in corners.iter_mut().skip(1) {
                let at = std::array::from_fn(|n| first.0[n].midpoint(corner.0[n]));
                *corner = (at, f(at));
            }
        }
    }
    corners.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_a_parabola_is_found() {
        let (at, value) = golden(-10.0, 30.0, 1e-9, |x| (x - 2.5).powi(2) + 1.0);
        assert!((at - 2.5).abs() < 1e-6 && (value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_bent_valley_of_rosenbrock_is_followed() {
        let valley = |[x, y]: [f64; 2]| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2);
        let ([x, y], value) = simplex([-1.2, 1.0], [0.1, 0.1], 1e-14, valley);
        assert!((x - 1.0).abs() < 1e-4 && (y - 1.0).abs() < 1e-4, "{x} {y} {value}");
    }

    #[test]
    fn a_border_where_the_function_ends_is_no_obstacle() {
        let f = |[x, y, z]: [f64; 3]| {
            if x < 0.0 { f64::INFINITY } else { (x - 0.01).powi(2) + (y - 3.0).powi(2) + (z + 1.0).powi(2) }
        };
        let ([x, y, z], _) = simplex([1.0, 1.0, 1.0], [-2.0, 0.5, 0.5], 1e-14, f);
        assert!((x - 0.01).abs() < 1e-4 && (y - 3.0).abs() < 1e-4 && (z + 1.0).abs() < 1e-4);
    }

    #[test]
    fn what_is_never_a_number_ends() {
        let (at, _) = simplex([1.0, 2.0], [1.0, 1.0], 1e-9, |_| f64::NAN);
        assert!(at.iter().all(|x| x.is_finite()));
    }
}
