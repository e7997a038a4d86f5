//! Fuzz targets: what comes from outside (scenario files, headers) is answered without a panic, whatever it is.
//!
//! `cargo test -p airbraid-fuzz` tries inputs for a second each; `make fuzz` millions of them, counts them, and goes on where it was
//! stopped (`scripts/fuzz.py`); `cargo bolero test -p airbraid-fuzz NAME` goes on, led by
//! coverage, as long as you let it. The targets are in `tests/`.
