//! One evaluator for many workers: a thread that gathers their batches, for a device that wants few and large ones.
//!
//! Each worker holds a [`RemoteEvaluator`] and waits for its answer; give a machine more workers than cores, and while
//! some wait, others play. The executor takes whatever is waiting whenever its evaluator is free. So batches grow by
//! themselves until the device keeps up, and nobody waits for a batch to fill.
//!
//! An executor serves one network. New weights are a new executor: workers take its handles as they take any evaluator,
//! and the old one ends with its last handle. So nothing is shared that could be locked, and a stopped, failed or
//! replaced pool leaves no thread behind.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use gipf_model::{EvalError, Evaluation, Evaluator, Features, check_lengths};

/// What executors have done, for as many of them as share it. Clones share one count.
#[derive(Clone, Debug, Default)]
pub struct ExecutorMeter {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    batches: AtomicU64,
    rows: AtomicU64,
}

impl ExecutorMeter {
    /// Batches evaluated.
    pub fn batches(&self) -> u64 {
        self.counts.batches.load(Ordering::Relaxed)
    }

    /// Positions evaluated.
    pub fn rows(&self) -> u64 {
        self.counts.rows.load(Ordering::Relaxed)
    }

    fn count(&self, rows: usize) {
        self.counts.batches.fetch_add(1, Ordering::Relaxed);
        self.counts.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }
}

/// Rows on their way to the executor and back; the first `count` are in use.
#[derive(Default)]
struct Rows {
    features: Vec<Features>,
    evaluations: Vec<Evaluation>,
    count: usize,
}

impl Rows {
    fn make_room(&mut self, rows: usize) {
        if self.features.len() < rows {
            self.features.resize_with(rows, Features::new);
            self.evaluations.resize_with(rows, Evaluation::default);
        }
    }

    /// Trades the rows in use for those of `other` from `at` on.
    fn trade(&mut self, other: &mut Rows, at: usize) {
        let range = at..at + self.count;
        self.features[..self.count].swap_with_slice(&mut other.features[range.clone()]);
        self.evaluations[..self.count].swap_with_slice(&mut other.evaluations[range]);
    }

    fn evaluate<E: Evaluator>(&mut self, evaluator: &mut E) -> Result<(), EvalError> {
        evaluator.evaluate(&self.features[..self.count], &mut self.evaluations[..self.count])
    }
}

struct Request {
    /// The handle's number.
    from: usize,
    rows: Rows,
}

struct Reply {
    rows: Rows,
    result: Result<(), EvalError>,
}

/// An executor's evaluator, for one worker. The executor ends when its last handle is dropped.
pub struct RemoteEvaluator {
    number: usize,
    requests: Sender<Request>,
    replies: Receiver<Reply>,
    /// Kept from batch to batch; `None` only while they are away.
    rows: Option<Rows>,
    name: String,
    /// Last: by the time that it waits for the thread every handle has let go of the requests.
    _thread: Arc<Thread>,
}

/// The executor's thread; whoever drops it waits for its end.
struct Thread(Mutex<Option<JoinHandle<()>>>);

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A panic of the evaluator has been told by the panic itself, and by every handle's error.
            let _ = thread.join();
        }
    }
}

impl RemoteEvaluator {
    /// Starts an executor and gives it so many handles. Whole requests are gathered while the batch has at most
    /// `largest` rows; a request of more is a batch of its own.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start<E: Evaluator + 'static>(
        evaluator: E,
        handles: usize,
        largest: usize,
        meter: &ExecutorMeter,
    ) -> io::Result<Vec<RemoteEvaluator>> {
        let name = format!("executor of {}", evaluator.name());
        let (requests, inbox) = channel();
        // A handle has one request under way at most, so a reply never waits for room.
        let (outboxes, replies): (Vec<_>, Vec<_>) = (0..handles).map(|_| sync_channel(1)).unzip();
        let executor = Executor { evaluator, inbox, outboxes, largest, meter: meter.clone() };
        let thread =
            thread::Builder::new().name("executor".to_owned()).spawn(move || executor.serve())?;
        let thread = Arc::new(Thread(Mutex::new(Some(thread))));
        let handle = |(number, replies)| RemoteEvaluator {
            number,
            requests: requests.clone(),
            replies,
            rows: Some(Rows::default()),
            name: name.clone(),
            _thread: Arc::clone(&thread),
        };
        let handles: Vec<_> = replies.into_iter().enumerate().map(handle).collect();
        // With no handle left the thread ends, also where there never was one.
        drop(requests);
        Ok(handles)
    }

    fn ended(&self) -> EvalError {
        let message = "its thread has ended".to_owned();
        EvalError::Backend { name: self.name.clone(), message }
    }
}

impl Evaluator for RemoteEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        let mut rows = self.rows.take().unwrap_or_default();
        rows.make_room(batch.len());
        rows.count = batch.len();
        rows.features.iter_mut().zip(batch).for_each(|(row, features)| row.clone_from(features));
        rows.evaluations.iter_mut().zip(&mut *out).for_each(|(row, out)| std::mem::swap(row, out));
        self.requests.send(Request { from: self.number, rows }).map_err(|_| self.ended())?;
        let Reply { mut rows, result } = self.replies.recv().map_err(|_| self.ended())?;
        rows.evaluations.iter_mut().zip(out).for_each(|(row, out)| std::mem::swap(row, out));
        self.rows = Some(rows);
        result
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The thread's side.
struct Executor<E> {
    evaluator: E,
    inbox: Receiver<Request>,
    outboxes: Vec<SyncSender<Reply>>,
    largest: usize,
    meter: ExecutorMeter,
}

impl<E: Evaluator> Executor<E> {
    /// Evaluates until the last handle is gone.
    fn serve(mut self) {
        let (mut waiting, mut together) = (Vec::new(), Rows::default());
        let mut left_over = None;
        while let Some(first) = left_over.take().or_else(|| self.inbox.recv().ok()) {
            left_over = self.gather(first, &mut waiting);
            let result = self.evaluate(&mut waiting, &mut together);
            for Request { from, rows } in waiting.drain(..) {
                // A handle that is gone wants no reply.
                let _ = self.outboxes[from].send(Reply { rows, result: result.clone() });
            }
        }
    }

    /// Takes what is waiting, up to a full batch; returns the request that is too much.
    fn gather(&self, first: Request, waiting: &mut Vec<Request>) -> Option<Request> {
        let mut rows = first.rows.count;
        waiting.push(first);
        while let Ok(next) = self.inbox.try_recv() {
            if rows + next.rows.count > self.largest {
                return Some(next);
            }
            rows += next.rows.count;
            waiting.push(next);
        }
        None
    }

    /// Evaluates the requests as one batch.
    fn evaluate(&mut self, waiting: &mut [Request], together: &mut Rows) -> Result<(), EvalError> {
        let count = waiting.iter().map(|request| request.rows.count).sum();
        self.meter.count(count);
        if let [only] = waiting {
            return only.rows.evaluate(&mut self.evaluator);
        }
        together.make_room(count);
        together.count = count;
        let mut trade = |together: &mut Rows| {
            let mut at = 0;
            for Request { rows, .. } in &mut *waiting {
                rows.trade(together, at);
                at += rows.count;
            }
        };
        trade(together);
        let result = together.evaluate(&mut self.evaluator);
        trade(together);
        result
    }
}
