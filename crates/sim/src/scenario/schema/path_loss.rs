//! `path_loss`: the power that remains after a distance.

use super::survey;
use crate::phy::PathLoss;
use crate::scenario::error::Complaint;
use crate::scenario::frequency::Frequency;
use crate::scenario::reader::{self, View};
use crate::scenario::tree::Data;
use airbraid_units::{Db, Metres};

pub(super) fn path_loss(view: &View<'_>, frequency: Frequency) -> PathLoss {
    const MODELS: [(&str, u8); 4] = [("two_ray", 0), ("friis", 1), ("log_distance", 2), ("measured", 3)];
    let mut chosen = PathLoss::TwoRay;
    view.read("path_loss", "two_ray".to_owned(), "ns-2: two-ray ground", |value| {
        let model = match &value.data {
            Data::Table(table) => {
                let inner = View::new(view.cx, view.path_of("path_loss"), value.place, Some(table));
                let model = inner.choice("model", &MODELS, 0, "ns-2");
                if model == 2 {
                    chosen = log_distance(&inner, frequency);
                } else if model == 3 {
                    chosen = survey::measured(&inner);
                }
                inner.finish();
                model
            }
            _ => reader::choose(value, &MODELS)?,
        };
        chosen = match model {
            0 => PathLoss::TwoRay,
            1 => PathLoss::Friis,
            _ if matches!(chosen, PathLoss::LogDistance { .. } | PathLoss::Measured(_)) => chosen,
            3 => {
                let help = "write { model = \"measured\", points = [[\"5 m\", \"80 dB\"], [\"20 m\", \"90 dB\"]] }";
                return Err(Complaint::new("measured needs its points", help));
            }
            _ => {
                return Err(Complaint::new(
                    "log_distance needs its numbers",
                    "write { model = \"log_distance\", exponent = 3 }",
                ));
            }
        };
        Ok(value.show())
    });
    chosen
}

fn log_distance(view: &View<'_>, frequency: Frequency) -> PathLoss {
    let exponent = view.number("exponent", 3.0, "between free space (2) and a cluttered floor (4)");
    let reference = view.quantity("reference", Metres(1.0), "the usual one");
    view.require(
        reference.0 > 0.0,
        "reference",
        || "the reference distance must be above zero".to_owned(),
        "write \"1 m\"",
    );
    view.require(
        (1.0..=10.0).contains(&exponent),
        "exponent",
        || format!("{exponent} is no exponent"),
        "1 to 10; free space has 2",
    );
    let wavelength = 299_792_458.0 / frequency.0;
    let free = 20.0 * libm::log10(4.0 * std::f64::consts::PI * reference.0.max(1e-3) / wavelength);
    let loss = view.quantity("loss", Db(free), "free space at the reference distance");
    PathLoss::LogDistance { exponent, reference, loss }
}
