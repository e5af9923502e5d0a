//! Who plays: search, players, batched self-play workers, matches.
