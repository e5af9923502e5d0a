//! The learner's door: what a message must be to come in.

use super::batch::{Refusal, unpack};
use super::settings::CLUSTER_FORMAT;
use crate::config::Config;
use gipf_core::Rules;
use gipf_core::record::GameRecord;
use gipf_player::messages::echo;
use gipf_selfplay::RulesSampler;

/// Checks messages of games for one run.
#[derive(Debug, Clone)]
pub struct Door {
    run_id: String,
    sampler: RulesSampler,
    max_plays: u32,
}

impl Door {
    /// The door of a run with this configuration.
    ///
    /// # Errors
    /// Rules that cannot be played.
    pub fn new(run_id: &str, config: &Config) -> anyhow::Result<Self> {
        Ok(Self {
            run_id: run_id.to_owned(),
            sampler: RulesSampler::mixed(&config.rules.rules)?,
            max_plays: config.rules.max_plays,
        })
    }

    /// The games of a message whose headers name this format and run: each a game that self-play of this run makes, legal from its
    /// first play to its result.
    ///
    /// # Errors
    /// Why the message is to be set aside, as a whole.
    pub fn check(
        &self,
        format: Option<&str>,
        run: Option<&str>,
        body: &[u8],
    ) -> Result<Vec<GameRecord>, Refusal> {
        match format {
            Some(CLUSTER_FORMAT) => {}
            other => return Err(Refusal::Format(echo(other.unwrap_or("")))),
        }
        if run != Some(self.run_id.as_str()) {
            return Err(Refusal::Run(echo(run.unwrap_or(""))));
        }
        let games = unpack(body)?;
        for (number, game) in (1..).zip(&games) {
            if let Some(reason) = self.foreign(game) {
                return Err(Refusal::Foreign { number, reason });
            }
            game.replay().map_err(|error| Refusal::Record { number, error })?;
        }
        Ok(games)
    }

    /// What in a record is none of this run's self-play.
    fn foreign(&self, game: &GameRecord) -> Option<String> {
        if game.id.run != self.run_id {
            return Some(format!("of run '{}'", echo(&game.id.run)));
        }
        if !game.rules.parse().is_ok_and(|rules: Rules| self.sampler.allows(&rules)) {
            return Some(format!("rules '{}'", echo(&game.rules)));
        }
        if game.max_plays != self.max_plays {
            return Some(format!("max_plays {}, here {}", game.max_plays, self.max_plays));
        }
        if game.start.is_some() || game.forfeit.is_some() {
            return Some("not begun at the start, or forfeited".to_owned());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::batch::Packer;
    use crate::test_games::game;

    fn check(change: impl Fn(&mut GameRecord)) -> Result<Vec<GameRecord>, Refusal> {
        let door = Door::new("test", &config()).expect("a door");
        let mut record = game("standard", 5, 30);
        change(&mut record);
        let bodies =
            Packer::new(1 << 20).expect("a packer").pack(&[game("standard", 4, 30), record]);
        let body = &bodies.expect("packs")[0].bytes;
        door.check(Some(CLUSTER_FORMAT), Some("test"), body)
    }

    fn config() -> Config {
        let mut config = Config::default();
        config.rules.max_plays = 30;
        config
    }

    #[test]
    fn only_games_of_this_run_come_in() {
        assert_eq!(check(|_| {}).expect("comes in").len(), 2);
        let refused = |change: fn(&mut GameRecord), word: &str| {
            let refusal = check(change).expect_err("refused");
            assert!(refusal.to_string().contains(word), "{refusal}");
            refusal.kind()
        };
        assert_eq!(
            refused(|game| game.id.run = "other".to_owned(), "game 2: of run 'other'"),
            "foreign"
        );
        assert_eq!(refused(|game| game.rules = "basic".to_owned(), "rules 'basic'"), "foreign");
        assert_eq!(refused(|game| game.max_plays = 31, "max_plays 31"), "foreign");
        assert_eq!(refused(|game| game.forfeit = Some("x".to_owned()), "forfeited"), "foreign");
        assert_eq!(refused(|game| game.plays[3].p = "a1".to_owned(), "play 4"), "record");
        assert_eq!(refused(|game| game.id.worker = "w".to_owned(), "nonce"), "record");
        assert_eq!(
            refused(|game| game.format = "gipf-record-9".to_owned(), "gipf-record-9"),
            "record"
        );
    }

    #[test]
    fn the_headers_are_looked_at_first() {
        let door = Door::new("test", &config()).expect("a door");
        assert_eq!(door.check(None, Some("test"), b"?"), Err(Refusal::Format(String::new())));
        let other = door.check(Some("gipf-cluster-0"), Some("test"), b"?");
        assert_eq!(other, Err(Refusal::Format("gipf-cluster-0".to_owned())));
        let other = door.check(Some(CLUSTER_FORMAT), Some("older"), b"?");
        assert_eq!(other, Err(Refusal::Run("older".to_owned())));
        let damaged = door.check(Some(CLUSTER_FORMAT), Some("test"), b"?");
        assert!(matches!(damaged, Err(Refusal::Damaged { offset: 0, .. })));
    }
}
