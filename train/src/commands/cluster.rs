//! What the commands of a run over many machines share: how to reach the server, and how they fail.

use std::path::PathBuf;

use super::Usage;
use crate::cluster::{ClusterError, Connection};
use crate::transport::TransportError;

/// How to reach the NATS server; each command says for itself what its address is.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ConnectionArgs {
    /// Credentials file of the account, as nsc or the server's operator writes it (.creds)
    #[arg(long, value_name = "FILE", requires = "nats")]
    creds: Option<PathBuf>,
    /// Certificates that the server's one is checked against, beside the system's (PEM)
    #[arg(long, value_name = "FILE", requires = "nats")]
    tls_ca: Option<PathBuf>,
    /// This client's own certificate, where the server wants one (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "nats")]
    tls_cert: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl ConnectionArgs {
    /// The connection to a server.
    pub(super) fn to(&self, url: &str) -> Connection {
        Connection {
            url: url.to_owned(),
            creds: self.creds.clone(),
            tls_ca: self.tls_ca.clone(),
            tls_client: self.tls_cert.clone().zip(self.tls_key.clone()),
        }
    }

    /// The options as words of a command line.
    pub(super) fn words(&self) -> Vec<String> {
        let all = [
            ("--creds", &self.creds),
            ("--tls-ca", &self.tls_ca),
            ("--tls-cert", &self.tls_cert),
            ("--tls-key", &self.tls_key),
        ];
        let given = all.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
        given.flat_map(|(name, path)| [name.to_owned(), path.display().to_string()]).collect()
    }
}

/// An error of the cluster as a command's: what the user gave is wrong use, everything else a failure.
pub(super) fn told(error: ClusterError) -> anyhow::Error {
    match error {
        ClusterError::Name(_) | ClusterError::Option { .. } => Usage::error(error.to_string()),
        error => error.into(),
    }
}

/// The same for whatever may have a cluster's error in it.
pub(super) fn retold(error: anyhow::Error) -> anyhow::Error {
    let wrong_use =
        |error: &ClusterError| matches!(error, ClusterError::Name(_) | ClusterError::Option { .. });
    let inner = error.downcast_ref::<ClusterError>().or_else(|| {
        match error.downcast_ref::<TransportError>() {
            Some(TransportError::Cluster(inner)) => Some(inner),
            _ => None,
        }
    });
    if inner.is_some_and(wrong_use) { Usage::error(format!("{error:#}")) } else { error }
}

/// Megabytes, 1 to 1,000,000.
pub(super) fn megabytes(text: &str) -> Result<u64, String> {
    let range = 1..=1_000_000;
    text.parse()
        .ok()
        .filter(|megabytes| range.contains(megabytes))
        .ok_or_else(|| "not in 1 to 1000000".to_owned())
}

/// Seconds, 0 to 3600.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let range = 0.0..=3600.0;
    text.parse()
        .ok()
        .filter(|seconds| range.contains(seconds))
        .ok_or_else(|| "not in 0 to 3600".to_owned())
}
