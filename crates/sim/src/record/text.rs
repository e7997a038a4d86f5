//! Lines that are put together from short pieces.
//!
//! A piece is copied as a block of fixed length, which takes a few instructions where a copy of any length is a call;
//! what was copied too much is written over by the next one.

use airbraid_units::Instant;

/// A text of up to `N` bytes as a rule. Longer ones take their time.
#[derive(Clone, Debug)]
pub struct Piece<const N: usize> {
    block: [u8; N],
    length: usize,
    /// All of it, where it is longer than the block.
    long: Box<[u8]>,
}

impl<const N: usize> Default for Piece<N> {
    fn default() -> Self {
        Self { block: [0; N], length: 0, long: Box::default() }
    }
}

impl<const N: usize> Piece<N> {
    pub fn new(text: &[u8]) -> Self {
        let mut piece = Self { length: text.len(), ..Self::default() };
        match piece.block.get_mut(..text.len()) {
            Some(start) => start.copy_from_slice(text),
            None => piece.long = text.into(),
        }
        piece
    }

    /// Becomes what `write` puts into a line, which fits into the block.
    #[inline]
    pub fn write(&mut self, write: impl FnOnce(&mut Line<'_>)) {
        let mut line = Line::new(&mut self.block);
        write(&mut line);
        self.length = line.length();
    }

    pub fn as_bytes(&self) -> &[u8] {
        if self.length > N { &self.long } else { &self.block[..self.length] }
    }
}

/// The numbers of three digits, one behind the other; a fourth byte makes them a word.
const THREES: [[u8; 4]; 1_000] = {
    let mut threes = [[b' '; 4]; 1_000];
    let mut number = 0;
    while number < threes.len() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        threes[number] = [b'0' + digits[0] as u8, b'0' + digits[1] as u8, b'0' + digits[2] as u8, b' '];
        number += 1;
    }
    threes
};

/// The three digits of a number below 1000 behind a mark, as a word.
#[inline]
const fn marked(mark: u8, value: usize) -> u32 {
    mark as u32 | u32::from_le_bytes(THREES[value]) << 8
}

/// A number below 10,000 in four places, behind spaces, as a word.
#[inline]
const fn right(value: usize) -> u32 {
    // A space in place of the zero digit, in all four.
    const SPACES: u32 = u32::from_le_bytes([b'0' - b' '; 4]);
    let digits = marked(b'0' + (value / 1_000) as u8, value % 1_000);
    let zeros = 3 - (value >= 10) as u32 - (value >= 100) as u32 - (value >= 1_000) as u32;
    digits - (SPACES & ((1_u64 << (8 * zeros)) - 1) as u32)
}

/// A time as seconds with nanoseconds in groups of three: `12.345 678 900`. A word, which takes one store where the
/// parts would take six, and is read again soon; `None`: the seconds have more than four digits.
#[inline]
pub fn clock(at: Instant) -> Option<u128> {
    let (seconds, ns) = (at.as_nanos() / 1_000_000_000, (at.as_nanos() % 1_000_000_000) as usize);
    let parts = [marked(b'.', ns / 1_000_000), marked(b' ', ns / 1_000 % 1_000), marked(b' ', ns % 1_000)];
    let nanoseconds = parts.into_iter().rev().fold(0, |all, part| all << 32 | u128::from(part));
    (seconds < 10_000).then(|| nanoseconds << 32 | u128::from(right(seconds as usize)))
}

/// A line under construction. Room for it is made once: it may not become longer than that.
#[derive(Debug)]
pub struct Line<'a> {
    room: &'a mut [u8],
    length: usize,
}

impl<'a> Line<'a> {
    pub const fn new(room: &'a mut [u8]) -> Self {
        Self { room, length: 0 }
    }

    /// Number of bytes so far.
    #[inline]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Appends a piece.
    #[inline]
    pub fn put<const N: usize>(&mut self, piece: &Piece<N>) {
        if piece.length > N {
            return self.put_slice(&piece.long);
        }
        self.room[self.length..self.length + N].copy_from_slice(&piece.block);
        self.length += piece.length;
    }

    /// Appends text of a length that the compiler knows.
    #[inline]
    pub fn put_bytes<const N: usize>(&mut self, text: &[u8; N]) {
        self.room[self.length..self.length + N].copy_from_slice(text);
        self.length += N;
    }

    /// Appends text of any length.
    #[cold]
    pub fn put_slice(&mut self, text: &[u8]) {
        self.room[self.length..self.length + text.len()].copy_from_slice(text);
        self.length += text.len();
    }

    /// Appends spaces, so that what begins at byte `start` has at least `width` bytes: at most 16 spaces.
    #[inline]
    pub fn fill(&mut self, start: usize, width: usize) {
        let missing = width.saturating_sub(self.length - start);
        self.put_bytes(&[b' '; 16]);
        self.length -= 16 - missing;
    }

    /// Appends a number in decimal.
    #[inline]
    pub fn put_number(&mut self, value: u64) {
        if value < 1_000 {
            return self.put_first(value as usize);
        }
        if value >= 1_000_000 {
            return self.put_slice(itoa::Buffer::new().format(value).as_bytes());
        }
        self.put_first((value / 1_000) as usize);
        self.put_three((value % 1_000) as usize);
    }

    /// Appends a number in decimal, behind spaces where it has less than four digits.
    #[inline]
    pub fn put_right(&mut self, value: u64) {
        if value < 10_000 { self.put_bytes(&right(value as usize).to_le_bytes()) } else { self.put_number(value) }
    }

    /// Appends what [`clock`] has of a time.
    #[inline]
    pub fn put_clock(&mut self, at: Instant, text: Option<u128>) {
        if let Some(text) = text {
            return self.put_bytes(&text.to_le_bytes());
        }
        self.put_number(at.as_nanos() / 1_000_000_000);
        let text = clock(Instant::from_nanos(at.as_nanos() % 1_000_000_000)).map(u128::to_le_bytes);
        self.put_slice(text.as_ref().map_or(b"", |text| &text[4..]));
    }

    /// Appends a number below 1000 with three digits.
    #[inline]
    pub fn put_three(&mut self, value: usize) {
        self.put_bytes(&THREES[value]);
        self.length -= 1;
    }

    /// Appends a number below 1000 without zeros before it.
    #[inline]
    fn put_first(&mut self, value: usize) {
        let zeros = usize::from(value < 10) + usize::from(value < 100);
        let digits = u32::from_le_bytes(THREES[value]) >> (8 * zeros);
        self.put_bytes(&digits.to_le_bytes());
        self.length -= 1 + zeros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fill_appends_what_is_missing_and_nothing_else() {
        let mut room = [0; 40];
        let mut line = Line::new(&mut room);
        line.put_bytes(b"abc");
        line.fill(1, 4);
        line.fill(1, 1);
        line.put_bytes(b"|");
        let length = line.length();
        assert_eq!(&room[..length], b"abc  |");
    }

    /// A number of any length.
    fn numbers() -> impl Strategy<Value = u64> {
        (0..64_u32).prop_flat_map(|bits| 0..=u64::MAX >> bits)
    }

    proptest! {
        #[test]
        fn numbers_stand_as_format_has_them(values in prop::collection::vec(numbers(), 1..20)) {
            let (mut room, mut expected) = ([0; 2_000], String::new());
            let mut line = Line::new(&mut room);
            for value in values {
                line.put_number(value);
                line.put_right(value);
                line.put_three((value % 1_000) as usize);
                let at = Instant::from_nanos(value);
                line.put_clock(at, clock(at));
                let (seconds, ns) = (value / 1_000_000_000, value % 1_000_000_000);
                let [ms, us, ns] = [ns / 1_000_000, ns / 1_000 % 1_000, ns % 1_000];
                expected += &format!("{value}{value:4}{:03}{seconds:4}.{ms:03} {us:03} {ns:03}", value % 1_000);
            }
            let length = line.length();
            prop_assert_eq!(&room[..length], expected.as_bytes());
        }

        #[test]
        fn pieces_of_any_length_stand_one_behind_the_other(pieces in prop::collection::vec("[a-z]{0,40}", 1..20)) {
            let mut room = [0; 2_000];
            let mut line = Line::new(&mut room);
            for piece in &pieces {
                line.put(&Piece::<8>::new(piece.as_bytes()));
                line.put(&Piece::<32>::new(piece.as_bytes()));
            }
            let expected: String = pieces.iter().flat_map(|piece| [&piece[..], piece]).collect();
            let length = line.length();
            prop_assert_eq!(&room[..length], expected.as_bytes());
        }
    }
}
