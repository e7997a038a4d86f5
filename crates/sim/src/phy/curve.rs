//! A quantity that was measured at some distances: linear between them.

use airbraid_units::Metres;

/// Values by distance, a few of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Distance and value, by ascending distance; the rest repeats the last.
    points: [[f64; 2]; Self::MAX],
    count: usize,
}

impl Curve {
    /// No more points than this.
    pub const MAX: usize = 8;

    /// A curve through these points; `None` if there is none, too many, or distances do not ascend.
    pub fn new(given: &[[f64; 2]]) -> Option<Self> {
        let last = *given.last()?;
        let ascends = given.windows(2).all(|pair| pair[0][0] < pair[1][0]);
        if given.len() > Self::MAX || !ascends {
            return None;
        }
        let mut points = [last; Self::MAX];
        points[..given.len()].copy_from_slice(given);
        Some(Self { points, count: given.len() })
    }

    /// The same value everywhere.
    pub const fn flat(value: f64) -> Self {
        Self { points: [[0.0, value]; Self::MAX], count: 1 }
    }

    pub fn points(&self) -> &[[f64; 2]] {
        &self.points[..self.count]
    }

    /// The value at a distance; before the first point and behind the last one, the value of that point.
    pub fn at(&self, distance: Metres) -> f64 {
        let (here, there, way) = self.around(distance);
        here + (there - here) * way
    }

    /// The value at a distance if its logarithm is linear between points; where one of two is zero, the value is.
    pub fn at_by_logarithm(&self, distance: Metres) -> f64 {
        let (here, there, way) = self.around(distance);
        if here > 0.0 && there > 0.0 { here * libm::pow(there / here, way) } else { here + (there - here) * way }
    }

    /// The values of the points on both sides of a distance, and the fraction of the way between them.
    fn around(&self, distance: Metres) -> (f64, f64, f64) {
        let d = distance.0;
        let points = self.points();
        let place = points.iter().position(|point| d < point[0]).unwrap_or(self.count);
        let ends = (points[place.saturating_sub(1)], points[place.min(self.count - 1)]);
        let ([x, here], [far, there]) = ends;
        (here, there, if far > x { (d - x) / (far - x) } else { 0.0 })
    }

    pub fn largest(&self) -> f64 {
        self.points().iter().map(|point| point[1]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The distance at which a rising curve passes `value` for the first time; infinite if it never does.
    pub fn first_at(&self, value: f64) -> Metres {
        let points = self.points();
        let Some(place) = points.iter().position(|point| point[1] > value) else { return Metres(f64::INFINITY) };
        if place == 0 {
            return Metres(points[0][0]);
        }
        let ([x, y], [far, there]) = (points[place - 1], points[place]);
        Metres(x + (far - x) * (value - y) / (there - y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_points_it_is_straight_and_beyond_them_flat() {
        let curve = Curve::new(&[[10.0, 60.0], [20.0, 80.0], [40.0, 85.0]]).unwrap();
        let seen: Vec<f64> = [0.0, 10.0, 15.0, 20.0, 36.0, 40.0, 99.0].map(|d| curve.at(Metres(d))).to_vec();
        assert_eq!(seen, [60.0, 60.0, 70.0, 80.0, 84.0, 85.0, 85.0]);
        let passed: Vec<f64> = [59.0, 70.0, 84.0, 85.0].map(|value| curve.first_at(value).0).to_vec();
        assert_eq!(passed, [10.0, 15.0, 36.0, f64::INFINITY]);
        assert_eq!((curve.largest(), Curve::flat(3.0).at(Metres(7.0))), (85.0, 3.0));
    }

    #[test]
    fn by_logarithm_half_of_the_way_is_the_geometric_mean() {
        let curve = Curve::new(&[[10.0, 0.01], [20.0, 0.04], [30.0, 0.0]]).unwrap();
        let seen: Vec<f64> = [0.0, 10.0, 15.0, 20.0, 25.0, 99.0].map(|d| curve.at_by_logarithm(Metres(d))).to_vec();
        let expected = [0.01, 0.01, 0.02, 0.04, 0.02, 0.0];
        assert!(seen.iter().zip(expected).all(|(ours, theirs)| (ours - theirs).abs() < 1e-12), "{seen:?}");
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        assert_eq!(Curve::new(&[]), None);
        assert_eq!(Curve::new(&[[1.0, 0.0], [1.0, 2.0]]), None);
        assert_eq!(Curve::new(&[[0.0, 0.0]; 9]), None);
    }
}
