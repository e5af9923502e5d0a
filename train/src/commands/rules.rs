//! `gipf rules`: a rules string in words.

use std::process::ExitCode;

use gipf_core::{Challenge, Color, Potential, Rules, SideGame, Variant};
use serde_json::{Value, json};

use super::{Output, input};

/// Explain a rules string: its canonical form, pieces, hands, mixes and options
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf rules 'tournament:21+T3Z3D3Y3P3'")]
pub(super) struct Args {
    /// Rules string, such as standard, basic:18/15 or tournament+T4Z4D4
    rules: String,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let rules = input::rules(&args.rules)?;
    if args.json {
        writeln!(out, "{}", facts(&rules))?;
    } else {
        for (name, text) in lines(&rules) {
            writeln!(out, "{name:<10} {text}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn facts(rules: &Rules) -> Value {
    let start = rules.start();
    let side = |color: Color| {
        let mix: Vec<(String, u8)> =
            mix_of(rules, color).map(|(kind, count)| (kind.letter().to_string(), count)).collect();
        json!({
            "basic": rules.basic(color),
            "hand": start.hand_basic(color),
            "mix": mix.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        })
    };
    json!({
        "rules": rules.to_string(),
        "variant": variant_name(rules.variant()),
        "white": side(Color::White),
        "black": side(Color::Black),
        "punct": if rules.punct_convert() { "convert" } else { "neutralize" },
        "challenge": rules.challenge().is_some(),
        "side_game_probabilities": rules.side_game_probabilities(),
        "start": start.to_string(),
    })
}

/// What a rules string says, as names and texts.
pub(super) fn lines(rules: &Rules) -> Vec<(&'static str, String)> {
    let start = rules.start();
    let variant = match rules.variant() {
        Variant::Basic => "basic: one basic piece on each corner; who must play and cannot loses",
        Variant::Standard => {
            "standard: one GIPF-piece on each corner; who must play and cannot loses, and who has no GIPF-piece left"
        }
        Variant::Tournament => {
            "tournament: an empty board; the first entry is a GIPF-piece, more may follow; lost as in standard"
        }
    };
    let mut lines = vec![("rules", rules.to_string()), ("variant", variant.to_owned())];
    let pieces = |white: u8, black: u8| {
        if white == black {
            format!("{white} each")
        } else {
            format!("White {white}, Black {black}")
        }
    };
    lines.push((
        "pieces",
        format!("{} (basic pieces)", pieces(rules.basic(Color::White), rules.basic(Color::Black))),
    ));
    let hands = pieces(start.hand_basic(Color::White), start.hand_basic(Color::Black));
    lines.push(("hands", format!("{hands} (basic pieces in hand at the start)")));
    if rules.mix(Color::White) == rules.mix(Color::Black) {
        lines.push(("mix", mix_words(rules, Color::White)));
    } else {
        lines.push(("mix White", mix_words(rules, Color::White)));
        lines.push(("mix Black", mix_words(rules, Color::Black)));
    }
    let mut options = Vec::new();
    if rules.punct_convert() {
        options.push("a PÜNCT-potential on a GIPF-piece makes it its owner's".to_owned());
    }
    options.extend(rules.challenge().map(challenge_words));
    lines
        .push(("options", if options.is_empty() { "none".to_owned() } else { options.join("; ") }));
    lines.push(("start", start.to_string()));
    lines
}

fn challenge_words(challenge: &Challenge) -> String {
    let side_game = match challenge.side_game {
        SideGame::Rps => "rock-paper-scissors",
        SideGame::Coin => "a coin",
        SideGame::Recorded => "played elsewhere, the outcome entered by hand",
        SideGame::Chance => "a chance",
    };
    let odds = match challenge.probabilities() {
        Some([win, tie, loss]) => format!(", win {win:.3} tie {tie:.3} loss {loss:.3}"),
        None => String::new(),
    };
    let limit = match challenge.limit() {
        Some(limit) => format!("{limit} a player and game"),
        None => "any number of them".to_owned(),
    };
    let kinds =
        Potential::ALL.into_iter().filter(|&kind| challenge.covers(kind)).map(Potential::name);
    format!(
        "announced moves of {} may be challenged, {limit}, to a side game ({side_game}{odds})",
        kinds.collect::<Vec<_>>().join(", ")
    )
}

fn mix_words(rules: &Rules, color: Color) -> String {
    let parts: Vec<String> =
        mix_of(rules, color).map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    if parts.is_empty() { "no potentials".to_owned() } else { parts.join(", ") }
}

/// The kinds this colour has, with their counts, in the order T Z D Y P.
fn mix_of(rules: &Rules, color: Color) -> impl Iterator<Item = (Potential, u8)> {
    let counts = rules.mix(color);
    Potential::ALL.into_iter().zip(counts).filter(|&(_, count)| count > 0)
}

fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::Basic => "basic",
        Variant::Standard => "standard",
        Variant::Tournament => "tournament",
    }
}
