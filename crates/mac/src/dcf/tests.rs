//! Transcripts of a station.
