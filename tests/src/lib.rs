//! Whole-program tests of the GIPF harness.
