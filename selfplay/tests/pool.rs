//! Takes the place of the test of the pool until it is written.
