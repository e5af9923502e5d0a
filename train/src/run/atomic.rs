//! Whole files that appear at once or not at all: write aside, fsync, rename, fsync of the folder.

use crate::faults;
use crate::store::DiskWait;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The fault points that a kind of file passes.
#[derive(Debug, Clone, Copy)]
pub struct Points {
    half_written: &'static str,
    before_fsync: &'static str,
    before_rename: &'static str,
    after_rename: &'static str,
}

/// Fault points of a checkpoint.
pub const CHECKPOINT: Points = Points {
    half_written: "checkpoint.half_written",
    before_fsync: "checkpoint.before_fsync",
    before_rename: "checkpoint.before_rename",
    after_rename: "checkpoint.after_rename",
};

/// Fault points of the learner's state.
pub const LEARNER: Points = Points {
    half_written: "learner.half_written",
    before_fsync: "learner.before_fsync",
    before_rename: "learner.before_rename",
    after_rename: "learner.after_rename",
};

/// Fault points of `state.json`.
pub const STATE: Points = Points {
    half_written: "state.half_written",
    before_fsync: "state.before_fsync",
    before_rename: "state.before_rename",
    after_rename: "state.after_rename",
};

/// Fault points of a message in a worker's spool.
pub const SPOOL: Points = Points {
    half_written: "spool.half_written",
    before_fsync: "spool.before_fsync",
    before_rename: "spool.before_rename",
    after_rename: "spool.after_rename",
};

/// Ending of files that are not yet whole.
const ASIDE: &str = ".tmp";

/// Writes `bytes` as the whole file `path`.
///
/// # Errors
/// Any I/O error but a full disk, which is waited for.
pub fn write(
    path: &Path,
    bytes: &[u8],
    wait: &DiskWait,
    points: Option<&Points>,
) -> io::Result<()> {
    write_via(path, bytes.len() as u64, wait, points, |aside| File::create(aside)?.write_all(bytes))
}

/// Makes the whole file `path` of about `size` bytes by a function that writes the path it is given.
///
/// # Errors
/// Any I/O error but a full disk, which is waited for; `save` may be called several times then.
pub fn write_via(
    path: &Path,
    size: u64,
    wait: &DiskWait,
    points: Option<&Points>,
    mut save: impl FnMut(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let aside = aside(path);
    let pass = |point: fn(&Points) -> &'static str| {
        if let Some(points) = points {
            faults::point(point(points));
        }
    };
    wait.retry(folder, size, || {
        let written = (|| {
            save(&aside)?;
            let file = File::options().write(true).open(&aside)?;
            if let Some(points) = points.filter(|points| faults::is_armed(points.half_written)) {
                file.set_len(file.metadata()?.len() / 2)?;
                faults::point(points.half_written);
                // Not yet the hit that kills: the file must be whole again.
                save(&aside)?;
            }
            pass(|points| points.before_fsync);
            File::open(&aside)?.sync_all()?;
            pass(|points| points.before_rename);
            fs::rename(&aside, path)?;
            pass(|points| points.after_rename);
            sync_folder(folder)
        })();
        if written.is_err() {
            // What is half-written takes the very room that is missing.
            let _ = fs::remove_file(&aside);
        }
        written
    })
}

/// Makes renames and new files in a folder durable.
///
/// # Errors
/// Any I/O error.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}{ASIDE}"))
}

/// Removes what a killed process left half-written in a folder.
///
/// # Errors
/// Any I/O error.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(ASIDE) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        let wait = DiskWait::default();
        write(&path, b"old", &wait, Some(&STATE)).expect("writes");
        let failed = write_via(&path, 3, &wait, None, |aside| {
            fs::write(aside, b"ne")?;
            Err(io::Error::other("cut"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).expect("reads"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("reads").count(), 1);
        write(&path, b"new", &wait, None).expect("writes");
        assert_eq!(fs::read(&path).expect("reads"), b"new");
    }

    #[test]
    fn leftovers_go_and_whole_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(aside(&path), b"half").expect("writes");
        fs::write(&path, b"whole").expect("writes");
        remove_leftovers(folder.path()).expect("removes");
        let names: Vec<_> =
            fs::read_dir(folder.path()).expect("reads").flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, ["a"]);
    }
}
