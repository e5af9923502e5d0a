//! The player on its own thread: questions go in, thoughts and choices come out.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use gipf_core::{Play, Position};
use gipf_selfplay::{Budget, Choice, GameState, Player, PlayerError, RandomKey, Thought, Timer};

use crate::strength::Strength;

/// Thoughts that may wait to be printed; further ones are dropped, since a search must not wait for its reader.
const WAITING: usize = 64;

/// One decision to think about.
pub(super) struct Question {
    pub(super) position: Position,
    pub(super) plays: Vec<Play>,
    pub(super) max_plays: u32,
    pub(super) key: RandomKey,
    pub(super) nodes: Option<u32>,
    pub(super) depth: Option<u32>,
    pub(super) strength: Strength,
    /// Lines to tell of; 1: the search's choice alone.
    pub(super) lines: usize,
    /// Counted from `asked`.
    pub(super) time: Option<Duration>,
    /// When the `go` came.
    pub(super) asked: Instant,
    /// Ends the search once it is set.
    pub(super) stop: Arc<AtomicBool>,
}

/// What the thinking thread is asked.
pub(super) enum Task {
    /// The next question is another game's.
    NewGame,
    /// The next question is another player's.
    Player(Box<dyn Player>),
    /// Think; one question at a time.
    Think(Box<Question>),
}

/// What it answers, with the time since the question was asked.
pub(super) enum Word {
    /// A search goes on.
    Thought(Thought, Duration),
    /// The one answer to each question.
    Choice(Result<Choice, PlayerError>, Duration),
}

/// Starts the thread around a player; it ends when the tasks' sender is dropped.
///
/// # Errors
/// The system starts no thread.
pub(super) fn start(player: Box<dyn Player>) -> io::Result<(Sender<Task>, Receiver<Word>)> {
    let (tasks, mine) = bounded(1);
    let (words, heard) = bounded(WAITING);
    thread::Builder::new()
        .name("ugi player".to_owned())
        .spawn(move || work(player, &mine, &words))?;
    Ok((tasks, heard))
}

fn work(mut player: Box<dyn Player>, tasks: &Receiver<Task>, words: &Sender<Word>) {
    for task in tasks {
        let question = match task {
            Task::NewGame => {
                player.new_game();
                continue;
            }
            Task::Player(other) => {
                player = other;
                continue;
            }
            Task::Think(question) => question,
        };
        let choice = think(&mut *player, &question, words);
        if words.send(Word::Choice(choice, question.asked.elapsed())).is_err() {
            return;
        }
    }
}

fn think(
    player: &mut dyn Player,
    question: &Question,
    words: &Sender<Word>,
) -> Result<Choice, PlayerError> {
    let asked = question.asked;
    let left = question.time.map(|time| time.saturating_sub(asked.elapsed()));
    let timer = Timer::new(left).stopped_by(&question.stop);
    let listener = |thought: &Thought| {
        // A full channel drops the thought.
        let _ = words.try_send(Word::Thought(thought.clone(), asked.elapsed()));
    };
    let state = GameState {
        position: &question.position,
        plays: &question.plays,
        max_plays: question.max_plays,
        key: question.key,
    };
    let budget = Budget {
        nodes: question.nodes,
        depth: question.depth,
        clock: Some(&timer),
        listener: Some(&listener),
        resume: false,
        candidates: if question.lines > 1 { question.lines } else { 0 },
    };
    question.strength.choose(player, &state, &budget)
}
