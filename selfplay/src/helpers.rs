//! Threads that evaluate for one search: each has an evaluator of its own and takes a share of every batch.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};

use gipf_model::{EvalError, Evaluation, Evaluator, Features};

/// How often a thread looks for what it waits for before it sleeps: to wake takes as long as an evaluation.
const LOOKS: u32 = 4_000;

/// The fewest positions that are worth a thread of their own: to hand over one costs more than to evaluate it beside another.
const LEAST: usize = 2;

/// The threads. They end when this is dropped.
pub(crate) struct Helpers(Vec<Helper>);

struct Helper {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
    /// Room that goes to and fro.
    room: Option<Share>,
}

/// Where a share lies between the two threads.
#[derive(Default)]
struct Desk {
    place: Mutex<Place>,
    changed: Condvar,
}

/// How far a share has come.
#[derive(Default)]
enum Place {
    /// Nothing is asked for, or it is being evaluated.
    #[default]
    Empty,
    /// Nobody has begun it.
    Asked(Share),
    /// It has been evaluated.
    Done(Share, Result<(), EvalError>),
    /// The thread is to end, or has.
    Over,
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
        let share = features.len().div_ceil(self.0.len() + 1).max(LEAST);
        let (mine, rest) = features.split_at_mut(share.min(features.len()));
        let (my_out, rest_out) = out.split_at_mut(mine.len());
        let mut given = 0;
        for (helper, features) in self.0.iter_mut().zip(rest.chunks_mut(share)) {
            helper.give(features);
            given += 1;
        }
        let mut result = own.evaluate(mine, my_out);
        // Every share comes back, also after an error.
        let waiting = self.0[..given].iter_mut().zip(rest.chunks_mut(share));
        for ((helper, features), out) in waiting.zip(rest_out.chunks_mut(share)) {
            result = helper.take_back(own, features, out).and(result);
        }
        result
    }
}

impl Helper {
    fn start<E: Evaluator + 'static>(mut evaluator: E) -> io::Result<Helper> {
        let desk = Arc::new(Desk::default());
        let own = Arc::clone(&desk);
        let thread = thread::Builder::new().name("search helper".to_owned()).spawn(move || {
            // Whoever waits must hear of it if the evaluator breaks down.
            let desk = Closing(own);
            while let Some(mut share) = desk.0.next_share() {
                let Share { features, out, count } = &mut share;
                let result = evaluator.evaluate(&features[..*count], &mut out[..*count]);
                desk.0.put(Place::Done(share, result));
            }
        })?;
        Ok(Helper { desk, thread: Some(thread), room: None })
    }

    fn give(&mut self, features: &mut [Features]) {
        let mut share = self.room.take().unwrap_or_default();
        share.count = features.len();
        while share.features.len() < share.count {
            share.features.push(Features::new());
            share.out.push(Evaluation::default());
        }
        for (to, from) in share.features.iter_mut().zip(features) {
            std::mem::swap(to, from);
        }
        self.desk.put(Place::Asked(share));
    }

    /// The share with its evaluations; one that the thread has not begun, because the machine does other work, is evaluated here.
    fn take_back(
        &mut self,
        own: &mut dyn Evaluator,
        features: &mut [Features],
        out: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        let (mut share, result) = match self.desk.take_back() {
            Place::Done(share, result) => (share, result),
            Place::Asked(mut share) => {
                let Share { features, out, count } = &mut share;
                let result = own.evaluate(&features[..*count], &mut out[..*count]);
                (share, result)
            }
            Place::Empty | Place::Over => {
                let message = "it broke down".to_owned();
                return Err(EvalError::Backend { name: "search helper".to_owned(), message });
            }
        };
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
        self.desk.put(Place::Over);
        if let Some(thread) = self.thread.take() {
            // A thread that broke down has told so by not answering.
            let _ = thread.join();
        }
    }
}

/// Closes the desk when the helper's thread ends, however it ends.
struct Closing(Arc<Desk>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.put(Place::Over);
    }
}

impl Desk {
    /// Lays something down, unless the desk is closed.
    fn put(&self, place: Place) {
        let mut here = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*here, Place::Over) {
            *here = place;
        }
        drop(here);
        self.changed.notify_all();
    }

    /// The next share to evaluate; none once the desk is closed.
    fn next_share(&self) -> Option<Share> {
        let mut here = self.wait(|place| matches!(place, Place::Asked(_) | Place::Over));
        match std::mem::take(&mut *here) {
            Place::Asked(share) => Some(share),
            _ => {
                *here = Place::Over;
                None
            }
        }
    }

    /// What has become of the share that was laid down: not begun, or done.
    fn take_back(&self) -> Place {
        let mut here = self.wait(|place| !matches!(place, Place::Empty));
        match &*here {
            Place::Over => Place::Over,
            _ => std::mem::take(&mut *here),
        }
    }

    /// Waits for something to lie here: looks for it eagerly for a while, then sleeps.
    fn wait(&self, is_there: impl Fn(&Place) -> bool) -> MutexGuard<'_, Place> {
        for _ in 0..LOOKS {
            match self.place.try_lock() {
                Ok(here) if is_there(&here) => return here,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Ok(_) | Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        let here = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(here, |place| !is_there(place));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}
