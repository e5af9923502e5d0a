//! The searches of a service: some at a time, the others in a queue that has an end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::Limits;
use crate::PlayerFile;
use crate::desk::Fault;
use crate::desk::thinking::{Opinion, Task, Thinker};

/// Evaluations between two looks at the clock and at whether anybody still wants the answer.
const SLICE: u32 = 32;

/// Why there is no answer.
#[derive(Debug)]
pub enum Refusal {
    /// The question cannot be answered.
    Fault(Fault),
    /// Too many wait already.
    Busy,
    /// The search broke down, which is a mistake of this program.
    Broken,
}

/// Thinks for many clients. Cloning shares the player.
#[derive(Clone)]
pub struct Searches(Arc<Shared>);

struct Shared {
    file: PlayerFile,
    turns: Arc<Semaphore>,
    /// Those that think or wait.
    present: AtomicUsize,
    most_present: usize,
    limit: Duration,
    /// Thinkers at rest: as many as have ever thought at a time.
    rest: Mutex<Vec<Thinker>>,
}

/// Somebody who thinks or waits.
struct Presence(Arc<Shared>);

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.present.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ends a search that nobody waits for any more: the client is gone, and with it the future that holds this.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Searches {
    /// Searches with the player of a file.
    ///
    /// # Errors
    /// Its rules are none that this version can read.
    pub fn new(file: &PlayerFile, limits: &Limits) -> Result<Searches, Fault> {
        Ok(Searches(Arc::new(Shared {
            rest: Mutex::new(vec![Thinker::new(file)?]),
            file: file.clone(),
            turns: Arc::new(Semaphore::new(limits.searches)),
            present: AtomicUsize::new(0),
            most_present: limits.searches + limits.waiting,
            limit: limits.search,
        })))
    }

    /// Asks a thinker something that needs no search.
    ///
    /// # Errors
    /// Those of the question.
    pub fn ask<T>(&self, ask: impl FnOnce(&Thinker) -> Result<T, Fault>) -> Result<T, Fault> {
        let thinker = self.0.thinker()?;
        let answer = ask(&thinker);
        self.0.put_back(thinker);
        answer
    }

    /// Thinks about a question when its turn has come.
    ///
    /// # Errors
    /// [`Refusal`] where the question cannot be answered or too many wait.
    pub async fn think(&self, task: Task) -> Result<Opinion, Refusal> {
        let shared = Arc::clone(&self.0);
        if shared.present.fetch_add(1, Ordering::Relaxed) >= shared.most_present {
            shared.present.fetch_sub(1, Ordering::Relaxed);
            return Err(Refusal::Busy);
        }
        let presence = Presence(Arc::clone(&shared));
        let turn = Arc::clone(&shared.turns).acquire_owned().await.map_err(|_| Refusal::Broken)?;
        let wanted = Wanted(Arc::new(AtomicBool::new(true)));
        let still = Arc::clone(&wanted.0);
        // The turn and the presence end with the search, also where nobody waits for it any more.
        let search = tokio::task::spawn_blocking(move || {
            let _held = (presence, turn);
            shared.search(&task, &still)
        });
        let opinion = search.await.map_err(|_| Refusal::Broken)?;
        drop(wanted);
        opinion.map_err(Refusal::Fault)
    }
}

impl Shared {
    fn thinker(&self) -> Result<Thinker, Fault> {
        let rested = self.rest.lock().unwrap_or_else(PoisonError::into_inner).pop();
        rested.map_or_else(|| Thinker::new(&self.file), Ok)
    }

    fn put_back(&self, thinker: Thinker) {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner).push(thinker);
    }

    fn search(&self, task: &Task, wanted: &AtomicBool) -> Result<Opinion, Fault> {
        let began = Instant::now();
        let mut thinker = self.thinker()?;
        let mut think = || {
            thinker.begin(task)?;
            loop {
                let opinion = thinker.go_on(SLICE)?;
                if opinion.done || began.elapsed() >= self.limit || !wanted.load(Ordering::Relaxed)
                {
                    return Ok(Opinion { done: true, ..opinion });
                }
            }
        };
        let opinion = think();
        self.put_back(thinker);
        opinion
    }
}
