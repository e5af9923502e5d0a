//! The network in tch: training, losses, optimizer, evaluation.
