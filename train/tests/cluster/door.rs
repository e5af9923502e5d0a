//! Whatever is in a message, the learner neither dies of it nor takes it in.

use std::fs;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use gipf_train::cluster::{FORMAT_HEADER, Packer, RUN_HEADER};
use rand::SeedableRng;
use rand::rngs::SmallRng;

use super::common::{config, state};
use super::foreign::{KINDS, foreign, game};
use super::programs::{Program, With, status, stored, wait_for_intake, wait_until};
use super::server::{Server, is_soak};

/// Megabytes that the learner's memory may grow by: one message at its bounds, parsed, and what waits behind it.
const MOST_MB: u64 = 400;

#[test]
fn foreign_messages_are_set_aside_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(folder.path(), "") else { return };
    let config = config(
        folder.path(),
        &["run.threads=1", "train.sample_reuse=0.01", "checkpoints.every_games=10"],
    );
    let run = folder.path().join("run");
    let learner = Program::learner(&config, &run, &server.url(), &With::default());
    wait_until("the run", Duration::from_secs(60), || {
        run.join("state.json").exists() && status_is_there(&server.url())
    });
    let run_id = state(&run)["run_id"].as_str().unwrap().to_owned();
    let before = peak_megabytes(learner.process());
    let messages = if is_soak() { 10_000 } else { 1_400 };
    let good = 50;
    let (bad, refused) = flood(&server.url(), &run_id, messages, good);
    wait_for_intake(&server.url(), &[]);
    assert_eq!(refused, 1, "the server takes no message beyond its bound");
    assert_eq!(status(&server.url(), &[])["set_aside"], bad);
    let grown = peak_megabytes(learner.process()) - before;
    assert!(grown < MOST_MB, "{grown} MB more");
    let said = learner.said();
    assert!(said.contains("set aside in gipf-dead-tiny"), "{said}");
    learner.stop();
    assert_eq!(stored(&run).len(), good as usize, "the good ones between them came in");
    println!("{bad} foreign messages set aside, the learner's memory grew by {grown} MB");
}

fn status_is_there(url: &str) -> bool {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gipf"));
    let output =
        command.args(["status", "--nats", url, "--run", "tiny", "--json"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).contains("\"run_id\"")
}

/// Sends foreign messages of every kind with good games between them; how many the server took of the foreign ones, and how many
/// it refused.
fn flood(url: &str, run_id: &str, messages: usize, good: u64) -> (u64, u64) {
    let mut packer = Packer::new(1 << 20).unwrap();
    let two = packer.pack(&[game(run_id, 900_000), game(run_id, 900_001)]).unwrap();
    let mut rng = SmallRng::seed_from_u64(5);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let client = async_nats::connect(url).await.unwrap();
        let limit = client.max_payload();
        let context = async_nats::jetstream::new(client);
        let (mut taken, mut refused, mut waiting) = (0, 0, Vec::new());
        for number in 0..messages {
            let message = foreign(number % KINDS, run_id, &two[0].bytes, &mut rng);
            let mut publish = PublishMessage::build().payload(message.body.into());
            if let Some(format) = message.format {
                publish = publish.header(FORMAT_HEADER, format);
            }
            if let Some(run) = message.run {
                publish = publish.header(RUN_HEADER, run);
            }
            waiting.push(context.send_publish("gipf.games.tiny", publish).await.unwrap());
            let (every, number) = (messages as u64 / good, number as u64);
            if number.is_multiple_of(every) && number / every < good {
                let seq = number / every;
                let body = packer.pack(&[game(run_id, seq)]).unwrap().remove(0).bytes;
                let publish = PublishMessage::build()
                    .header(FORMAT_HEADER, gipf_train::cluster::CLUSTER_FORMAT)
                    .header(RUN_HEADER, run_id)
                    .payload(body.into());
                context.send_publish("gipf.games.tiny", publish).await.unwrap().await.unwrap();
            }
            if waiting.len() >= 100 {
                for answer in waiting.drain(..) {
                    answer.await.unwrap();
                    taken += 1;
                }
            }
        }
        for answer in waiting {
            answer.await.unwrap();
            taken += 1;
        }
        let oversized = PublishMessage::build().payload(vec![0; limit + 1].into());
        let sent = context.send_publish("gipf.games.tiny", oversized).await;
        refused += u64::from(match sent {
            Ok(answer) => answer.await.is_err(),
            Err(_) => true,
        });
        (taken, refused)
    })
}

/// The most memory that a process has had.
fn peak_megabytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
