//! Measurements of the channel: path loss by distance, its variation, and losses behind the MAC.

use crate::phy::curve::Curve;
use crate::phy::{PathLoss, Shadowing, Wear};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::tree::{Data, Value};
use airbraid_units::{Db, Duration, Metres};

/// The points of a measured path loss: it must rise, so that a range can be computed from it.
pub(super) fn measured(view: &View<'_>) -> PathLoss {
    let rises = |curve: &Curve| curve.points().windows(2).all(|pair| pair[0][1] < pair[1][1]);
    let points = view.required("points", "[[\"5 m\", \"80 dB\"], [\"20 m\", \"90 dB\"]]", |value| {
        let curve = points(value)?;
        let help = "the loss rises with the distance";
        if rises(&curve) { Ok(curve) } else { Err(Complaint::new("this loss does not rise", help)) }
    });
    PathLoss::Measured(points.unwrap_or(Curve::flat(0.0)))
}

/// Pairs of a distance and decibels.
fn points(value: &Value) -> Result<Curve, Complaint> {
    let pair = |item: &Value| match reader::list(item)? {
        [distance, level] => Ok([quantity::<Metres>(distance)?.0, quantity::<Db>(level)?.0]),
        _ => Err(Complaint::new("a distance and a level are needed", "write [\"5 m\", \"80 dB\"]")),
    };
    let pairs: Vec<[f64; 2]> = reader::list(value)?.iter().map(pair).collect::<Result<_, _>>()?;
    let help = format!("1 to {} points, by ascending distance", Curve::MAX);
    Curve::new(&pairs).ok_or_else(|| Complaint::new("these points are no curve", help))
}

/// `shadowing`: a table, or `"none"`.
pub(super) fn shadowing(view: &View<'_>) -> Option<Shadowing> {
    let mut read = None;
    view.read("shadowing", "none".to_owned(), "the path loss stays as it is", |value| {
        let Data::Table(table) = &value.data else {
            reader::choose(value, &[("none", ())]).map_err(|complaint| {
                Complaint::new(complaint.message, "allowed: \"none\", { deviation = \"2 dB\", time = \"1 s\" }")
            })?;
            return Ok(value.show());
        };
        let inner = View::new(view.cx, view.path_of("shadowing"), value.place, Some(table));
        let deviation = inner.required("deviation", "\"2 dB\"", |value| match &value.data {
            Data::List(_) => points(value),
            _ => quantity::<Db>(value).map(|db| Curve::flat(db.0)),
        });
        let time = inner.quantity("time", Duration::from_millis(500), "somebody who walks");
        let deviation = deviation.unwrap_or(Curve::flat(0.0));
        let fits = deviation.points().iter().all(|point| (0.0..=20.0).contains(&point[1]));
        inner.require(fits, "deviation", || "no path varies so".to_owned(), "0 to 20 dB");
        inner.finish();
        read = Some(Shadowing { deviation, time });
        Ok(value.show())
    });
    read
}

/// `by_distance`: triples of a distance, the share that is lost and the mean length of a burst.
pub(super) fn wear(view: &View<'_>) -> Option<Wear> {
    let example = "[[\"5 m\", \"1 %\", 2], [\"20 m\", \"8 %\", 4]]";
    view.required("by_distance", example, |value| {
        let wrong = || Complaint::new("a distance, a share and a length are needed", "write [\"5 m\", \"1 %\", 2]");
        let triple = |item: &Value| match reader::list(item)? {
            [distance, share, burst] => {
                Ok([quantity::<Metres>(distance)?.0, reader::probability(share)?.get(), reader::number(burst)?])
            }
            _ => Err(wrong()),
        };
        let all: Vec<[f64; 3]> = reader::list(value)?.iter().map(triple).collect::<Result<_, _>>()?;
        let curve = |column: usize| {
            let points: Vec<[f64; 2]> = all.iter().map(|row| [row[0], row[column]]).collect();
            let help = format!("1 to {} points, by ascending distance", Curve::MAX);
            Curve::new(&points).ok_or_else(|| Complaint::new("these points are no curve", help))
        };
        if all.iter().any(|row| !(1.0..=1e6).contains(&row[2])) {
            return Err(Complaint::new("a burst is one packet at least", "write 1 or more"));
        }
        Ok(Wear { share: curve(1)?, burst: curve(2)? })
    })
}
