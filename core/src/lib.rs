//! The game of GIPF: board, rules, position, plays, text forms, records, perft.
