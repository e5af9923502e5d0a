//! How a command fails: wrong use or a failure, always one line; and the files that are written only where none is.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::Access;

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

/// The folder that a file lies in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
