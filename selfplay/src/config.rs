//! What a search and a self-play worker can be told, as they stand in a run's config.

use serde::{Deserialize, Serialize};

/// Which search chooses the plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Sequential halving over sampled candidates (Danihelka et al. 2022).
    #[default]
    Gumbel,
    /// The upper-confidence rule of AlphaZero (Silver et al. 2018).
    Puct,
}

/// Constants of the Gumbel search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GumbelConfig {
    /// Root plays that the budget is halved over, 1 or more (the paper's m).
    pub considered: u32,
    /// Visits that the completed Q's weight starts from, 0 or more.
    pub c_visit: f32,
    /// Weight of the completed Q in [0, 1] against the logits, above 0.
    pub c_scale: f32,
    /// Planned simulations from which PUCT, not the improved policy, chooses the plays below the root; 1 or more.
    ///
    /// The weight of Q grows with the visits, so that with many of them the improved policy is the best Q alone and a node
    /// explores nothing any more.
    pub puct_from: u32,
}

impl Default for GumbelConfig {
    fn default() -> GumbelConfig {
        GumbelConfig { considered: 16, c_visit: 50.0, c_scale: 1.0, puct_from: 300 }
    }
}

/// Constants of the PUCT search.
///
/// The defaults are AlphaZero's (Silver et al. 2018) in this game's terms: its `c_init` of 1.25 for values in [-1, 1] between
/// KataGo's 1.1 and lc0's 1.75 (its logarithm of the visits says nothing below some thousands of them), a quarter of noise, and
/// as concentration 10 over the number of plays to choose from, which is about 30 on `standard`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PuctConfig {
    /// Weight of the exploration term against Q in [-1, 1], above 0.
    pub c_puct: f32,
    /// An unvisited play's Q is its node's, less this times the root of the visited plays' share of the prior; 0 or more. Not
    /// used at a root with noise.
    pub fpu_reduction: f32,
    /// Share of Dirichlet noise in the root's prior where noise is asked for, 0 to 1.
    pub noise_fraction: f32,
    /// The noise's concentration, above 0.
    pub noise_alpha: f32,
    /// How much less than its play's present value a visit under way is taken to be worth, 0 to 2.
    pub virtual_loss: f32,
}

impl Default for PuctConfig {
    fn default() -> PuctConfig {
        PuctConfig {
            c_puct: 1.5,
            fpu_reduction: 0.2,
            noise_fraction: 0.25,
            noise_alpha: 0.3,
            virtual_loss: 1.0,
        }
    }
}

/// How a decision is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Which search.
    pub method: Method,
    /// Used by `method = "gumbel"`.
    pub gumbel: GumbelConfig,
    /// Used by `method = "puct"`, and below the root from [`GumbelConfig::puct_from`] on.
    pub puct: PuctConfig,
    /// Whether a game's next decision starts from what the last one has searched below the play made.
    pub tree_reuse: bool,
    /// Whether each position is shown to the network on one of its 12 symmetric boards, a fixed function of the position.
    pub symmetry: bool,
    /// Positions that a search bounded by time has under way at once for each of its threads, where their simulations depend on
    /// one another only in what PUCT chooses ([`PuctConfig::virtual_loss`]); 0: only those of independent simulations, a row of
    /// the halving. A search bounded by nodes is always made of independent ones, so that it finds the same whatever the threads.
    pub overlap: u32,
    /// Nodes that a game's kept tree and a new search's simulations may have together; with more the search starts afresh. 1000 or more.
    pub max_nodes: u32,
}

impl Default for SearchConfig {
    fn default() -> SearchConfig {
        SearchConfig {
            method: Method::Gumbel,
            gumbel: GumbelConfig::default(),
            puct: PuctConfig::default(),
            tree_reuse: true,
            symmetry: false,
            overlap: 4,
            max_nodes: 50_000,
        }
    }
}

/// How training games are made to differ from one another from the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpeningConfig {
    /// A game starts with 0 to this many plays (evenly drawn) chosen evenly at random, without a search.
    pub random_plays: u32,
    /// Before this ply a searched play is drawn from the improved policy; from it on the search's own choice is played.
    pub sampled_plays: u32,
    /// The drawn play's temperature, above 0: chances are the improved policy's to the power 1/temperature.
    pub temperature: f32,
}

impl Default for OpeningConfig {
    fn default() -> OpeningConfig {
        OpeningConfig { random_plays: 2, sampled_plays: 8, temperature: 1.0 }
    }
}

/// When a game counts as settled: from then on it is played out with fast searches only.
///
/// This stands in for resigning: it saves most of the time and leaves every result true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettledConfig {
    /// The searched value's distance from 0, above 0 and at most 1.
    pub value: f32,
    /// Searched plays in a row that must show it, with one sign; 1 or more.
    pub plays: u32,
}

impl Default for SettledConfig {
    fn default() -> SettledConfig {
        SettledConfig { value: 0.95, plays: 6 }
    }
}

/// How a worker plays its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// The search of every decision.
    pub search: SearchConfig,
    /// Games that one worker plays at once: the largest batch of its evaluator. 1 to 65536.
    pub lanes: u32,
    /// New root visits of a full search, 1 or more.
    pub simulations: u32,
    /// New root visits of a fast search, 1 or more.
    pub fast_simulations: u32,
    /// Root plays that a fast Gumbel search is halved over, 1 or more.
    pub fast_considered: u32,
    /// Chance that a decision is searched fully, 0 to 1 (playout-cap randomization, Wu 2019).
    pub full_probability: f32,
    /// A game that reaches this many plays is unfinished. 1 or more.
    pub max_plays: u32,
    /// Memory of a worker's cache of evaluations, in megabytes (2^20 bytes), up to 65536; 0: no cache.
    pub cache_megabytes: u32,
    /// How games are made to differ.
    pub opening: OpeningConfig,
    /// Off unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<SettledConfig>,
}

impl Default for SelfPlayConfig {
    fn default() -> SelfPlayConfig {
        SelfPlayConfig {
            search: SearchConfig::default(),
            lanes: 64,
            simulations: 64,
            fast_simulations: 16,
            fast_considered: 4,
            full_probability: 0.25,
            max_plays: 500,
            cache_megabytes: 0,
            opening: OpeningConfig::default(),
            settled: None,
        }
    }
}

/// A value that a config may not have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key} is {value}: it must be {range}")]
pub struct ConfigError {
    /// The key, dotted, as seen from the config that was checked.
    pub key: &'static str,
    /// The value found.
    pub value: String,
    /// What is allowed, in words.
    pub range: &'static str,
}

/// `Ok` when `holds`, else an error that names key, value and range.
fn require(
    holds: bool,
    key: &'static str,
    value: impl ToString,
    range: &'static str,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError { key, value: value.to_string(), range }) }
}

impl SearchConfig {
    /// Checks every value's range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let (gumbel, puct) = (&self.gumbel, &self.puct);
        require(
            gumbel.considered >= 1,
            "search.gumbel.considered",
            gumbel.considered,
            "1 or more",
        )?;
        require(
            within(gumbel.c_visit, 0.0, 1e6),
            "search.gumbel.c_visit",
            gumbel.c_visit,
            "0 to 1e6",
        )?;
        require(
            within(gumbel.c_scale, 1e-6, 1e6),
            "search.gumbel.c_scale",
            gumbel.c_scale,
            "1e-6 to 1e6",
        )?;
        require(gumbel.puct_from >= 1, "search.gumbel.puct_from", gumbel.puct_from, "1 or more")?;
        require(within(puct.c_puct, 1e-6, 1e6), "search.puct.c_puct", puct.c_puct, "1e-6 to 1e6")?;
        require(
            within(puct.fpu_reduction, 0.0, 2.0),
            "search.puct.fpu_reduction",
            puct.fpu_reduction,
            "0 to 2",
        )?;
        require(
            within(puct.noise_fraction, 0.0, 1.0),
            "search.puct.noise_fraction",
            puct.noise_fraction,
            "0 to 1",
        )?;
        require(
            within(puct.noise_alpha, 1e-3, 1e3),
            "search.puct.noise_alpha",
            puct.noise_alpha,
            "0.001 to 1000",
        )?;
        require(
            within(puct.virtual_loss, 0.0, 2.0),
            "search.puct.virtual_loss",
            puct.virtual_loss,
            "0 to 2",
        )?;
        require(self.overlap <= 1024, "search.overlap", self.overlap, "0 to 1024")?;
        require(self.max_nodes >= 1000, "search.max_nodes", self.max_nodes, "1000 or more")
    }
}

impl SelfPlayConfig {
    /// Checks every value's range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.search.validate()?;
        require((1..=65536).contains(&self.lanes), "lanes", self.lanes, "1 to 65536")?;
        require(
            self.cache_megabytes <= 65536,
            "cache_megabytes",
            self.cache_megabytes,
            "0 to 65536",
        )?;
        require(self.simulations >= 1, "simulations", self.simulations, "1 or more")?;
        require(
            self.fast_simulations >= 1,
            "fast_simulations",
            self.fast_simulations,
            "1 or more",
        )?;
        require(self.fast_considered >= 1, "fast_considered", self.fast_considered, "1 or more")?;
        require(
            within(self.full_probability, 0.0, 1.0),
            "full_probability",
            self.full_probability,
            "0 to 1",
        )?;
        require(self.max_plays >= 1, "max_plays", self.max_plays, "1 or more")?;
        let temperature = self.opening.temperature;
        require(
            within(temperature, 0.01, 100.0),
            "opening.temperature",
            temperature,
            "0.01 to 100",
        )?;
        if let Some(settled) = &self.settled {
            require(
                within(settled.value, 1e-3, 1.0),
                "settled.value",
                settled.value,
                "0.001 to 1",
            )?;
            require(settled.plays >= 1, "settled.plays", settled.plays, "1 or more")?;
        }
        Ok(())
    }
}

/// Whether a number is finite and within the closed range.
fn within(value: f32, low: f32, high: f32) -> bool {
    value.is_finite() && (low..=high).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_errors_name_the_key() {
        assert_eq!(SelfPlayConfig::default().validate(), Ok(()));
        let config = SelfPlayConfig { full_probability: 1.5, ..SelfPlayConfig::default() };
        let error = config.validate().unwrap_err();
        assert_eq!(error.to_string(), "full_probability is 1.5: it must be 0 to 1");
        let mut config = SelfPlayConfig::default();
        config.search.puct.c_puct = f32::NAN;
        assert_eq!(config.validate().unwrap_err().key, "search.puct.c_puct");
    }

    #[test]
    fn unknown_keys_are_refused() {
        let error =
            serde_json::from_str::<SelfPlayConfig>(r#"{"search": {"gumbel": {"c_vist": 3}}}"#)
                .unwrap_err();
        assert!(error.to_string().contains("c_vist"), "{error}");
        let config: SelfPlayConfig =
            serde_json::from_str(r#"{"search": {"method": "puct"}, "lanes": 3}"#).unwrap();
        assert_eq!((config.search.method, config.lanes), (Method::Puct, 3));
    }
}
