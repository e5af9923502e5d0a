//! `gipf rate`: how strong a run's checkpoints and the baselines are.

mod wanted;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use gipf_selfplay::{MatchResult, Ratings};

use super::{Output, Usage, input};
use crate::cpu::cores;
use crate::learner::{StopFlag, main_rules};
use crate::progress::{Progress, human_count, human_time};
use crate::ratings::{Book, League, RatedLimit, RatingsFile, Setup, draw, write_scalars};
use crate::run::{RunFolder, RunView};
use crate::store::DiskWait;
use wanted::Wanted;

/// Pairs of games of two players before it is seen again who should meet.
const ROUND: u32 = 8;

/// Minutes of play where neither they nor games are given.
const MINUTES: f64 = 10.0;

/// Rate a run's checkpoints and the baselines: Elo with 95% intervals, from games played where they tell most
///
/// Ratings are the maximum of the likelihood of Bradley and Terry's model with White's advantage. Every game is kept in
/// RUN/ratings; the same command later goes on with them and takes new checkpoints in, and it works while the run trains.
/// The list goes to RUN/ratings.json, the curve to RUN/ratings.svg and to TensorBoard, unless those hold more games by
/// other players, rules or limits: then to the folder of these games. Elo 0 is --anchor; without it, of those
/// that play now, the run's step 0, else random, else the first. A run keeps its newest checkpoints (checkpoints.keep), step 0 and
/// the best; those that are gone, and players of earlier calls, keep their games and their rating.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf rate runs/quickstart-1\n\
                        Example: gipf rate runs/quickstart-1 --minutes 30 --players 0,2000,latest,greedy,alphabeta:4")]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Games to play at most; 10 minutes where neither games nor minutes are given
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    games: Option<u64>,
    /// Minutes to play at most
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    minutes: Option<f64>,
    /// Stop as soon as every interval is this narrow, in Elo either way
    #[arg(long, value_name = "ELO", default_value_t = 35.0, value_parser = margin)]
    within: f64,
    /// Who is rated, separated by commas: steps of the run, latest, best, or players as of gipf match; 12 checkpoints
    /// spread over the run and five baselines where it is absent
    #[arg(long, value_name = "PLAYERS", value_delimiter = ',')]
    players: Vec<String>,
    /// Whose Elo is 0, one of those rated: a step of the run, or a player's name; intervals are of the lead over it
    #[arg(long, value_name = "PLAYER")]
    anchor: Option<String>,
    /// Rules string; those that most games of the run have where it is absent
    #[arg(long)]
    rules: Option<String>,
    /// Simulations a decision for players with a network
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    nodes: u32,
    /// Milliseconds a decision in place of simulations
    #[arg(long, value_name = "MS", conflicts_with = "nodes", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    movetime: Option<u64>,
    /// Seed of openings and players
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads that play; one a core where it is absent
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Print ratings.json instead of the list
    #[arg(long)]
    json: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err("not a number above 0, at most 1000000".to_owned()),
    }
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err("not a number from 0 to 1000000".to_owned()),
    }
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let shown = args.run.display();
    if !RunFolder::holds_run(&args.run) {
        return Err(Usage::error(format!("there is no run in {shown}")));
    }
    let view = RunView::open(&args.run)?;
    let rules = match &args.rules {
        Some(text) => input::rules(text)?,
        None => main_rules(&view.config)?,
    };
    if !rules.is_searchable() {
        return Err(Usage::error(format!("rules {rules}: games need the chances of side games")));
    }
    let device = super::device(&args.device)?;
    let stop = StopFlag::on_signals()?;
    let wait = DiskWait::new(stop.shared());
    let files = view.checkpoints()?;
    let Some(newest) = files.last() else {
        anyhow::bail!("the run in {shown} has no checkpoint yet");
    };
    let limit = match args.movetime {
        Some(time) => RatedLimit::Milliseconds(time),
        None => RatedLimit::Nodes(args.nodes),
    };
    // Who is named wrongly is told before anything is written.
    let mut wanted = if args.players.is_empty() {
        Wanted::default_of(&view, &files)?
    } else {
        Wanted::named(&args.players, &view, &files)?
    };
    let anchor = args.anchor.as_deref().map(|name| wanted.anchor(name)).transpose()?;
    let setup = Setup::new(rules.to_string(), view.config.rules.max_plays, limit, args.seed);
    let book = Book::open(&args.run, setup, &newest.path, wait.clone())?;
    let mut progress = Progress::new();
    progress.stage("loading the players");
    let rivals = wanted.rivals(&book, rules, limit, device, &progress)?;
    let threads = args.threads.map_or_else(cores, usize::from);
    let name = format!("{}/ratings", view.state.run_id);
    let mut league = League::new(book, rivals, device, threads, name)?;
    if let Some(name) = &anchor {
        anyhow::ensure!(league.anchor_at(name), "--anchor: the run has removed {name} meanwhile");
    }
    let before = RatingsFile::read(&args.run)?;
    let (stop, wait) = (&stop, &wait);
    let mut tour = Tour { league, args, before, stop, wait, begun: Instant::now(), played: 0 };
    let file = tour.play(&mut progress)?;
    progress.finish();
    let place = tour.place(&file);
    if let Some(before) = tour.before.as_ref().filter(|_| place != args.run) {
        tracing::warn!(
            "{} stays as it is: it holds more games ({} of {}, {}) than this rating",
            args.run.join("ratings.json").display(),
            before.games,
            before.rules,
            before.limit
        );
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&file)?)?;
    } else {
        write_list(&file, place, tour.league.folder(), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Rounds of games until the budget is used up or the intervals are narrow.
struct Tour<'a> {
    league: League,
    args: &'a Args,
    /// The run's ratings when this one began.
    before: Option<RatingsFile>,
    stop: &'a StopFlag,
    wait: &'a DiskWait,
    begun: Instant,
    /// Games of this call.
    played: u64,
}

impl Tour<'_> {
    /// Plays and rates; what stands at the end, written.
    fn play(&mut self, progress: &mut Progress) -> anyhow::Result<RatingsFile> {
        progress.stage("rating");
        let mut ratings = self.league.ratings()?;
        while !self.is_over(&ratings) {
            let pair = self.league.next(&ratings, ROUND)?;
            let pairs = self.round();
            let names =
                format!("{} against {}", self.league.name(pair.0), self.league.name(pair.1));
            let (done, played, begun) = (self.share(), self.played, self.begun);
            let mut before = None;
            let mut forfeits: [Option<String>; 2] = Default::default();
            let mut tell = |so_far: &MatchResult| {
                for (told, side) in forfeits.iter_mut().zip(&so_far.sides) {
                    told.clone_from(&side.last_forfeit);
                }
                let first = *before.get_or_insert(so_far.games - 1);
                progress.update(done, || {
                    let games = played + so_far.games - first;
                    let time = human_time(begun.elapsed().as_secs_f64());
                    format!("{games} games in {time}, now {names}")
                });
            };
            let stop = self.stop;
            let games = self.league.games();
            self.league.play(pair, pairs, &|| stop.is_set(), &mut tell)?;
            self.played += self.league.games() - games;
            for (player, reason) in [pair.0, pair.1].into_iter().zip(forfeits) {
                if let Some(reason) = reason {
                    let name = self.league.name(player);
                    progress.note(&format!("{name} lost games that it broke off: {reason}"));
                }
            }
            ratings = self.league.ratings()?;
            let file = self.file(&ratings)?;
            file.write(self.place(&file), self.wait)?;
        }
        let file = self.file(&ratings)?;
        let place = self.place(&file);
        file.write(place, self.wait)?;
        draw(&file, &place.join("ratings.svg"), self.wait)?;
        if place == self.args.run {
            write_scalars(&file, &self.args.run.join("events"))?;
        }
        Ok(file)
    }

    /// Where ratings go: the run's folder, unless what it holds already is made of more games by other players, rules or
    /// limits; then beside their own games.
    fn place(&self, file: &RatingsFile) -> &Path {
        let stays = self.before.as_ref().is_some_and(|before| before.games > file.games);
        if stays { self.league.folder() } else { &self.args.run }
    }

    /// The ratings with the run's history as it is now.
    fn file(&self, ratings: &Ratings) -> anyhow::Result<RatingsFile> {
        let history = RunView::open(&self.args.run)?.history()?;
        Ok(self.league.file(ratings, &self.args.run, &history))
    }

    /// Pairs of the next round: a whole one, or what the budget of games leaves.
    fn round(&self) -> u32 {
        let left = self.args.games.map_or(u64::MAX, |games| games.saturating_sub(self.played));
        u32::try_from(left.div_ceil(2)).unwrap_or(u32::MAX).clamp(1, ROUND)
    }

    fn minutes(&self) -> Option<f64> {
        self.args.minutes.or(if self.args.games.is_none() { Some(MINUTES) } else { None })
    }

    /// How far the budget is used up, 0 to 1.
    fn share(&self) -> Option<f64> {
        let by_games = self.args.games.map(|games| self.played as f64 / games as f64);
        let by_time =
            self.minutes().map(|minutes| self.begun.elapsed().as_secs_f64() / (60.0 * minutes));
        by_games.into_iter().chain(by_time).max_by(f64::total_cmp)
    }

    fn is_over(&self, ratings: &Ratings) -> bool {
        self.stop.is_set()
            || self.share().is_some_and(|share| share >= 1.0)
            || self.league.is_within(ratings, self.args.within)
    }
}

/// The list for people.
fn write_list(file: &RatingsFile, place: &Path, games: &Path, out: Output) -> anyhow::Result<()> {
    writeln!(
        out,
        "rules {}, {}, {} games; Elo 0 is {}",
        file.rules, file.limit, file.games, file.anchor
    )?;
    let white = &file.white_advantage;
    writeln!(
        out,
        "White's advantage: {:+.0} ({:+.0} to {:+.0})\n",
        white.elo, white.low, white.high
    )?;
    writeln!(
        out,
        "  {:>2}  {:<24} {:>6}  {:<17} {:>6} {:>6}  {:>9} {:>9}",
        "", "player", "Elo", "95% interval", "games", "score", "minutes", "self-play"
    )?;
    for (index, player) in file.players.iter().enumerate() {
        let elo = |value: Option<f64>| value.map_or("?".to_owned(), |elo| format!("{elo:+.0}"));
        let interval = match (player.low, player.high) {
            (Some(_), Some(_)) => format!("{} to {}", elo(player.low), elo(player.high)),
            _ => "not connected".to_owned(),
        };
        let minutes =
            player.seconds.map_or(String::new(), |seconds| format!("{:.1}", seconds / 60.0));
        let made = player.games_made.map_or(String::new(), human_count);
        let score = format!("{:.1}%", 100.0 * player.score);
        let line = format!(
            "  {:>2}  {:<24} {:>6}  {interval:<17} {:>6} {score:>6}  {minutes:>9} {made:>9}",
            index + 1,
            player.name,
            elo(player.elo),
            player.games,
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "\nratings   {}", place.join("ratings.json").display())?;
    let picture = place.join("ratings.svg");
    // Without a rated checkpoint there is nothing to draw.
    if picture.exists() {
        writeln!(out, "picture   {}", picture.display())?;
    }
    writeln!(out, "games     {}", games.display())?;
    Ok(())
}
