//! The arguments of `gipf mixes`.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use gipf_core::DEFAULT_MAX_PLAYS;
use gipf_player::messages::echo;
use gipf_selfplay::BuiltIn;
use gipf_selfplay::study::{Budget, Design, Space};

use super::Column;
use crate::commands::Usage;
use crate::commands::players::PlayerSpec;
use crate::config::CpuPrecision;
use crate::mixes::{Setup, Strength, TEMPERATURE};

/// Games of each rules string in the mean where no budget is given.
const GAMES: u64 = 500;
/// Drawn plays of a player whose search has a policy, and of one without.
const OPENING_PLAYS: [u32; 2] = [10, 4];

/// Find out which mixes of potentials favour White: a player against itself by many rules strings
///
/// Games begin at the real start; their first plays are drawn from the policy of the player's search. Games of one opening count
/// as one sample, games that are the same play for play count once. The adaptive design gives games to rules strings whose
/// verdict they can bring: above 50%, below, or within 2% of it, at 95% for all of the table at once, however often one looks or
/// goes on. Every game is kept: the same command goes on after a stop or a kill, and more games add to those that are there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf mixes run:runs/potentials-1@best --space singles:6 --space pairs:4+4 --on tournament --games 4000\n\
                        Example: gipf mixes run:runs/potentials-1@best --space grid:T6,Z6,D6 --minutes 30 --html mixes.html\n\
                        Example: gipf mixes run:runs/potentials-1@best --space 'standard+?4?4' --nodes 16,64"
)]
pub(in crate::commands) struct Args {
    /// Who plays: random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], shipped:NAME, a checkpoint file or
    /// run:DIR@latest|best|STEP; puct: or sym: before one of the last three
    pub(super) player: String,
    /// Rules strings and forms, separated by commas; can be given several times: singles:6, pairs:4+4, triples:4+4+4,
    /// grid:T6,Z6,T4Z4 (each for White against each for Black), pieces:18-21 (numbers of basic pieces), rules strings, and
    /// rules strings with ? for kinds (tournament+?4?4)
    #[arg(long = "space", value_name = "SPACE", required_unless_present = "space_files")]
    pub(super) spaces: Vec<String>,
    /// Forms from this file, one or more a line; what follows # is left out
    #[arg(long = "space-file", value_name = "FILE")]
    pub(super) space_files: Vec<PathBuf>,
    /// What forms are applied to: rules strings without mixes
    #[arg(long = "on", value_name = "VARIANTS", value_delimiter = ',', default_value = "standard")]
    pub(super) variants: Vec<String>,
    /// Games in all, those of earlier calls included [default: 500 for each rules string]
    #[arg(long, conflicts_with = "until_width", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) games: Option<u64>,
    /// Minutes to play at most; the results are those of the last whole round
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    pub(super) minutes: Option<f64>,
    /// Play until every interval among the table is narrower than so many per cent of the points
    #[arg(long, value_name = "PERCENT", value_parser = width)]
    pub(super) until_width: Option<f64>,
    /// Give every rules string the same number of games
    #[arg(long)]
    pub(super) even: bool,
    /// Simulations a decision, for MCTS playouts; alphabeta looks 4 plays ahead. Two numbers: two tables beside each other
    /// [default: 16]
    #[arg(long, value_delimiter = ',', conflicts_with = "movetime", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) nodes: Vec<u32>,
    /// Milliseconds a decision in place of simulations; two numbers: two tables. Games are not repeatable then
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=3_600_000))]
    pub(super) movetime: Vec<u32>,
    /// Another player, whose table stands beside the first one's
    #[arg(long, value_name = "PLAYER")]
    pub(super) against: Option<String>,
    /// First plays that are drawn from the policy of the search, or evenly where there is none [default: 10 and 4]
    #[arg(long, value_name = "PLAYS", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(super) opening_plays: Option<u32>,
    /// Temperature of these draws: chances are the policy's to the power 1/temperature
    #[arg(long, default_value_t = TEMPERATURE, value_parser = temperature)]
    pub(super) temperature: f32,
    /// Games by each rules string against each rival, even: a player that is not known to be the stronger one is not to be
    /// trusted there; 0: none
    #[arg(long, value_name = "GAMES", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(super) competence: u32,
    /// The rivals: players without a network
    #[arg(
        long,
        value_name = "PLAYERS",
        value_delimiter = ',',
        default_value = "alphabeta:3,mcts:400"
    )]
    pub(super) rivals: Vec<String>,
    /// The folder of the games, with a folder for each player and strength
    #[arg(long, value_name = "DIR", default_value = "mixes")]
    pub(super) dir: PathBuf,
    /// Plays after which a game stops unfinished
    #[arg(long, default_value_t = DEFAULT_MAX_PLAYS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) max_plays: u32,
    /// Seed of the games
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Threads; the results do not depend on them [default: as of gipf match]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) threads: Option<u32>,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "cpu")]
    pub(super) device: String,
    /// Numbers that networks compute with on the CPU [default: int8 where the checkpoint is calibrated for it, else f32]
    #[arg(long, value_enum)]
    pub(super) precision: Option<CpuPrecision>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(super) json: bool,
    /// Write a line for each rules string and table to this file, separated by commas
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Write a report to this file: one HTML page with the scores, grids, settings and games to play through
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Games of each table in the report, at most 5
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=5))]
    pub(super) examples: u8,
    /// Replace the files of --csv and --html
    #[arg(long)]
    pub(super) overwrite: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err("not a number above 0, at most 1000000".to_owned()),
    }
}

fn width(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 100.0 => Ok(value),
        _ => Err("not a number above 0, at most 100".to_owned()),
    }
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.01..=100.0).contains(&value) => Ok(value),
        _ => Err("not a number from 0.01 to 100".to_owned()),
    }
}

impl Args {
    /// The rules strings.
    ///
    /// # Errors
    /// [`Usage`] for a form that is none; a failure where a file cannot be read.
    pub(super) fn space(&self) -> anyhow::Result<Space> {
        let mut texts = self.spaces.clone();
        for path in &self.space_files {
            let text = fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            let lines: Vec<String> =
                lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
            // By itself first, for a message that names the file.
            if !lines.is_empty() {
                Space::parse(&lines, &self.variants)
                    .map_err(|error| Usage::error(format!("{}: {error}", path.display())))?;
            }
            texts.extend(lines);
        }
        Space::parse(&texts, &self.variants).map_err(|error| Usage::error(error.to_string()))
    }

    /// One table, or two beside each other.
    ///
    /// # Errors
    /// [`Usage`] for players or strengths that make no one or two tables; a failure where a checkpoint is missing or damaged.
    pub(super) fn columns(&self) -> anyhow::Result<Vec<Column>> {
        let mut strengths: Vec<Strength> = match &self.movetime[..] {
            [] => self.nodes.iter().map(|&nodes| Strength::Nodes(nodes)).collect(),
            times => times.iter().map(|&time| Strength::Movetime(time)).collect(),
        };
        if strengths.is_empty() {
            strengths.push(Strength::Nodes(16));
        }
        let option = if self.movetime.is_empty() { "--nodes" } else { "--movetime" };
        if strengths.len() > 2 {
            return Err(Usage::error(format!("{option}: one or two numbers")));
        }
        if strengths.len() == 2 && self.against.is_some() {
            return Err(Usage::error(format!(
                "{option} with two numbers stands without --against"
            )));
        }
        if let (2, Ok(own)) = (strengths.len(), self.player.parse::<BuiltIn>())
            && self.player.contains(':')
        {
            return Err(Usage::error(format!(
                "{own} has a strength of its own: {option} with two numbers would be one table twice"
            )));
        }
        let mut columns = Vec::new();
        for name in [Some(&self.player), self.against.as_ref()].into_iter().flatten() {
            for &strength in &strengths {
                columns.push(self.column(name, strength)?);
            }
        }
        if let [first, second] = &columns[..]
            && first.setup.folder_name() == second.setup.folder_name()
        {
            let name = echo(&first.setup.player);
            return Err(Usage::error(format!("{name}: twice the same player and strength")));
        }
        Ok(columns)
    }

    fn column(&self, name: &str, strength: Strength) -> anyhow::Result<Column> {
        let spec = PlayerSpec::parse(name)?;
        if let PlayerSpec::Outside { .. } = spec {
            return Err(Usage::error(format!(
                "{}: a program knows one rules string at a time; mixes are played by networks and built-in players",
                echo(name)
            )));
        }
        let checkpoint = spec.checkpoint();
        let [drawn, even] = OPENING_PLAYS;
        let usual = if checkpoint.is_some() { drawn } else { even };
        let mut setup = Setup::new(spec.name(), strength);
        setup.network = checkpoint.map(|checkpoint| checkpoint.header.sha256.clone());
        setup.search = spec.search();
        setup.precision = spec.precision(self.precision);
        setup.opening_plays = self.opening_plays.unwrap_or(usual);
        setup.temperature = self.temperature;
        setup.max_plays = self.max_plays;
        setup.seed = self.seed;
        Ok(Column { spec, setup })
    }

    /// The players without a network that the player is measured against; none where no games are.
    ///
    /// # Errors
    /// [`Usage`] for an odd number of games or a name that is no such player's.
    pub(super) fn rivals(&self) -> anyhow::Result<Vec<BuiltIn>> {
        if self.competence % 2 == 1 {
            return Err(Usage::error(format!(
                "--competence {}: every opening is played twice, so the number is even",
                self.competence
            )));
        }
        if self.competence == 0 {
            return Ok(Vec::new());
        }
        let mut rivals = Vec::new();
        for name in &self.rivals {
            let rival: BuiltIn = name
                .parse()
                .map_err(|error| Usage::error(format!("--rivals {}: {error}", echo(name))))?;
            if !rivals.contains(&rival) {
                rivals.push(rival);
            }
        }
        Ok(rivals)
    }

    /// When the study ends, but for `--minutes`.
    pub(super) fn budget(&self, space: &Space) -> Budget {
        match (self.games, self.until_width, self.minutes) {
            (Some(games), ..) => Budget::Games(games),
            (None, Some(width), _) => Budget::Width(width / 100.0),
            (None, None, Some(_)) => Budget::Open,
            (None, None, None) => Budget::Games(GAMES * space.rules().len() as u64),
        }
    }

    /// How games are shared out.
    pub(super) fn design(&self) -> Design {
        if self.even { Design::Even } else { Design::Adaptive }
    }
}
