//! The page on which GIPF is played in a browser, as `make web` builds it: one file, in which the player is still missing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The file's name, beside the program or in the folder `web` beside the program's.
pub const FILE: &str = "gipf-page.html";

/// Where the player goes, in base64.
const PLAYER: &str = "<script type=\"application/octet-stream\" id=\"player\">";
/// What says who answers the page: the program within it, or the service that gave it out.
const ANSWERS: [&str; 2] = ["data-answers=\"page\"", "data-answers=\"service\""];
/// What the page may reach: nothing, or the service that gave it out.
const REACH: [&str; 2] = ["connect-src 'none'", "connect-src 'self'"];

/// A page that has been built.
#[derive(Clone, Debug)]
pub struct Page(String);

impl Page {
    /// The page of this file, or the one that `make web` has put beside the running program.
    ///
    /// # Errors
    /// There is none, it cannot be read, or it is something else.
    pub fn find(file: Option<&Path>) -> anyhow::Result<Page> {
        match file {
            Some(file) => Page::read(file),
            None => match beside_program().into_iter().find(|path| path.exists()) {
                Some(path) => Page::read(&path),
                None => bail!(
                    "there is no {FILE} beside this program: `make web` builds it (or name one with --page)"
                ),
            },
        }
    }

    fn read(path: &Path) -> anyhow::Result<Page> {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let whole =
            [PLAYER, ANSWERS[0], REACH[0]].iter().all(|part| text.matches(part).count() == 1);
        if !whole {
            bail!("{shown} is no page of this version: `make web` builds it");
        }
        Ok(Page(text))
    }

    /// The page with a player in it, which works without anything else.
    #[must_use]
    pub fn with_player(&self, file: &[u8]) -> String {
        self.0.replacen(PLAYER, &format!("{PLAYER}{}", BASE64_STANDARD.encode(file)), 1)
    }

    /// The page as a service gives it out, which then answers it: without program and player.
    #[must_use]
    pub fn for_service(&self) -> String {
        let mut text = self.0.replacen(ANSWERS[0], ANSWERS[1], 1).replacen(REACH[0], REACH[1], 1);
        for part in ["wasm", "worker"] {
            let head = format!("<script type=\"application/octet-stream\" id=\"{part}\">");
            if let Some(start) = text.find(&head).map(|at| at + head.len())
                && let Some(length) = text[start..].find("</script>")
            {
                text.replace_range(start..start + length, "");
            }
        }
        text
    }
}

/// Where the page may be: in the program's folder (`target/release`) or in `web` beside that.
fn beside_program() -> Vec<PathBuf> {
    let Ok(program) = env::current_exe() else { return Vec::new() };
    // A test program lies one folder deeper.
    let folders = program.ancestors().skip(1).take(2);
    folders.flat_map(|folder| [folder.join(FILE), folder.join("web").join(FILE)]).collect()
}
