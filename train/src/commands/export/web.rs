//! `gipf export --to web`: a page on which a player is played in a browser.

use std::path::{Path, PathBuf};

use gipf_player::page::Page;

use super::super::fault::write_whole;
use super::{Exported, Output, player};

/// Where the page comes from.
#[derive(Debug, clap::Args)]
pub(super) struct PageOptions {
    /// The page without a player, as `make web` builds it; the one beside this program where it is absent (--to web)
    #[arg(long, value_name = "FILE")]
    pub(super) page: Option<PathBuf>,
}

impl PageOptions {
    /// The page, looked for before anything else is done.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn page(&self) -> anyhow::Result<Page> {
        Page::find(self.page.as_deref())
    }
}

/// Writes the page with the player in it and says what it is.
///
/// # Errors
/// Those of [`player::checkpoint`]; a failure where the file cannot be written.
pub(super) fn write(
    page: &Page,
    exported: Exported,
    card: &player::CardOptions,
    path: &Path,
    overwrite: bool,
    out: Output,
) -> anyhow::Result<()> {
    let checkpoint = player::checkpoint(exported, card, path)?;
    let text = page.with_player(&checkpoint.to_bytes()?);
    write_whole(path, overwrite, |aside| Ok(std::fs::write(aside, text)?))?;
    player::tell(&checkpoint.header, path, out)
}
