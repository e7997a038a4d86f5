//! Which links of a trunk of devices carry which traffic: allocation, and the mapping of TIDs to links.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View};
use crate::scenario::schema::position;
use crate::scenario::tree::{Data, Value};
use airbraid_mac::edca::{AccessCategory, Allocation};

const ALLOCATIONS: [(&str, Allocation); 5] = [
    ("shared", Allocation::Shared),
    ("slci", Allocation::LeastOccupied),
    ("mcaa", Allocation::ByFreeTime),
    ("round_robin", Allocation::RoundRobin),
    ("expected", Allocation::Expected),
];

/// Number of TIDs that user priorities make.
const TIDS: u8 = 8;

pub(super) fn allocation(view: &View<'_>) -> Allocation {
    view.choice("allocation", &ALLOCATIONS, Allocation::Shared, "the link that has won takes what waits longest")
}

/// For each member the TIDs that it carries, a bit each. `names` are those of the radios of the first end.
pub(super) fn tids(view: &View<'_>, names: &[String]) -> Vec<u8> {
    let mut masks = vec![u8::MAX; names.len()];
    let show = |masks: &[u8]| {
        let of = |(name, mask): (&String, &u8)| {
            let tids = (0..TIDS).filter(|tid| mask >> tid & 1 == 1);
            format!("{name} {}", tids.map(|tid| tid.to_string()).collect::<Vec<_>>().join(" "))
        };
        names.iter().zip(masks).map(of).collect::<Vec<_>>().join(", ")
    };
    view.read("tid_to_link", "every link carries every TID".to_owned(), "no TID is mapped", |value| {
        let Data::Table(table) = &value.data else {
            let help = "write { vo = [\"six\"] }: categories or TIDs, each with its links";
            return Err(Complaint::new(format!("a table is needed, this is {}", value.kind()), help));
        };
        let mut mapped = 0;
        for entry in &table.entries {
            let tids = tids_of(&entry.key)?;
            if mapped & tids != 0 {
                let message = format!("`{}` maps a TID that is mapped already", entry.key);
                return Err(Complaint::new(
                    message,
                    "be is 0 and 3, bk 1 and 2, vi 4 and 5, vo 6 and 7: map each once",
                ));
            }
            mapped |= tids;
            map(&mut masks, tids, links(&entry.value, names)?);
        }
        Ok(show(&masks))
    });
    masks
}

/// These TIDs go over these links, and no other.
fn map(masks: &mut [u8], tids: u8, links: Vec<usize>) {
    masks.iter_mut().for_each(|mask| *mask &= !tids);
    links.into_iter().for_each(|link| masks[link] |= tids);
}

/// The TIDs of a category, or the one that is named.
fn tids_of(key: &str) -> Result<u8, Complaint> {
    let of_category = |category: AccessCategory| {
        (0..TIDS).filter(|tid| AccessCategory::of_priority(*tid) == category).fold(0, |mask, tid| mask | 1 << tid)
    };
    if let Some(category) = AccessCategory::ALL.into_iter().find(|category| category.name() == key) {
        return Ok(of_category(category));
    }
    let tid = key.parse().ok().filter(|tid| *tid < TIDS);
    tid.map(|tid: u8| 1 << tid).ok_or_else(|| Complaint::new(format!("`{key}` is no TID"), "vo, vi, be, bk, or 0 to 7"))
}

fn links(value: &Value, names: &[String]) -> Result<Vec<usize>, Complaint> {
    let given = reader::list(value)?;
    if given.is_empty() {
        return Err(Complaint::new("a TID needs a link", "name at least one member"));
    }
    given.iter().map(|name| position(&reader::text(name)?, "member", names)).collect()
}
