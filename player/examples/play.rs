//! A player from a file plays a game against itself: `cargo run --release -p gipf-player --example play -- FILE`.

use anyhow::Context;
use gipf_player::{Budget, PlayerFile, Session};

fn main() -> anyhow::Result<()> {
    let path = std::env::args_os().nth(1).context("usage: play FILE")?;
    let file = PlayerFile::read(path.as_ref())?;
    let mut game = Session::new(&file, file.rules()?)?;
    while !game.is_over() {
        if let Some(outcome) = game.draw_outcome() {
            println!("{outcome}");
            continue;
        }
        let choice = game.think(&Budget::nodes(100))?;
        println!("{}", choice.play);
        game.play(choice.play)?;
    }
    println!("{} plays: {}", game.plays().len(), game.position());
    Ok(())
}
