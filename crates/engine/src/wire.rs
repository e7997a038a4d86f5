//! Byte formats.
