//! Fuzz targets: input from outside (scenario files, headers) is answered without a panic, whatever it is.
//!
//! `cargo test -p airbraid-fuzz` tries inputs for a second each; `make fuzz` millions of them, counts them, and goes on
//! where it was stopped (`scripts/fuzz.py`); `cargo bolero test -p airbraid-fuzz NAME` goes on, led by coverage, as
//! long as you let it. The targets are in `tests/readers/`.

/// Feedback of a tunnel, behind its first byte, as a peer may make it of any bytes: reports whose lengths are right, of
/// numbers near those in use, which chance would hardly ever make.
pub fn feedback(epoch: u32, bytes: &[u8]) -> Vec<u8> {
    let mut made = [epoch.to_be_bytes(), [0, 0, 0x40, 0]].concat();
    let mut bytes = bytes.iter().copied();
    while let Some(member) = bytes.next() {
        let count = bytes.next().unwrap_or(0) % 6;
        let mut next = || bytes.next().unwrap_or(1);
        made.extend([member % 3, count, 0, 0, next() & 1, next(), 0, next(), next()]);
        for index in 0..count {
            // A gap before each run but the first, and numbers of one or two bytes that are not zero.
            for _ in 0..if index == 0 { 1 } else { 2 } {
                match next() {
                    long @ 0xf0.. => made.extend([long, 1]),
                    short => made.push(short & 0x7f | 1),
                }
            }
        }
    }
    made
}
