//! Scalars for TensorBoard: one event file a start of the run, in the run's events folder.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protobuf::Message;
use tensorboard_proto::event::Event;
use tensorboard_rs::record_writer::RecordWriter;
use tensorboard_rs::summary::scalar;

/// How long after a failed write (a full disk) the next event file is tried.
const RETRY: Duration = Duration::from_secs(60);

/// Writes named values over steps.
///
/// Scalars are for people to look at: a write that fails loses the curve's points, never the run. (The crate's own
/// `SummaryWriter` ends its thread by a panic when the disk is full, so its records are written from here.)
pub(crate) struct Scalars {
    folder: PathBuf,
    file: Option<RecordWriter<BufWriter<File>>>,
    failed: Option<Instant>,
    opened: u32,
}

impl Scalars {
    /// Scalars that appear in event files of `folder`; nothing is written before the first [`Scalars::add`].
    pub(crate) fn new(folder: &Path) -> Self {
        Scalars { folder: folder.to_owned(), file: None, failed: None, opened: 0 }
    }

    /// Writes the values of this step and hands them to the system.
    pub(crate) fn add(&mut self, step: u64, values: &[(&str, f64)]) {
        if self.failed.is_some_and(|when| when.elapsed() < RETRY) {
            return;
        }
        if let Err(error) = self.try_add(step, values) {
            tracing::warn!("TensorBoard events in {}: {error}", self.folder.display());
            // A record may have been torn: what follows goes to a file of its own.
            self.file = None;
            self.failed = Some(Instant::now());
        }
    }

    fn try_add(&mut self, step: u64, values: &[(&str, f64)]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.open()?);
        }
        if let Some(file) = &mut self.file {
            for &(name, value) in values.iter().filter(|(_, value)| value.is_finite()) {
                let mut event = Event::new();
                event.set_wall_time(wall_time());
                event.set_step(i64::try_from(step).unwrap_or(i64::MAX));
                event.set_summary(scalar(name, value as f32));
                write(file, &event)?;
            }
            file.flush()?;
        }
        Ok(())
    }

    fn open(&mut self) -> io::Result<RecordWriter<BufWriter<File>>> {
        fs::create_dir_all(&self.folder)?;
        let name = format!(
            "events.out.tfevents.{:010}.gipf.{}.{}",
            wall_time() as u64,
            std::process::id(),
            self.opened
        );
        self.opened += 1;
        let mut file = RecordWriter::new(BufWriter::new(File::create(self.folder.join(name))?));
        let mut event = Event::new();
        event.set_wall_time(wall_time());
        event.set_file_version("brain.Event:2".to_owned());
        write(&mut file, &event)?;
        Ok(file)
    }
}

fn write(file: &mut RecordWriter<BufWriter<File>>, event: &Event) -> io::Result<()> {
    file.write(&event.write_to_bytes().map_err(io::Error::other)?)
}

fn wall_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_a_start_with_a_version_and_the_values() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut scalars = Scalars::new(folder.path());
        scalars.add(3, &[("loss/total", 1.5), ("loss/nothing", f64::NAN)]);
        let files: Vec<_> = fs::read_dir(folder.path())?.collect::<io::Result<_>>()?;
        assert_eq!(files.len(), 1);
        let bytes = fs::read(files[0].path())?;
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("brain.Event:2") && text.contains("loss/total"));
        assert!(!text.contains("loss/nothing"), "a value that is not a number has no point");
        Ok(())
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_failure() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("events"), "a file in the way")?;
        let mut scalars = Scalars::new(&folder.path().join("events"));
        scalars.add(1, &[("a", 1.0)]);
        assert!(scalars.failed.is_some());
        Ok(())
    }
}
