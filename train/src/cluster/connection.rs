//! How to reach a server: its address, who we are, and what the client needs to trust it.

use super::error::ClusterError;
use async_nats::{ConnectErrorKind, ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the client asks whether the server is still there; after three questions without an answer the connection counts as
/// lost.
const PING: Duration = Duration::from_secs(5);

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The longest pause between two attempts to connect again.
const PAUSE: Duration = Duration::from_secs(2);

/// Where a server is and how it is spoken to.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// `nats://HOST[:PORT]`, `tls://…`, with `USER:PASSWORD@` where the server wants them; several with commas between.
    pub url: String,
    /// A credentials file (`.creds`): a user's token and key.
    pub creds: Option<PathBuf>,
    /// Certificates of the authorities that the server's certificate is checked against, beside the system's.
    pub tls_ca: Option<PathBuf>,
    /// The client's own certificate and key, where the server wants one.
    pub tls_client: Option<(PathBuf, PathBuf)>,
}

/// Who connects: its name in the server's lists, and where answers to it go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `gipf learn`.
    Learner,
    /// `gipf worker`.
    Worker,
    /// `gipf status`.
    Status,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Learner => "gipf-learner",
            Self::Worker => "gipf-worker",
            Self::Status => "gipf-status",
        }
    }
}

impl Connection {
    /// Checks the addresses and the files, without connecting.
    ///
    /// # Errors
    /// An address that is none, or a file that cannot be read.
    pub fn check(&self) -> Result<(), ClusterError> {
        self.servers()?;
        self.options(Role::Status).map(|_| ())
    }

    /// The servers' addresses.
    ///
    /// # Errors
    /// A text that is no address.
    pub(super) fn servers(&self) -> Result<Vec<ServerAddr>, ClusterError> {
        let wrong = |reason: String| ClusterError::Option { option: "--nats", reason };
        let parse = |part: &str| {
            // The client would take it for a server without a name.
            if part.trim().is_empty() {
                return Err(wrong("an address is empty".to_owned()));
            }
            let address = part.trim().parse::<ServerAddr>();
            address.map_err(|error| {
                wrong(format!("{} is no address: {error}", without_password(part)))
            })
        };
        let servers: Vec<_> = self.url.split(',').map(parse).collect::<Result<_, _>>()?;
        let schemes = ["nats", "tls"];
        match servers.iter().find(|server| !schemes.contains(&server.scheme())) {
            Some(other) => {
                Err(wrong(format!("'{}' is neither nats:// nor tls://", other.scheme())))
            }
            None => Ok(servers),
        }
    }

    /// The addresses as they may be shown.
    pub fn shown(&self) -> String {
        self.url.split(',').map(without_password).collect::<Vec<_>>().join(",")
    }

    /// The client's options for someone in this role.
    ///
    /// # Errors
    /// A file that cannot be read, or a credentials file that is none.
    pub(super) fn options(&self, role: Role) -> Result<ConnectOptions, ClusterError> {
        let mut options = ConnectOptions::new()
            .name(role.name())
            // Of one's own, so that an account can be kept from reading what is answered to others.
            .custom_inbox_prefix(format!("_INBOX.{}", role.name()))
            .ping_interval(PING)
            .connection_timeout(CONNECT)
            .reconnect_delay_callback(|attempts| {
                let doubled = Duration::from_millis(100) * 2u32.pow(attempts.min(6) as u32);
                if attempts <= 1 { Duration::ZERO } else { doubled.min(PAUSE) }
            });
        // The client takes who we are from its options only, whatever the address says.
        if let Some((user, password)) = self.servers()?.iter().find_map(user_and_password) {
            options = options.user_and_password(user, password);
        }
        if let Some(path) = &self.creds {
            let text =
                std::fs::read_to_string(path).map_err(|error| option("--creds", path, error))?;
            options = options.credentials(&text).map_err(|error| option("--creds", path, error))?;
        }
        if let Some(path) = &self.tls_ca {
            readable("--tls-ca", path)?;
            options = options.add_root_certificates(path.clone()).require_tls(true);
        }
        if let Some((certificate, key)) = &self.tls_client {
            readable("--tls-cert", certificate)?;
            readable("--tls-key", key)?;
            options =
                options.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
        }
        Ok(options)
    }

    /// What a failed attempt to connect means: whether it is worth another one.
    pub(super) fn failure(&self, error: &async_nats::ConnectError) -> ClusterError {
        let (url, reason) = (self.shown(), error.to_string());
        match error.kind() {
            ConnectErrorKind::Dns
            | ConnectErrorKind::TimedOut
            | ConnectErrorKind::Io
            | ConnectErrorKind::MaxReconnects => ClusterError::Unreachable { url, reason },
            ConnectErrorKind::ServerParse
            | ConnectErrorKind::Authentication
            | ConnectErrorKind::AuthorizationViolation
            | ConnectErrorKind::Tls => ClusterError::Refused { url, reason },
        }
    }
}

/// Who an address says we are; what no address can hold as it is stands there as `%` and two digits.
fn user_and_password(server: &ServerAddr) -> Option<(String, String)> {
    let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((plain(server.username()?), plain(server.password().unwrap_or(""))))
}

/// An address without its password.
fn without_password(url: &str) -> String {
    let url = url.trim();
    let Some((before, host)) = url.rsplit_once('@') else { return url.to_owned() };
    let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
    if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
}

fn readable(name: &'static str, path: &Path) -> Result<(), ClusterError> {
    std::fs::File::open(path).map(|_| ()).map_err(|error| option(name, path, error))
}

fn option(option: &'static str, path: &Path, error: std::io::Error) -> ClusterError {
    ClusterError::Option { option, reason: format!("{}: {error}", path.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(url: &str) -> Connection {
        Connection { url: url.to_owned(), ..Connection::default() }
    }

    #[test]
    fn passwords_are_not_shown() {
        let both = connection("nats://a:secret@one:4222,tls://two");
        assert_eq!(both.shown(), "nats://one:4222,tls://two");
        assert_eq!(both.servers().expect("addresses").len(), 2);
        let bad = connection("nats://a:secret@:x:y").servers().expect_err("no address");
        assert!(!bad.to_string().contains("secret"), "{bad}");
        assert!(connection("http://one").servers().is_err());
        for empty in ["", " ", "nats://one,"] {
            let error = connection(empty).servers().expect_err("no address").to_string();
            assert_eq!(error, "--nats: an address is empty");
        }
        let user = user_and_password(&connection("nats://a:b%40c@one").servers().expect("one")[0]);
        assert_eq!(user, Some(("a".to_owned(), "b@c".to_owned())));
        assert_eq!(user_and_password(&both.servers().expect("addresses")[1]), None);
    }

    #[test]
    fn files_that_are_missing_are_named_with_their_option() {
        let missing = Connection { creds: Some("no/such.creds".into()), ..connection("nats://x") };
        let error = missing.options(Role::Worker).err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.starts_with("--creds: no/such.creds")));
        let missing = Connection { tls_ca: Some("no/such.pem".into()), ..connection("nats://x") };
        assert!(matches!(
            missing.options(Role::Status),
            Err(ClusterError::Option { option: "--tls-ca", .. })
        ));
    }
}
