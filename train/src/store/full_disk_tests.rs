//! A full disk: a small tmpfs, mounted for the test.

use super::*;
use crate::test_games::game;
use gipf_core::record::GameRecord;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn games(from: u64, count: u64) -> Vec<GameRecord> {
    (from..from + count).map(|seq| game("standard", seq, 12)).collect()
}

/// A small file system of its own, or none where this user may not mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let option = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &option, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if mounted {
            return Some(Self(folder));
        }
        assert!(
            std::env::var_os("CI").is_none(),
            "a test of a full disk must mount a tmpfs, and CI must not skip it"
        );
        eprintln!("SKIPPED: a test of a full disk needs root to mount a tmpfs");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_pauses_an_append_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount("256k") else { return };
    let folder = disk.0.path().join("games");
    let filler = disk.0.path().join("filler");
    let wait = DiskWait::default().every(Duration::from_millis(10));
    let mut store = Store::open(&folder, StoreOptions::default(), wait).expect("opens");
    store.append(&games(0, 2)).expect("appends");
    let whole = store.bytes();
    // Fill it to the last page.
    let _ = fs::write(&filler, vec![1; 1 << 20]);
    let appender = std::thread::spawn(move || {
        let all: Vec<_> = games(2, 40);
        let new = store.append(&all).expect("appends in the end");
        assert!(new.iter().all(|new| *new));
        store
    });
    std::thread::sleep(Duration::from_millis(200));
    assert!(!appender.is_finished(), "it waits");
    let length = fs::metadata(folder.join(segment_name(1))).expect("is there").len();
    assert!(length >= whole, "what was counted stays");
    fs::remove_file(&filler).expect("removes");
    let store = appender.join().expect("no panic");
    assert_eq!(store.games(), 42);
    let again = Store::open(&folder, StoreOptions::default(), DiskWait::default()).expect("opens");
    assert_eq!(again.records(0).collect::<Result<Vec<_>, _>>().expect("reads").len(), 42);
}

#[test]
fn a_full_disk_pauses_whole_files_too_and_a_stop_ends_the_pause() {
    let Some(disk) = SmallDisk::mount("256k") else { return };
    let path = disk.0.path().join("state.json");
    let filler = disk.0.path().join("filler");
    let stop = Arc::new(AtomicBool::new(false));
    let wait = DiskWait::new(stop.clone()).every(Duration::from_millis(10));
    crate::run::atomic::write(&path, b"old", &wait, None).expect("writes");
    let _ = fs::write(&filler, vec![1; 1 << 20]);
    let target = path.clone();
    let waiting = wait.clone();
    let writer = std::thread::spawn(move || {
        crate::run::atomic::write(&target, &[b'n'; 50_000], &waiting, None)
    });
    std::thread::sleep(Duration::from_millis(100));
    assert!(!writer.is_finished());
    assert_eq!(fs::read(&path).expect("reads"), b"old");
    fs::remove_file(&filler).expect("removes");
    writer.join().expect("no panic").expect("writes");
    assert_eq!(fs::read(&path).expect("reads"), [b'n'; 50_000]);
    let _ = fs::write(&filler, vec![1; 1 << 20]);
    stop.store(true, Ordering::SeqCst);
    let error =
        crate::run::atomic::write(&path, &[b'm'; 50_000], &wait, None).expect_err("stopped");
    assert!(is_full(&error), "{error}");
    assert_eq!(fs::read(&path).expect("reads"), [b'n'; 50_000]);
}

#[test]
fn a_pause_is_one_line() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let mut left = 5;
    tracing::subscriber::with_default(subscriber, || {
        DiskWait::default()
            .every(Duration::ZERO)
            .retry(Path::new("/run"), 2_500_000, || {
                left -= 1;
                if left > 0 { Err(std::io::ErrorKind::QuotaExceeded.into()) } else { Ok(()) }
            })
            .expect("room in the end");
    });
    let text = log.text();
    let warnings: Vec<_> = text.lines().filter(|line| line.contains("WARN")).collect();
    assert_eq!(warnings.len(), 1, "{text}");
    assert!(
        warnings[0]
            .ends_with("disk full under /run: waiting, needs 3 MB; the run goes on by itself when there is room"),
        "{text}"
    );
}

/// A log kept in memory.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic")).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> tracing_subscriber::fmt::MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
