//! What a worker's account may do, over TLS, with the rights of docs/cluster/nats-server.conf; and credentials files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use async_nats::{Client, ConnectOptions};
use tokio_stream::StreamExt;

use super::common::{config, succeed};
use super::programs::{Program, With, counted, status, stored, wait_for_intake, wait_until};
use super::server::Server;

/// Certificates for a server on loopback, by an authority of the test's own; none where there is no openssl.
fn certificates(folder: &Path) -> Option<[PathBuf; 3]> {
    let [authority, authority_key, server, key, request] =
        ["ca.pem", "ca.key", "server.pem", "server.key", "server.csr"]
            .map(|name| folder.join(name));
    let extension = folder.join("server.ext");
    fs::write(&extension, "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n").unwrap();
    let openssl = |words: &str, files: &[(&str, &PathBuf)]| {
        let mut command = Command::new("openssl");
        command.args(words.split_whitespace());
        for (option, file) in files {
            command.arg(option).arg(file);
        }
        command.output().map(|output| assert!(output.status.success(), "{output:?}"))
    };
    const NEW: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let made = openssl(
        &format!("req -x509 {NEW} -days 2 -subj /CN=test-authority"),
        &[("-keyout", &authority_key), ("-out", &authority)],
    );
    if made.is_err() {
        let required = std::env::var("GIPF_NATS").is_ok_and(|value| value == "required");
        assert!(!required, "GIPF_NATS=required, but there is no openssl to make certificates with");
        eprintln!("SKIPPED: no openssl to make certificates with");
        return None;
    }
    openssl(&format!("req {NEW} -subj /CN=server"), &[("-keyout", &key), ("-out", &request)])
        .unwrap();
    openssl(
        "x509 -req -days 2 -CAcreateserial",
        &[
            ("-in", &request),
            ("-CA", &authority),
            ("-CAkey", &authority_key),
            ("-extfile", &extension),
            ("-out", &server),
        ],
    )
    .unwrap();
    Some([authority, server, key])
}

/// The documented configuration, for the run `tiny`, with the test's own certificates, and without what the test's server
/// has already.
fn documented(certificate: &Path, key: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cluster/nats-server.conf");
    let text = fs::read_to_string(path).unwrap();
    let rest = text.split_once("tls {").unwrap().1;
    assert!(text.contains("sync_interval: always"));
    format!("max_payload: 1MB\ntls {{{rest}")
        .replace("standard", "tiny")
        .replace("/etc/nats/server.pem", &certificate.to_string_lossy())
        .replace("/etc/nats/server.key", &key.to_string_lossy())
}

#[test]
fn a_workers_account_can_play_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let Some([authority, certificate, key]) = certificates(folder.path()) else { return };
    let Some(server) = Server::start(folder.path(), &documented(&certificate, &key)) else {
        return;
    };
    let at = |user: &str| format!("tls://{user}@127.0.0.1:{}", server.port());
    let (boss, worker_url) = (at("learner:change-this-one"), at("worker:change-this-too"));
    let ca = ["--tls-ca", authority.to_str().unwrap()];
    let config =
        config(folder.path(), &["run.threads=1", "train.sample_reuse=0.01", "self_play.workers=1"]);
    let (run, worker_folder) = (folder.path().join("run"), folder.path().join("w"));
    let learner = Program::learner(&config, &run, &boss, &With::options(&ca));
    let worker = Program::worker(&worker_folder, &worker_url, &With::options(&ca));
    let logs = [worker_folder.with_extension("log")];
    wait_until("20 games", Duration::from_secs(60), || counted(&logs).len() >= 20);
    let before = status(&boss, &ca);
    assert_eq!(before["workers"].as_array().unwrap().len(), 1, "it tells of itself: {before}");

    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.unwrap();
    let port = server.port();
    let heard = runtime.block_on(async {
        let client = |user: &str, password: &str, inbox: &str| {
            ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned())
                .custom_inbox_prefix(inbox)
                .add_root_certificates(authority.clone())
                .request_timeout(Some(Duration::from_millis(700)))
                .connect(format!("tls://127.0.0.1:{port}"))
        };
        let client = client("worker", "change-this-too", "_INBOX.gipf-worker").await.unwrap();
        tries_more(&client).await
    });
    assert_eq!(heard, 0, "it hears nothing that is not for it");
    let after = status(&boss, &ca);
    assert_eq!(after["checkpoint"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(after["set_aside"], 0, "nothing of what it tried came in: {after}");
    assert_eq!(after["learner"]["run_id"], before["learner"]["run_id"]);
    assert_eq!(after["workers"].as_array().unwrap().len(), 1);

    // The run has not noticed.
    let now = counted(&logs).len();
    wait_until("more games", Duration::from_secs(60), || counted(&logs).len() >= now + 10);
    worker.stop();
    wait_for_intake(&boss, &ca);
    learner.stop();
    assert_eq!(counted(&logs), stored(&run));

    // Who does not know the password, or not the server's authority, is told so at once.
    let refused = |url: &str, options: &[&str], words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
        let output = command.args(["status", "--nats", url]).args(options).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.trim().lines().count(), 1, "{error}");
        assert!(error.contains(words) && !error.contains("wrong-one"), "{error}");
    };
    refused(&at("learner:wrong-one"), &ca, "authorization");
    refused(&boss, &[], "127.0.0.1");
    drop(server);
    refused(&boss, &ca, "no NATS server answers");
}

/// Tries what a worker may not do; how many messages it hears that are not for it.
async fn tries_more(client: &Client) -> usize {
    // To write what the learner writes: settings, checkpoints, beats, what is set aside.
    for subject in [
        "gipf.dead.tiny",
        "gipf.games.other",
        "$KV.gipf-run-tiny.checkpoint",
        "$KV.gipf-run-tiny.settings",
        "$KV.gipf-beats-tiny.learner",
        "$O.gipf-checkpoints-tiny.C.x",
        "$O.gipf-checkpoints-tiny.M.x",
        "$JS.ACK.gipf-games-tiny.learner.1.1.1.1.1",
    ] {
        client.publish(subject.to_owned(), "{}".into()).await.unwrap();
    }
    // To read games, to remove, to make.
    for subject in [
        "$JS.API.STREAM.DELETE.gipf-games-tiny",
        "$JS.API.STREAM.PURGE.gipf-games-tiny",
        "$JS.API.STREAM.UPDATE.gipf-games-tiny",
        "$JS.API.STREAM.DELETE.OBJ_gipf-checkpoints-tiny",
        "$JS.API.STREAM.PURGE.OBJ_gipf-checkpoints-tiny",
        "$JS.API.STREAM.PURGE.KV_gipf-run-tiny",
        "$JS.API.STREAM.MSG.GET.gipf-games-tiny",
        "$JS.API.STREAM.MSG.DELETE.KV_gipf-run-tiny",
        "$JS.API.CONSUMER.CREATE.gipf-games-tiny",
        "$JS.API.CONSUMER.DELETE.gipf-games-tiny.learner",
        "$JS.API.CONSUMER.MSG.NEXT.gipf-games-tiny.learner",
        "$JS.API.STREAM.CREATE.mine",
        "$JS.API.STREAM.NAMES",
        "$JS.API.ACCOUNT.PURGE.x",
    ] {
        let answer = client.request(subject.to_owned(), "{}".into()).await;
        assert!(answer.is_err(), "{subject} was answered: {answer:?}");
    }
    // To listen.
    let mut heard = 0;
    for subject in ["gipf.>", "_INBOX.gipf-learner.>", "_INBOX.>", "$KV.>", "$O.>", ">"] {
        let mut subscription = client.subscribe(subject.to_owned()).await.unwrap();
        client.flush().await.unwrap();
        let next = tokio::time::timeout(Duration::from_millis(700), subscription.next());
        heard += usize::from(matches!(next.await, Ok(Some(_))));
    }
    heard
}

#[test]
fn a_server_with_tokens_takes_a_credentials_file() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::new();
    let Some(server) = Server::start(folder.path(), &tokens.server) else { return };
    let creds = folder.path().join("user.creds");
    fs::write(&creds, &tokens.creds).unwrap();
    let options = ["--creds", creds.to_str().unwrap()];
    let config =
        config(folder.path(), &["run.threads=1", "train.sample_reuse=0.01", "self_play.workers=1"]);
    let (run, worker_folder) = (folder.path().join("run"), folder.path().join("w"));
    let learner = Program::learner(&config, &run, &server.url(), &With::options(&options));
    let worker = Program::worker(&worker_folder, &server.url(), &With::options(&options));
    let logs = [worker_folder.with_extension("log")];
    wait_until("10 games", Duration::from_secs(60), || counted(&logs).len() >= 10);
    worker.stop();
    wait_for_intake(&server.url(), &options);
    learner.stop();
    assert_eq!(counted(&logs), stored(&run));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    let output = command.args(["status", "--nats", &server.url()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "nobody comes in without");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    succeed(command.args(["status", "--nats", &server.url()]).args(options));
}

/// An operator, an account and a user, each with its token (the JWTs of NATS' decentralized authentication).
struct Tokens {
    /// The server's lines.
    server: String,
    /// The user's credentials file.
    creds: String,
}

impl Tokens {
    fn new() -> Self {
        use nkeys::KeyPair;
        use serde_json::json;
        let (operator, account, system, user) = (
            KeyPair::new_operator(),
            KeyPair::new_account(),
            KeyPair::new_account(),
            KeyPair::new_user(),
        );
        let limits = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1
        });
        let none = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1
        });
        let operator_token = token(
            &operator,
            &operator.public_key(),
            "operator",
            &json!({
                "type": "operator", "version": 2, "system_account": system.public_key()
            }),
        );
        let account_token = token(
            &operator,
            &account.public_key(),
            "account",
            &json!({
                "type": "account", "version": 2, "limits": limits
            }),
        );
        let system_token = token(
            &operator,
            &system.public_key(),
            "system",
            &json!({
                "type": "account", "version": 2, "limits": none
            }),
        );
        let user_token = token(
            &account,
            &user.public_key(),
            "user",
            &json!({
                "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}
            }),
        );
        let server = format!(
            "operator: {operator_token}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload: {{\n  {account}: {account_token}\n  {system}: {system_token}\n}}",
            system = system.public_key(),
            account = account.public_key(),
        );
        let creds = format!(
            "-----BEGIN NATS USER JWT-----\n{user_token}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            user.seed().unwrap()
        );
        Self { server, creds }
    }
}

/// A token about `subject`, signed by `issuer`.
fn token(issuer: &nkeys::KeyPair, subject: &str, name: &str, claims: &serde_json::Value) -> String {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let header = serde_json::json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let body = serde_json::json!({
        "jti": name, "iat": 1_700_000_000, "iss": issuer.public_key(), "name": name, "sub": subject, "nats": claims
    });
    let [header, body] = [header, body].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = format!("{header}.{body}");
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
