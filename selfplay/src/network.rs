//! The network player.

#[cfg(feature = "threads")]
use std::io;
use std::time::Duration;

use gipf_core::{Play, Position};
use gipf_model::Evaluator;

use crate::budget::{Budget, Clock, Thought};
use crate::config::{ConfigError, Method, SearchConfig};
use crate::desk::Desk;
#[cfg(feature = "threads")]
use crate::helpers::Helpers;
use crate::player::{Choice, GameState, Player, PlayerError, actions_of};
use crate::random::Purpose;
use crate::search::{Search, SearchBudget, SearchResult, outcomes};

/// New root visits where the budget says nothing.
pub(crate) const SIMULATIONS: u32 = 200;
/// Nodes that a tree may have, unless [`SearchConfig::max_nodes`] is more: 300 MB by standard rules, some 900 by those of Ultimate GIPF,
/// which has more plays. A search that comes so far ends.
const MOST_NODES: u32 = 250_000;
/// New root visits that are added at a time once the plan has come out early: so many may pass without an evaluation,
/// and so without a look at the clock.
const SLICE: u32 = 32;
/// The listener hears of a search after so many new visits, and after each further quarter.
const FIRST_REPORT: u32 = 16;

/// A network to play with: what evaluates, and how its evaluations are searched.
pub struct Network<E> {
    /// What it is called in tables and records.
    pub name: String,
    /// What evaluates.
    pub evaluator: E,
    /// The search. Games and matches are played without noise at the root.
    pub search: SearchConfig,
    /// The step of the evaluator's checkpoint.
    pub checkpoint: u64,
}

/// Plays one game at a time with a network and a search (Gumbel without noise, or PUCT), keeping its tree from one play
/// to the next.
pub struct NetworkPlayer<E> {
    network: Network<E>,
    search: Option<Search>,
    /// The limit of plays that the search was made for, and whether time bounds it.
    made_for: (u32, bool),
    pace: Pace,
    /// The plays that the tree's root stands behind.
    seen: Vec<Play>,
    actions: Vec<Play>,
    desk: Desk,
}

impl<E: Evaluator> NetworkPlayer<E> {
    /// A player; an error names a value of the search config that is out of range.
    pub fn new(network: Network<E>) -> Result<NetworkPlayer<E>, ConfigError> {
        network.search.validate()?;
        Ok(NetworkPlayer::of(network))
    }

    /// A player of this name and checkpoint step, with the search that [`SearchConfig::default`] describes.
    pub fn with_default_search(name: String, evaluator: E, checkpoint: u64) -> NetworkPlayer<E> {
        NetworkPlayer::of(Network { name, evaluator, search: SearchConfig::default(), checkpoint })
    }

    fn of(network: Network<E>) -> NetworkPlayer<E> {
        NetworkPlayer {
            network,
            search: None,
            made_for: (0, false),
            pace: Pace::default(),
            seen: Vec::new(),
            actions: Vec::new(),
            desk: Desk::default(),
        }
    }

    /// Searches with as many more threads as there are evaluators here, which evaluate the same network as the player's own. They take their
    /// shares of the positions that wait for an evaluation at the same time (see `search::flight`), two a thread at least: by nodes those of a row
    /// of the halving, as many as candidates are left; by time `SearchConfig::overlap` for each thread.
    ///
    /// # Errors
    /// The system starts no thread.
    #[cfg(feature = "threads")]
    pub fn with_helpers(mut self, evaluators: Vec<E>) -> io::Result<NetworkPlayer<E>>
    where
        E: 'static,
    {
        self.desk.helpers =
            (!evaluators.is_empty()).then(|| Helpers::start(evaluators)).transpose()?;
        Ok(self)
    }

    /// What it plays with.
    pub fn network(&self) -> &Network<E> {
        &self.network
    }
}

impl<E: Evaluator> Player for NetworkPlayer<E> {
    fn name(&self) -> String {
        self.network.name.clone()
    }

    fn new_game(&mut self) {
        self.seen.clear();
        if let Some(search) = &mut self.search {
            search.clear();
        }
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.actions)?;
        if let [only] = self.actions[..] {
            return Ok(Choice::unsearched(only));
        }
        let deadline = Deadline::of(budget);
        let made_for = (game.max_plays, deadline.is_some());
        if self.made_for != made_for {
            (self.made_for, self.search) = (made_for, None);
        }
        let config = &self.network.search;
        let search = self.search.get_or_insert_with(|| {
            let most = if deadline.is_some() { MOST_NODES } else { 0 };
            let max_nodes = config.max_nodes.max(most);
            Search::new(&SearchConfig { max_nodes, ..config.clone() }, game.max_plays)
        });
        let resumed = budget.resume && search.stands_at(game.position, game.ply());
        // The plays since the last choice lead from the old tree to the new one; another game leads nowhere.
        match game.plays.strip_prefix(&*self.seen) {
            Some(new) => new.iter().for_each(|&play| search.advance(play)),
            None => search.clear(),
        }
        self.seen.clear();
        self.seen.extend_from_slice(game.plays);
        let most = budget.nodes.unwrap_or(if deadline.is_some() { u32::MAX } else { SIMULATIONS });
        let mut planned = match &deadline {
            None => most,
            Some(deadline) => self.pace.plan(deadline.left()).min(most),
        };
        let noise = game.key.stream(game.ply(), Purpose::Noise);
        if !resumed {
            search.begin(game.position, game.ply(), play_budget(config, planned), noise);
        }
        let mut result = SearchResult::default();
        let (mut evaluated, mut report, mut seen) = (0, FIRST_REPORT, None);
        // By nodes every number of threads finds the same.
        let overlap = if deadline.is_some() { config.overlap } else { 0 };
        let most_nodes = config.max_nodes.max(MOST_NODES) as usize;
        let desk = &mut self.desk;
        loop {
            // What has been taken must be delivered, or the tree could not be kept for the next decision: the clock is looked at before.
            let room = |deadline| self.pace.room(deadline, evaluated);
            let room = deadline.as_ref().map_or(usize::MAX, room);
            let full = search.nodes() >= most_nodes;
            if search.is_ready() && (room == 0 || full || budget.is_over()) {
                break;
            }
            let count = desk.take(search, room.max(1), overlap);
            if count > 0 {
                desk.evaluate(&mut self.network.evaluator, count)?;
                evaluated += count;
                if let Some(deadline) = deadline.as_ref().filter(|_| self.pace.is_unknown()) {
                    // The first evaluation of all says how far the time will reach; the root's halving is planned for it.
                    self.pace.learn(deadline.spent(), evaluated, evaluated);
                    planned = self.pace.plan(deadline.left()).min(most);
                    search.extend(planned);
                }
                desk.deliver(search, count);
            } else if search.is_over() {
                let done = search.simulations();
                let early = deadline.is_some() && room > 0;
                let proven = done < planned;
                let spent = done >= most;
                // Without an evaluation both of the halving's last candidates are proven: nothing is left to find out.
                let idle = seen.replace(evaluated) == Some(evaluated)
                    && self.network.search.method == Method::Gumbel;
                if !early || proven || spent || idle {
                    break;
                }
                planned = done.saturating_add(SLICE).min(most);
                search.extend(planned);
            }
            if let Some(listener) = budget.listener.filter(|_| search.simulations() >= report) {
                search.result(&mut result);
                listener(&thought(search, &result, game.position, budget.candidates));
                report = search
                    .simulations()
                    .saturating_add((search.simulations() / 4).max(FIRST_REPORT));
            }
        }
        if let Some(deadline) = &deadline {
            self.pace.learn(deadline.spent(), search.simulations(), evaluated);
        }
        search.result(&mut result);
        let thought = thought(search, &result, game.position, budget.candidates);
        Ok(Choice { play: result.play, search: Some(result), thought: Some(thought) })
    }
}

/// What a search thinks, from the side that decides, with so many of the plays it has looked at.
fn thought(search: &Search, result: &SearchResult, position: &Position, most: usize) -> Thought {
    let (mut line, mut candidates) = (Vec::new(), Vec::new());
    search.line(result.play, &mut line);
    if most > 0 {
        search.candidates(result, most, &mut candidates);
    }
    Thought {
        depth: search.deepest().max(1),
        nodes: u64::from(result.simulations),
        score: position.decider().map(|side| outcomes(side, result.value)),
        line,
        candidates,
    }
}

/// A decision's time, from where its search begins.
struct Deadline<'a> {
    clock: &'a dyn Clock,
    limit: Duration,
    began: Duration,
}

impl<'a> Deadline<'a> {
    /// The budget's, if its clock has a limit.
    fn of(budget: &Budget<'a>) -> Option<Deadline<'a>> {
        let clock = budget.clock?;
        Some(Deadline { clock, limit: clock.limit()?, began: clock.elapsed() })
    }

    /// Seconds since the search began.
    fn spent(&self) -> f64 {
        self.clock.elapsed().saturating_sub(self.began).as_secs_f64()
    }

    /// Seconds until the play is due.
    fn left(&self) -> f64 {
        self.limit.saturating_sub(self.clock.elapsed()).as_secs_f64()
    }
}

/// How long a player's simulations and evaluations take: the mean of all decisions so far, each weighing half as much as the
/// next.
///
/// Sequential halving must know its budget in advance, so it is planned for as many simulations as the time will allow at
/// this pace. A plan that is too long is cut off at the deadline, and one that comes out early goes on between its last two
/// candidates: the time is used in full either way.
#[derive(Default)]
struct Pace {
    /// Seconds a new visit of the root; 0 before the first one.
    simulation: f64,
    /// Seconds an evaluation, the search around it included.
    evaluation: f64,
}

impl Pace {
    fn is_unknown(&self) -> bool {
        self.evaluation == 0.0
    }

    /// New visits of the root that fit into so many seconds; 1 as long as nothing has been measured.
    fn plan(&self, seconds: f64) -> u32 {
        if self.simulation > 0.0 {
            ((seconds / self.simulation) as u32).clamp(1, MOST_NODES / 2)
        } else {
            1
        }
    }

    /// Evaluations that there is time left for after so many of this decision: at the pace of this decision, where it is slower than
    /// those before. No bound as long as nothing has been measured.
    fn room(&self, deadline: &Deadline<'_>, evaluated: u32) -> usize {
        let this = if evaluated > 0 { deadline.spent() / f64::from(evaluated) } else { 0.0 };
        let evaluation = self.evaluation.max(this);
        if evaluation > 0.0 { (deadline.left() / evaluation) as usize } else { usize::MAX }
    }

    /// Takes in what so many visits and evaluations took.
    fn learn(&mut self, seconds: f64, simulations: u32, evaluations: u32) {
        let mix = |known: &mut f64, count: u32| {
            if seconds > 0.0 && count > 0 {
                let seen = seconds / f64::from(count);
                *known = if *known > 0.0 { f64::midpoint(*known, seen) } else { seen };
            }
        };
        // Visits of what is proven cost nothing, and say nothing of the others.
        mix(&mut self.simulation, simulations.min(evaluations));
        mix(&mut self.evaluation, evaluations);
    }
}

/// A search without noise.
pub(crate) fn play_budget(config: &SearchConfig, simulations: u32) -> SearchBudget {
    SearchBudget {
        simulations: simulations.max(1),
        considered: config.gumbel.considered,
        noise: false,
    }
}
