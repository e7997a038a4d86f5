//! The member links of a trunk.

/// The index of a member link of a trunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member(pub u8);
