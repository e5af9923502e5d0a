//! How a command fails: wrong use or a failure, always one line; and the files that are written only where none is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{Access, CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

pub use gipf_player::messages::{Usage, one_line};

/// Checks that a file can be written here and would replace none, before the work that it is to hold; creates nothing.
///
/// # Errors
/// [`Usage`] where the file exists already and is not to be overwritten, or is no regular file; a failure where its folder is
/// missing or cannot be written.
pub(super) fn check_new_file(path: &Path, overwrite: Option<bool>) -> anyhow::Result<()> {
    let shown = path.display();
    if path.is_dir() || path.file_name().is_none() {
        return Err(Usage::error(format!("'{shown}' is no name of a file")));
    }
    if let Ok(found) = path.symlink_metadata() {
        match overwrite {
            _ if path.exists() && !path.is_file() => {
                return Err(Usage::error(format!("{shown} is no regular file")));
            }
            Some(true) if found.is_symlink() => {
                return Err(Usage::error(format!("{shown} is a link: name the file itself")));
            }
            Some(true) => {}
            Some(false) => {
                return Err(Usage::error(format!(
                    "{shown} exists already (--overwrite replaces it)"
                )));
            }
            None => return Err(Usage::error(format!("{shown} exists already"))),
        }
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!("cannot write {shown}: there is no folder {}", folder.display());
    }
    rustix::fs::access(&folder, Access::WRITE_OK | Access::EXEC_OK)
        .with_context(|| format!("cannot write {shown}"))
}

/// Lets a file appear whole or not at all: `write` writes it beside its place, which it takes only where no file is by then, unless it may
/// `replace` one.
///
/// # Errors
/// What `write` returns; the file cannot be written; another process has made one of this name ([`is_taken`]).
pub(super) fn write_whole(
    path: &Path,
    replace: bool,
    write: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder_of(path).join(format!(".{name}.{}.tmp", std::process::id()));
    let written = write(&aside)
        .and_then(|()| Ok(File::open(&aside)?.sync_all()?))
        .and_then(|()| Ok(take_place(&aside, path, replace)?));
    written.with_context(|| {
        // What is half-written is of no use to anybody.
        let _ = fs::remove_file(&aside);
        format!("cannot write {}", path.display())
    })
}

fn take_place(aside: &Path, path: &Path, replace: bool) -> io::Result<()> {
    if replace {
        return fs::rename(aside, path);
    }
    match renameat_with(CWD, aside, CWD, path, RenameFlags::NOREPLACE) {
        // A file system that cannot rename so.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !path.exists() => {
            fs::rename(aside, path)
        }
        other => Ok(other?),
    }
}

/// Whether a file was not written because another one has its name.
pub(super) fn is_taken(error: &anyhow::Error) -> bool {
    let taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(taken)
}

/// The folder that a file lies in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
