//! fork
