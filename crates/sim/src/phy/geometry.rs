//! Neighbourhood: distances in the plane, and a grid that finds the nodes around a position without testing all of
//! them.
//!
//! The answer never depends on the order in which nodes were put in: indices come ascending, so that whoever walks them
//! makes the same events in the same order on every run.

use crate::scenario::spec::Position;
use airbraid_units::Metres;

/// The smallest cell \[m\]: a range of zero (radios that hear no other) must not divide by zero.
const SMALLEST_CELL: f64 = 1e-3;

/// Relative margin of a cell over the range: two nodes exactly one range apart must be in neighbouring cells also when
/// the division that finds their cells rounds (1e-16, times the number of cells from the origin).
const CELL_MARGIN: f64 = 1e-9;

/// The straight line between two positions.
pub fn distance(a: Position, b: Position) -> Metres {
    let (x, y) = (a.x.0 - b.x.0, a.y.0 - b.y.0);
    Metres(libm::sqrt(x * x + y * y))
}

/// One node in its cell; ordered by row, column, index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    row: i64,
    column: i64,
    index: u32,
}

/// Positions sorted into square cells as wide as the longest range, so that all nodes in range are in nine cells.
///
/// A sorted list instead of a table of cells: memory goes by nodes, not by area, and each row of three cells is one
/// run of the list.
#[derive(Clone, Debug)]
pub struct Grid {
    range: f64,
    cell: f64,
    entries: Vec<Entry>,
    positions: Vec<Position>,
}

impl Grid {
    /// A grid over `positions` for questions with a radius of up to `range`; an infinite range makes one cell.
    pub fn new(range: Metres, positions: &[Position]) -> Self {
        let cell = range.0.max(SMALLEST_CELL) * (1.0 + CELL_MARGIN);
        let mut grid = Self { range: range.0, cell, entries: Vec::new(), positions: Vec::new() };
        grid.rebuild(positions);
        grid
    }

    /// Takes new positions, of any number of nodes; the memory is reused.
    pub fn rebuild(&mut self, positions: &[Position]) {
        let cell = self.cell;
        self.positions.clear();
        self.positions.extend_from_slice(positions);
        self.entries.clear();
        self.entries.extend(positions.iter().zip(0..).map(|(position, index)| {
            let (row, column) = cell_of(cell, *position);
            Entry { row, column, index }
        }));
        self.entries.sort_unstable();
    }

    /// Puts the indices of all nodes within `range` of `centre` into `found`, ascending; its former contents are
    /// cleared.
    ///
    /// `range` above that of the grid is cut to it. A node exactly at the range is inside.
    pub fn within(&self, centre: Position, range: Metres, found: &mut Vec<u32>) {
        found.clear();
        let reach = range.0.min(self.range);
        let (row, column) = cell_of(self.cell, centre);
        for row in row.saturating_sub(1)..=row.saturating_add(1) {
            let (left, right) = (column.saturating_sub(1), column.saturating_add(1));
            let start = self.entries.partition_point(|e| (e.row, e.column) < (row, left));
            let in_row = self.entries[start..].iter().take_while(|e| (e.row, e.column) <= (row, right));
            found.extend(in_row.map(|e| e.index).filter(|i| {
                let position = self.positions[*i as usize];
                distance(position, centre).0 <= reach
            }));
        }
        found.sort_unstable();
    }
}

/// Row and column of the cell that holds `position`; far beyond the map they saturate.
fn cell_of(cell: f64, position: Position) -> (i64, i64) {
    (libm::floor(position.y.0 / cell) as i64, libm::floor(position.x.0 / cell) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(x: f64, y: f64) -> Position {
        Position { x: Metres(x), y: Metres(y) }
    }

    #[test]
    fn a_node_exactly_at_the_range_is_found() {
        let chain: Vec<Position> = (0..5u8).map(|i| at(250.0 * f64::from(i), 0.0)).collect();
        let grid = Grid::new(Metres(250.0), &chain);
        let mut found = vec![99];
        grid.within(chain[2], Metres(250.0), &mut found);
        assert_eq!(found, [1, 2, 3]);
    }

    #[test]
    fn extreme_ranges_and_places_are_answered() {
        let places = [at(0.0, 0.0), at(0.0, 0.0), at(1e300, -1e300), at(-1e15, 1e15)];
        let mut found = Vec::new();
        Grid::new(Metres(f64::INFINITY), &places).within(places[0], Metres(f64::INFINITY), &mut found);
        assert_eq!(found, [0, 1, 2, 3]);
        Grid::new(Metres(0.0), &places).within(places[0], Metres(0.0), &mut found);
        assert_eq!(found, [0, 1]);
        Grid::new(Metres(1.0), &places).within(places[2], Metres(1.0), &mut found);
        assert_eq!(found, [2]);
        // The division that finds the cells rounds: -1e-20 m is in the column before the origin's, 1 m one after it.
        Grid::new(Metres(1.0), &[at(-1e-20, 0.0), at(1.0, 0.0)]).within(at(1.0, 0.0), Metres(1.0), &mut found);
        assert_eq!(found, [0, 1]);
        Grid::new(Metres(1.0), &[]).within(at(0.0, 0.0), Metres(1.0), &mut found);
        assert!(found.is_empty());
    }

    proptest! {
        #[test]
        fn the_grid_finds_what_asking_everybody_finds(
            places in prop::collection::vec((-1e3f64..1e3, -1e3f64..1e3), 0..60),
            range in 0.1f64..800.0,
            share in 0.0f64..1.0,
        ) {
            let places: Vec<Position> = places.into_iter().map(|(x, y)| at(x, y)).collect();
            let mut grid = Grid::new(Metres(range), &[]);
            grid.rebuild(&places);
            let mut found = Vec::new();
            for centre in &places {
                let reach = range * share;
                grid.within(*centre, Metres(reach), &mut found);
                let asked: Vec<u32> = places.iter().zip(0..)
                    .filter(|(p, _)| distance(**p, *centre).0 <= reach)
                    .map(|(_, i)| i)
                    .collect();
                prop_assert_eq!(&found, &asked);
            }
        }
    }
}
