//! Threads that evaluate for one search: each has an evaluator of its own and takes a share of every batch.

use std::io;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use gipf_model::{EvalError, Evaluation, Evaluator, Features};

/// How often a thread looks for what it waits for before it sleeps: to wake takes as long as an evaluation.
const LOOKS: u32 = 4_000;

/// The threads. They end when this is dropped.
pub(crate) struct Helpers(Vec<Helper>);

struct Helper {
    shares: Option<SyncSender<Share>>,
    done: Receiver<(Share, Result<(), EvalError>)>,
    thread: Option<JoinHandle<()>>,
    /// Room that goes to and fro.
    room: Option<Share>,
}

/// A part of a batch.
#[derive(Default)]
struct Share {
    features: Vec<Features>,
    out: Vec<Evaluation>,
    /// The rows in use, from the first on.
    count: usize,
}

impl Helpers {
    /// A thread for each of these evaluators.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(crate) fn start<E: Evaluator + 'static>(evaluators: Vec<E>) -> io::Result<Helpers> {
        evaluators.into_iter().map(Helper::start).collect::<io::Result<_>>().map(Helpers)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Evaluates a batch together with `own`, each thread a share; the features come back in their places, some of them emptied.
    ///
    /// # Errors
    /// Any evaluator's.
    pub(crate) fn evaluate(
        &mut self,
        own: &mut dyn Evaluator,
        features: &mut [Features],
        out: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        let share = features.len().div_ceil(self.0.len() + 1).max(1);
        let (mine, rest) = features.split_at_mut(share.min(features.len()));
        let (my_out, rest_out) = out.split_at_mut(mine.len());
        let mut given = 0;
        for (helper, features) in self.0.iter_mut().zip(rest.chunks_mut(share)) {
            helper.give(features)?;
            given += 1;
        }
        let mut result = own.evaluate(mine, my_out);
        // Every share comes back, also after an error.
        let waiting = self.0[..given].iter_mut().zip(rest.chunks_mut(share));
        for ((helper, features), out) in waiting.zip(rest_out.chunks_mut(share)) {
            result = helper.take_back(features, out).and(result);
        }
        result
    }
}

impl Helper {
    fn start<E: Evaluator + 'static>(mut evaluator: E) -> io::Result<Helper> {
        let (shares, mine) = sync_channel::<Share>(1);
        let (give_back, done) = sync_channel(1);
        let thread = thread::Builder::new().name("search helper".to_owned()).spawn(move || {
            while let Ok(mut share) = receive(&mine) {
                let Share { features, out, count } = &mut share;
                let result = evaluator.evaluate(&features[..*count], &mut out[..*count]);
                if give_back.send((share, result)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Helper { shares: Some(shares), done, thread: Some(thread), room: None })
    }

    fn give(&mut self, features: &mut [Features]) -> Result<(), EvalError> {
        let mut share = self.room.take().unwrap_or_default();
        share.count = features.len();
        while share.features.len() < share.count {
            share.features.push(Features::new());
            share.out.push(Evaluation::default());
        }
        for (to, from) in share.features.iter_mut().zip(features) {
            std::mem::swap(to, from);
        }
        let sent = self.shares.as_ref().is_some_and(|shares| shares.send(share).is_ok());
        if sent { Ok(()) } else { Err(gone()) }
    }

    fn take_back(
        &mut self,
        features: &mut [Features],
        out: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        let (mut share, result) = receive(&self.done).map_err(|_| gone())?;
        for (from, to) in share.features.iter_mut().zip(features) {
            std::mem::swap(from, to);
        }
        for (from, to) in share.out.iter_mut().zip(out) {
            std::mem::swap(from, to);
        }
        self.room = Some(share);
        result
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // Without a sender the thread's waiting ends.
        self.shares = None;
        if let Some(thread) = self.thread.take() {
            // A thread that broke down has told so by not answering.
            let _ = thread.join();
        }
    }
}

/// What comes next: looked for eagerly for a while, then slept for.
fn receive<T>(channel: &Receiver<T>) -> Result<T, RecvError> {
    for _ in 0..LOOKS {
        match channel.try_recv() {
            Ok(found) => return Ok(found),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    channel.recv()
}

/// A helper's thread has ended, which only a fault in its evaluator brings about.
fn gone() -> EvalError {
    EvalError::Backend { name: "search helper".to_owned(), message: "it broke down".to_owned() }
}
