//! Drawings as SVG: one set of elements, colours and axes for the command, the report and Python.
//!
//! Text stays text. A drawing is light as it stands, so that any program shows it; where a style sheet is read, it
//! follows the reader's dark scheme. It draws what it is given and computes nothing of it.

mod chart;
mod scale;
mod svg;

pub(crate) use chart::{Area, Axis, Chart, Line, Point, Scale};
pub(crate) use scale::ticks;
pub(crate) use svg::{FRAME, MIDDLE, PALE, PAPER, SOFT, Svg, escape, line_colour, shorten, style, variables};
