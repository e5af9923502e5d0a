//! What an exported player needs and nothing else.
