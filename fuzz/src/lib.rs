//! Fuzz targets: what comes from outside (scenario files, headers) is answered without a panic, whatever it is.
//!
//! `cargo test -p airbraid-fuzz` tries some thousand inputs each; `cargo bolero test -p airbraid-fuzz NAME` goes on, led by
//! coverage, as long as you let it. The targets are in `tests/`.
