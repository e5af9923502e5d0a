//! What a message of games is: records as they lie on the disk, one zstd frame a game, one after the other.
//!
//! So the bounds of a reader of files hold for a message too: a frame tells its size before it is opened, and a record has a longest
//! line. A message adds bounds on the number of its games and on the sum of what they unpack to.

use super::error::ClusterError;
use crate::store::{Encoder, Frame, FrameReader, MAX_RECORD};
use gipf_core::record::{GameRecord, RecordError};
use std::io;

/// The header that names [`super::CLUSTER_FORMAT`].
pub const FORMAT_HEADER: &str = "Gipf-Format";

/// The header that names the run's id.
pub const RUN_HEADER: &str = "Gipf-Run";

/// The longest body of a message in bytes. A server's own bound (`max_payload`, 1 MB unless set otherwise) may be lower.
pub const MAX_BODY: usize = 8 << 20;

/// What the headers of a message may take, in bytes: no body comes nearer to the server's bound.
pub(super) const HEADER_ROOM: usize = 4096;

/// The most games of a message.
pub const MAX_GAMES: usize = 256;

/// The most that the games of a message may unpack to, in bytes of JSON.
pub const MAX_CONTENT: usize = MAX_RECORD;

/// zstd level of the frames: that of the games on disk, so that whoever plays does the packing.
const LEVEL: i32 = 6;

/// Why a message is set aside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is of another version of the program, or of no version at all.
    #[error("format '{0}'")]
    Format(String),
    /// It belongs to another run.
    #[error("of another run, '{0}'")]
    Run(String),
    /// Its body is longer than any message of ours.
    #[error("a body of {0} bytes")]
    Long(usize),
    /// It holds no game.
    #[error("no games")]
    Empty,
    /// It holds more games than any message of ours.
    #[error("more than {MAX_GAMES} games")]
    Games,
    /// It unpacks to more than any message of ours.
    #[error("unpacks to more than {MAX_CONTENT} bytes")]
    Content,
    /// Its body is no sequence of whole frames.
    #[error("damaged at byte {offset}: {reason}")]
    Damaged {
        /// Where.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// One of its games is no record, or not by the rules.
    #[error("game {number}: {error}")]
    Record {
        /// Its place in the message, from 1.
        number: usize,
        /// What is wrong with it.
        error: RecordError,
    },
    /// One of its games is none that self-play of this run makes.
    #[error("game {number}: {reason}")]
    Foreign {
        /// Its place in the message, from 1.
        number: usize,
        /// What is foreign in it.
        reason: String,
    },
}

impl Refusal {
    /// One word for counting.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Format(_) => "format",
            Self::Run(_) => "run",
            Self::Long(_) | Self::Games | Self::Content => "oversized",
            Self::Empty | Self::Damaged { .. } => "damaged",
            Self::Record { .. } => "record",
            Self::Foreign { .. } => "foreign",
        }
    }
}

/// Messages to be: bodies of whole games, none beyond a bound.
pub struct Packer {
    encoder: Encoder,
    room: usize,
}

/// A message to be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The frames.
    pub bytes: Vec<u8>,
    /// Their games.
    pub games: usize,
    /// What they unpack to, in bytes.
    content: usize,
    /// Whether this is a single game beyond the bound.
    pub oversized: bool,
}

impl Packer {
    /// Packs for a server that takes messages of up to `max_payload` bytes, headers included.
    ///
    /// # Errors
    /// zstd cannot be set up.
    pub fn new(max_payload: usize) -> io::Result<Self> {
        let room = max_payload.saturating_sub(HEADER_ROOM).min(MAX_BODY);
        Ok(Self { encoder: Encoder::new(LEVEL)?, room })
    }

    /// The games in as few bodies as hold them, in order. A game that no message of this server can hold is a body of its own,
    /// marked as oversized.
    ///
    /// # Errors
    /// A game that no reader accepts: longer than [`MAX_RECORD`] bytes of JSON.
    pub fn pack(&mut self, games: &[GameRecord]) -> Result<Vec<Body>, ClusterError> {
        let mut bodies: Vec<Body> = Vec::new();
        for game in games {
            let failed = |reason: String| ClusterError::Game {
                id: format!("{}/{}/{}", game.id.run, game.id.worker, game.id.seq),
                reason,
            };
            let line = game.to_json() + "\n";
            if line.len() > MAX_RECORD {
                return Err(failed(format!("{} bytes, at most {MAX_RECORD}", line.len())));
            }
            let mut frame = Vec::new();
            self.encoder
                .encode(line.as_bytes(), &mut frame)
                .map_err(|error| failed(error.to_string()))?;
            let oversized = frame.len() > self.room;
            let fits = |body: &&mut Body| {
                !oversized
                    && !body.oversized
                    && body.games < MAX_GAMES
                    && body.bytes.len() + frame.len() <= self.room
                    && body.content + line.len() <= MAX_CONTENT
            };
            if bodies.last_mut().filter(fits).is_none() {
                bodies.push(Body { oversized, ..Body::default() });
            }
            if let Some(body) = bodies.last_mut() {
                body.bytes.append(&mut frame);
                body.games += 1;
                body.content += line.len();
            }
        }
        Ok(bodies)
    }
}

/// The games of a body, read within all bounds, in memory of the size of its games; whether they are by the rules is not yet
/// checked.
///
/// # Errors
/// Why it is none of ours.
pub fn unpack(body: &[u8]) -> Result<Vec<GameRecord>, Refusal> {
    if body.len() > MAX_BODY {
        return Err(Refusal::Long(body.len()));
    }
    let damaged =
        |offset, reason: &dyn ToString| Refusal::Damaged { offset, reason: reason.to_string() };
    let mut reader = FrameReader::new(body).map_err(|error| damaged(0, &error))?;
    let (mut games, mut unpacked) = (Vec::new(), 0);
    loop {
        let content = match reader.next().map_err(|error| damaged(0, &error))? {
            Frame::End => break,
            Frame::Broken { offset, reason } => return Err(damaged(offset, &reason)),
            Frame::Whole { content, .. } => content,
        };
        let number = games.len() + 1;
        unpacked += content.len();
        if number > MAX_GAMES {
            return Err(Refusal::Games);
        }
        if unpacked > MAX_CONTENT {
            return Err(Refusal::Content);
        }
        let game = std::str::from_utf8(content)
            .map_err(|error| RecordError::Json(error.to_string()))
            .and_then(|line| GameRecord::from_json(line.trim_end()))
            .map_err(|error| Refusal::Record { number, error })?;
        games.push(game);
    }
    if games.is_empty() { Err(Refusal::Empty) } else { Ok(games) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_games::game;

    fn games(count: u64) -> Vec<GameRecord> {
        (0..count).map(|seq| game("standard", seq, 40)).collect()
    }

    #[test]
    fn games_travel_whole_and_in_order_within_the_bound() {
        let all = games(40);
        let mut packer = Packer::new(HEADER_ROOM + 20_000).expect("a packer");
        let bodies = packer.pack(&all).expect("packs");
        assert!(bodies.len() > 3, "{} messages", bodies.len());
        assert!(bodies.iter().all(|body| body.bytes.len() <= 20_000 && !body.oversized));
        assert_eq!(bodies.iter().map(|body| body.games).sum::<usize>(), 40);
        let back: Vec<_> =
            bodies.iter().flat_map(|body| unpack(&body.bytes).expect("unpacks")).collect();
        assert_eq!(back, all);
        assert_eq!(Packer::new(1 << 20).expect("a packer").pack(&all).expect("packs").len(), 1);
        assert!(packer.pack(&[]).expect("packs").is_empty());
    }

    #[test]
    fn a_game_beyond_the_bound_is_alone_and_marked() {
        let mut all = games(3);
        all[1] = game("standard", 7, 400);
        let mut large = Packer::new(1 << 20).expect("a packer");
        let mut size = |game: usize| large.pack(&all[game..=game]).expect("packs")[0].bytes.len();
        let (longest, first) = (size(1), size(0));
        assert!(longest > first, "{longest} bytes, {first} bytes");
        let mut packer = Packer::new(HEADER_ROOM + longest - 1).expect("a packer");
        let bodies = packer.pack(&all).expect("packs");
        let oversized: Vec<_> = bodies.iter().map(|body| body.oversized).collect();
        assert_eq!(oversized, [false, true, false]);
    }

    #[test]
    fn more_games_or_bytes_than_any_message_has_are_refused() {
        let mut encoder = Encoder::new(1).expect("an encoder");
        let (mut many, mut wide) = (Vec::new(), Vec::new());
        let line = game("standard", 1, 12).to_json();
        for _ in 0..=MAX_GAMES {
            encoder.encode(line.as_bytes(), &mut many).expect("encodes");
        }
        assert_eq!(unpack(&many), Err(Refusal::Games));
        // Blanks behind the record: a few kB that unpack to more than 16 MB.
        let padded = format!("{line}{}", " ".repeat(MAX_RECORD - line.len()));
        for _ in 0..3 {
            encoder.encode(padded.as_bytes(), &mut wide).expect("encodes");
        }
        assert!(wide.len() < 20_000, "{} bytes", wide.len());
        assert_eq!(unpack(&wide), Err(Refusal::Content));
        let bomb = zstd::bulk::compress(&vec![0; 3 * MAX_RECORD], 19).expect("compresses");
        assert!(matches!(unpack(&bomb), Err(Refusal::Damaged { offset: 0, .. })));
        assert_eq!(unpack(&[]), Err(Refusal::Empty));
        assert_eq!(unpack(&vec![0; MAX_BODY + 1]), Err(Refusal::Long(MAX_BODY + 1)));
    }
}
