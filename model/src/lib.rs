//! What a network sees and says: features, policy map, evaluators, checkpoints.
