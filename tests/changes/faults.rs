//! faults

