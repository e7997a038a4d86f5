//! Transcripts of a trunk.
