//! Every key of a configuration: its type, range, unit and meaning.

use Kind::{Architecture, Choice, Device, Growth, Name, Number, Rules, Switch, Whole};

/// What a key's value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second bound.
    Whole(u64, u64),
    /// A number from the first to the second bound.
    Number(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `cpu`, `cuda`, `cuda:N` or `auto`.
    Device,
    /// A name that can be a folder's.
    Name,
    /// A rules string, or a list of them with weights.
    Rules,
    /// Blocks and channels, as `4x32`.
    Architecture,
    /// Blocks and channels, or the empty text.
    Growth,
}

/// One key of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Dotted name, `section.key`.
    pub name: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// Unit of the value; empty where there is none.
    pub unit: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Whether it is settled when the run is made: `--set` on a resumed run refuses it.
    pub fixed: bool,
}

impl Key {
    /// The allowed values in words: `1 to 65536`, `true or false`.
    pub fn range(&self) -> String {
        match self.kind {
            Whole(low, high) => format!("{low} to {high}"),
            Number(low, high) => format!("{low} to {high}"),
            Switch => "true or false".to_owned(),
            Choice(words) => {
                words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ")
            }
            Device => "\"cpu\", \"cuda\", \"cuda:N\" or \"auto\"".to_owned(),
            Name => "letters, digits, '-', '_' and '.', up to 64".to_owned(),
            Rules => {
                "a rules string, or a list of { rules, weight } and { mixes, weight }".to_owned()
            }
            Architecture => "\"1x8\" to \"64x1024\"".to_owned(),
            Growth => "\"\" or \"1x8\" to \"64x1024\"".to_owned(),
        }
    }

    /// The type in words: `a whole number`.
    pub const fn type_name(&self) -> &'static str {
        match self.kind {
            Whole(..) => "a whole number",
            Number(..) => "a number",
            Switch => "true or false",
            Choice(_) | Device | Name | Architecture | Growth => "a text in quotes",
            Rules => "a rules string in quotes or a list",
        }
    }

    /// The key of that dotted name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The section's name, before the dot.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// The name within its section, after the dot.
    pub fn leaf(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, leaf)| leaf)
    }
}

const fn key(name: &'static str, kind: Kind, unit: &'static str, about: &'static str) -> Key {
    Key { name, kind, unit, about, fixed: false }
}

const fn fixed(name: &'static str, kind: Kind, unit: &'static str, about: &'static str) -> Key {
    Key { name, kind, unit, about, fixed: true }
}

/// Beyond any run; well within what every JSON reader holds exactly.
const BIG: u64 = 1_000_000_000_000;

/// Every key, section by section.
pub const KEYS: &[Key] = &[
    fixed("run.name", Name, "", "name of the run, and of its folder under runs/"),
    fixed("run.seed", Whole(0, BIG), "", "seed of every random stream"),
    key("run.minutes", Number(0.0, 1e6), "minutes", "training time, 0: no limit"),
    key(
        "run.cpu_minutes",
        Number(0.0, 1e9),
        "minutes",
        "processor time of all threads together, 0: no limit",
    ),
    key("run.steps", Whole(0, BIG), "steps", "training steps, 0: no limit"),
    key("run.games", Whole(0, BIG), "games", "self-play games, 0: no limit"),
    fixed(
        "run.deterministic",
        Switch,
        "",
        "learner and self-play alternate, two runs are bit-equal",
    ),
    key("run.device", Device, "", "where networks run"),
    key(
        "run.gpu_precision",
        Choice(&["f32", "bf16"]),
        "",
        "numbers of self-play's network on a GPU",
    ),
    key(
        "run.threads",
        Whole(0, 1024),
        "threads",
        "of the learner, 0: one, and every core while it is behind",
    ),
    key("rules.rules", Rules, "", "what is played"),
    key("rules.max_plays", Whole(10, 10_000), "plays", "a longer game stops unfinished"),
    fixed(
        "network.architecture",
        Architecture,
        "blocks x channels",
        "size of the residual network",
    ),
    fixed("network.global_pooling", Switch, "", "blocks see mean and maximum over the board"),
    key(
        "network.grow_to",
        Growth,
        "blocks x channels",
        "size it grows to during the run, empty: none",
    ),
    key("network.grow_at", Number(0.0, 1.0), "of the run's limit", "when it grows"),
    key(
        "network.grow_steps",
        Whole(0, BIG),
        "steps",
        "for which it then learns from what it was, too",
    ),
    key(
        "self_play.workers",
        Whole(0, 1024),
        "threads",
        "that play games, 0: one a core, with a GPU two",
    ),
    key("self_play.niceness", Whole(0, 19), "", "how far workers give way to the learner"),
    key(
        "self_play.precision",
        Choice(&["f32", "int8"]),
        "",
        "numbers of the workers' network on the CPU",
    ),
    key("self_play.lanes", Whole(1, 65_536), "games", "a worker plays at once"),
    key("self_play.search", Choice(&["gumbel", "puct"]), "", "which search makes the games"),
    key("self_play.simulations", Whole(2, 100_000), "simulations", "of a full search"),
    key("self_play.fast_simulations", Whole(1, 100_000), "simulations", "of a fast search"),
    key("self_play.full_search_probability", Number(0.0, 1.0), "", "share of full searches"),
    key("self_play.considered", Whole(2, 1024), "plays", "candidates of a full Gumbel search"),
    key("self_play.fast_considered", Whole(1, 1024), "plays", "candidates of a fast Gumbel search"),
    key(
        "self_play.c_visit",
        Number(0.0, 1000.0),
        "visits",
        "trust in a Gumbel search, constant part",
    ),
    key("self_play.c_scale", Number(0.001, 100.0), "", "trust in a Gumbel search, factor"),
    key(
        "self_play.puct_from",
        Whole(1, 1_000_000),
        "simulations",
        "from which PUCT goes on below a Gumbel root",
    ),
    key("self_play.c_puct", Number(1e-6, 1e6), "", "weight of PUCT's exploration"),
    key("self_play.fpu_reduction", Number(0.0, 2.0), "", "PUCT's malus of unvisited plays"),
    key("self_play.noise_fraction", Number(0.0, 1.0), "", "share of noise at PUCT's root"),
    key("self_play.noise_alpha", Number(0.001, 1000.0), "", "concentration of that noise"),
    key(
        "self_play.cache_megabytes",
        Whole(0, 65_536),
        "MB",
        "a worker's memory of what its network said, 0: none",
    ),
    key("self_play.tree_reuse", Switch, "", "a search goes on with the tree of the one before"),
    key("self_play.symmetry", Switch, "", "the network sees each position on one of its 12 boards"),
    key(
        "self_play.opening_random_plays",
        Whole(0, 1000),
        "plays",
        "up to so many random plays start a game",
    ),
    key(
        "self_play.opening_sampled_plays",
        Whole(0, 10_000),
        "plays",
        "sampled from the policy, later ones are best",
    ),
    key(
        "self_play.opening_temperature",
        Number(0.01, 10.0),
        "",
        "temperature of the sampled plays",
    ),
    key(
        "self_play.settled_value",
        Number(0.001, 1.0),
        "",
        "search value beyond which a game counts as settled",
    ),
    key(
        "self_play.settled_plays",
        Whole(0, 10_000),
        "plays",
        "in a row for that, 0: never settled",
    ),
    key(
        "self_play.refresh_steps",
        Whole(1, 1_000_000),
        "steps",
        "between two updates of the workers' network",
    ),
    key("train.batch_size", Whole(1, 65_536), "samples", "a step"),
    key("train.learning_rate", Number(1e-6, 1.0), "", "peak rate of AdamW"),
    key("train.warmup_steps", Whole(0, 1_000_000), "steps", "the rate rises from 0"),
    key("train.decay", Choice(&["constant", "cosine"]), "", "how the rate falls"),
    key("train.final_fraction", Number(0.0, 1.0), "of the peak rate", "rate at the end"),
    key("train.weight_decay", Number(0.0, 1.0), "", "decoupled weight decay"),
    key("train.gradient_clip", Number(0.001, 1e6), "", "largest norm of the gradient"),
    key("train.average_decay", Number(0.0, 0.999_999), "a step", "decay of the averaged weights"),
    key("train.sample_reuse", Number(0.01, 1000.0), "", "samples trained per sample made"),
    key(
        "train.value_from_search",
        Number(0.0, 1.0),
        "",
        "share of the search value in the value target",
    ),
    key("train.value_loss_weight", Number(0.0, 100.0), "", "weight of the value loss"),
    key("train.plays_left_loss_weight", Number(0.0, 100.0), "", "weight of the plays-left loss"),
    fixed(
        "train.reply_loss_weight",
        Number(0.0, 100.0),
        "",
        "of the reply's loss, 0: no such head",
    ),
    fixed(
        "train.swing_loss_weight",
        Number(0.0, 100.0),
        "",
        "of the swing's loss, 0: no such head",
    ),
    key("train.policy_surprise_weight", Number(0.0, 1.0), "", "share of draws by surprise"),
    fixed("train.held_out", Number(0.0, 0.5), "of the games", "never trained on, measured only"),
    key("train.trunk", Choice(&["native", "torch"]), "", "what trains the trunk; a GPU: torch"),
    key("window.minimum", Whole(1, 1_000_000_000), "samples", "before training starts"),
    key("window.growth_scale", Number(0.0, 1.0), "", "growth per sample made, at the start"),
    key("window.growth_exponent", Number(0.01, 1.0), "", "how slowly that growth fades"),
    key("window.maximum", Whole(1, 1_000_000_000), "samples", "bound of the window and its memory"),
    key("checkpoints.every_steps", Whole(0, BIG), "steps", "between checkpoints, 0: off"),
    key("checkpoints.every_games", Whole(0, BIG), "games", "between checkpoints, 0: off"),
    key("checkpoints.keep", Whole(1, 1_000_000), "checkpoints", "newest ones kept"),
    key(
        "gating.mode",
        Choice(&["off", "sprt"]),
        "",
        "whose weights self-play uses: newest or best",
    ),
    key("gating.elo0", Number(-500.0, 500.0), "Elo", "lead at which a checkpoint is rejected"),
    key("gating.elo1", Number(-500.0, 500.0), "Elo", "lead at which it is accepted"),
    key("gating.alpha", Number(0.001, 0.49), "", "chance to accept wrongly"),
    key("gating.beta", Number(0.001, 0.49), "", "chance to reject wrongly"),
    key(
        "gating.games",
        Whole(2, 100_000),
        "games",
        "at most, without a decision by then the best stays",
    ),
    key("gating.simulations", Whole(2, 100_000), "simulations", "a decision in those games"),
    key("report.games", Whole(0, 100_000), "games", "against each opponent at the end, 0: none"),
    key("report.simulations", Whole(2, 100_000), "simulations", "a decision in those games"),
    key(
        "store.segment_megabytes",
        Whole(1, 4096),
        "MB",
        "size at which a new file of games begins",
    ),
    key("store.keep_games", Whole(0, BIG), "games", "newest ones kept on disk, 0: all"),
];
