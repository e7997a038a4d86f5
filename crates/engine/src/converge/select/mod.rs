//! Interface selection.
