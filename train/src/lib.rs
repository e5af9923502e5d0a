//! The harness: runs, replay window, learner, command line.
