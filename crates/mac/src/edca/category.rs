//! Access categories, and the user priorities that belong to them (802.11-2020, table 10-1).

/// Number of traffic identifiers that user priorities make.
pub(super) const TIDS: usize = 8;

/// An access category, in ascending priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    Background,
    #[default]
    BestEffort,
    Video,
    Voice,
}

impl AccessCategory {
    pub const COUNT: usize = 4;
    pub const ALL: [Self; Self::COUNT] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// The category of a user priority, 0 to 7.
    pub const fn of_priority(priority: u8) -> Self {
        match priority & 7 {
            1 | 2 => Self::Background,
            0 | 3 => Self::BestEffort,
            4 | 5 => Self::Video,
            _ => Self::Voice,
        }
    }

    /// The user priority, and with it the TID, of traffic of which no more is known than its category.
    pub const fn priority(self) -> u8 {
        match self {
            Self::Background => 1,
            Self::BestEffort => 0,
            Self::Video => 5,
            Self::Voice => 6,
        }
    }

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Background => "bk",
            Self::BestEffort => "be",
            Self::Video => "vi",
            Self::Voice => "vo",
        }
    }

    pub const fn index(self) -> usize {
        self as usize
    }
}
