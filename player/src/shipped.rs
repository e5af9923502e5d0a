//! The trained players that come with the project, as part of the program: `player/players` says how each was made and how strong it is.

use gipf_model::{Checkpoint, CheckpointError};
use gipf_selfplay::nearest_name;

use crate::file::PlayerFile;
use crate::messages::{Usage, echo};

/// A trained player.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// What it is called, behind `shipped:`.
    pub name: &'static str,
    /// Its file, as `gipf export` wrote it.
    pub file: &'static [u8],
}

/// All of them.
pub const SHIPPED: [Shipped; 4] = [
    Shipped { name: "standard", file: include_bytes!("../players/standard.safetensors") },
    Shipped { name: "tournament", file: include_bytes!("../players/tournament.safetensors") },
    Shipped { name: "potentials", file: include_bytes!("../players/potentials.safetensors") },
    Shipped { name: "ultimate", file: include_bytes!("../players/ultimate.safetensors") },
];

impl Shipped {
    /// The player of this name.
    ///
    /// # Errors
    /// [`Usage`] where there is none.
    pub fn named(name: &str) -> anyhow::Result<Shipped> {
        let names = SHIPPED.map(|player| player.name);
        SHIPPED.into_iter().find(|player| player.name == name).ok_or_else(|| {
            let hint = match nearest_name(name, &names) {
                Some(nearest) => format!("; did you mean shipped:{nearest}?"),
                None => String::new(),
            };
            let all = names.join(", shipped:");
            Usage::error(format!(
                "no player 'shipped:{}'{hint} (there is shipped:{all})",
                echo(name)
            ))
        })
    }

    /// Its network.
    ///
    /// # Errors
    /// The file in the program is damaged or of another version, which its tests rule out.
    pub fn checkpoint(&self) -> Result<Checkpoint, CheckpointError> {
        Checkpoint::from_bytes(&self.full_name(), self.file)
    }

    /// The player, called `shipped:NAME`.
    ///
    /// # Errors
    /// As those of [`Shipped::checkpoint`].
    pub fn player(&self) -> Result<PlayerFile, CheckpointError> {
        let name = self.full_name();
        Ok(PlayerFile::new(&name, self.checkpoint()?).called(&name))
    }

    fn full_name(&self) -> String {
        format!("shipped:{}", self.name)
    }
}
