//! Files of games, which may be packed by gzip or zstd.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gipf_core::Rules;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::PlayedGame;
use crate::messages::Usage;

/// How a file's games are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Notation {
    /// JSON, one object a line.
    #[default]
    Lines,
    /// The official notation, one game a file.
    Official,
}

/// A reader of a file's text, unpacked where its first bytes say gzip or zstd, whatever its name.
///
/// # Errors
/// The file is missing or cannot be read.
pub fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let shown = path.display();
    let mut file =
        BufReader::new(File::open(path).with_context(|| format!("cannot open {shown}"))?);
    let head = file.fill_buf().with_context(|| format!("cannot read {shown}"))?;
    Ok(if head.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(file)))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(BufReader::new(Frames { rest: Some(file), frame: None }))
    } else {
        Box::new(file)
    })
}

/// The whole text of a file that may be packed.
///
/// # Errors
/// The file is missing, cannot be read or unpacked, or is no UTF-8.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    open(path)?
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}

/// Unpacks a zstd file of any number of frames: a run writes one for each game.
struct Frames<R: Read> {
    /// What is still to be read, between two frames.
    rest: Option<R>,
    frame: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(mut rest) = self.rest.take() {
                if rest.fill_buf()?.is_empty() {
                    self.rest = Some(rest);
                    return Ok(0);
                }
                self.frame = Some(StreamingDecoder::new(rest).map_err(|_| broken())?);
            }
            let Some(frame) = &mut self.frame else { return Ok(0) };
            let count = frame.read(buffer).map_err(|_| broken())?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.rest = self.frame.take().map(StreamingDecoder::into_inner);
        }
    }
}

/// The unpacker's own words name its parts, not what a reader of the message could do.
fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is cut off or damaged (zstd)")
}

/// The files that these paths name: of a folder all that lie in it, hidden ones and folders left out, in the order of their names.
///
/// # Errors
/// A folder cannot be read, or has no file; a path that is not there is an error when it is opened.
pub fn listed(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let failed = || format!("cannot read the folder {}", path.display());
        let mut found = Vec::new();
        for entry in fs::read_dir(path).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.path().is_file() {
                found.push(entry.path());
            }
        }
        if found.is_empty() {
            bail!("{}: a folder without files", path.display());
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// A game in a file.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The file.
    pub path: &'a Path,
    /// The game's number in it, from 1.
    pub number: usize,
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, game {}", self.path.display(), self.number)
    }
}

/// Reads the games of a file one after another, until `take` says that it has enough. `rules` are those of games in official notation;
/// without them they are guessed.
///
/// # Errors
/// The file cannot be read, or holds what is no game, or none; what `take` returns.
pub fn each_game(
    path: &Path,
    notation: Notation,
    rules: Option<&Rules>,
    mut take: impl FnMut(Place<'_>, PlayedGame) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    if notation == Notation::Official {
        let game = PlayedGame::from_official(&read(path)?, rules);
        let game = game.with_context(|| path.display().to_string())?;
        return take(Place { path, number: 1 }, game).map(|_| ());
    }
    let mut number = 0;
    for line in open(path)?.lines() {
        let line = line.with_context(|| format!("cannot read {}", path.display()))?;
        if line.trim().is_empty() {
            continue;
        }
        number += 1;
        let place = Place { path, number };
        let game = PlayedGame::from_line(&line).with_context(|| place.to_string())?;
        if !take(place, game)? {
            return Ok(());
        }
    }
    if number == 0 {
        bail!("{}: no game", path.display());
    }
    Ok(())
}

/// One game of a file of game lines or records.
///
/// # Errors
/// As those of [`each_game`]; [`Usage`] where the file has fewer games.
pub fn nth_game(path: &Path, number: usize) -> anyhow::Result<PlayedGame> {
    let mut found = None;
    each_game(path, Notation::Lines, None, |place, game| {
        if place.number == number {
            found = Some(game);
        }
        Ok(found.is_none())
    })?;
    found.ok_or_else(|| Usage::error(format!("{} has no game {number}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_unpacked_frame_by_frame() {
        let folder = tempfile::tempdir().expect("a folder");
        let line = "{\"rules\":\"basic\",\"plays\":[\"e1-e2\"]}\n";
        let frame = |text: &str| {
            ruzstd::encoding::compress_to_vec(
                text.as_bytes(),
                ruzstd::encoding::CompressionLevel::Fastest,
            )
        };
        let packed = [frame(line), frame(""), frame(&line.repeat(2))].concat();
        let path = folder.path().join("games.jsonl.zst");
        fs::write(&path, &packed).expect("writes");
        let mut count = 0;
        each_game(&path, Notation::Lines, None, |place, game| {
            count += 1;
            assert_eq!((place.number, game.plays.len()), (count, 1));
            Ok(true)
        })
        .expect("games");
        assert_eq!(count, 3);
        assert_eq!(read(&path).expect("text"), line.repeat(3));
        assert!(nth_game(&path, 4).is_err_and(|error| error.is::<Usage>()));
        fs::write(&path, &packed[..packed.len() - 3]).expect("writes");
        assert!(read(&path).is_err(), "a torn file is an error");
        assert_eq!(listed(&[folder.path().to_owned()]).expect("files"), [path]);
    }
}
