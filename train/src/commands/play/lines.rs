//! What a person types at the prompt.

use std::path::PathBuf;

use gipf_core::Play;
use gipf_selfplay::nearest_name;

/// The words of the prompt, with what `help` says about them.
pub(super) const WORDS: [(&str, &str); 11] = [
    ("list [PAGE]", "the plays there are, by number"),
    ("NUMBER", "makes the play with this number"),
    ("PLAY", "makes a play: e1-e2, Ga1-b2, Tc7-c6, Zc3:f5, +i3-h3, +-, xc2,d3,e4,f4, x-, ?, ., =w"),
    ("hint", "what a computer player would do"),
    ("undo", "takes back to your previous decision"),
    ("moves", "the game so far"),
    ("rules", "the rules, hands and what may be entered"),
    ("draw", "lets chance decide a side game"),
    ("save FILE", "writes the game as a record"),
    ("load FILE", "goes on with the game of a file"),
    ("quit", "stops; so does the end of the input"),
];

/// One line from the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Empty,
    Help,
    /// With the page, from 1.
    List(usize),
    Undo,
    Moves,
    Hint,
    Rules,
    Draw,
    Quit,
    Save(PathBuf),
    Load(PathBuf),
    /// A play's number in the list.
    Number(usize),
    Play(Play),
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// Says in one line what is wrong with it.
    pub(super) fn parse(line: &str) -> Result<Line, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let alone = |parsed: Line| {
            if rest.is_empty() {
                Ok(parsed)
            } else {
                Err(format!("{word} stands alone, without \"{}\"", shorten(rest)))
            }
        };
        let file = || {
            if rest.is_empty() {
                Err(format!("{word} needs a file: {word} game.jsonl"))
            } else {
                Ok(PathBuf::from(rest))
            }
        };
        match word {
            "" => Ok(Line::Empty),
            "help" => alone(Line::Help),
            "list" if rest.is_empty() => Ok(Line::List(1)),
            "list" => match rest.parse() {
                Ok(page) if page > 0 => Ok(Line::List(page)),
                _ => Err(format!("list takes a page from 1 on, not \"{}\"", shorten(rest))),
            },
            "undo" => alone(Line::Undo),
            "moves" => alone(Line::Moves),
            "hint" => alone(Line::Hint),
            "rules" => alone(Line::Rules),
            "draw" => alone(Line::Draw),
            "quit" | "q" | "exit" => alone(Line::Quit),
            "save" => file().map(Line::Save),
            "load" => file().map(Line::Load),
            _ => Line::parse_play(line),
        }
    }

    fn parse_play(text: &str) -> Result<Line, String> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            // Too long a number is the number of no play.
            return Ok(Line::Number(text.parse().unwrap_or(usize::MAX)));
        }
        text.parse().map(Line::Play).map_err(|error| {
            let words = WORDS.iter().filter_map(|(form, _)| form.split(' ').next());
            let words: Vec<&str> =
                words.filter(|word| word.starts_with(char::is_lowercase)).chain(["help"]).collect();
            match nearest_name(text, &words) {
                Some(word) => format!("\"{}\": did you mean {word}?", shorten(text)),
                None => format!("{error} (list shows the plays, help the words)"),
            }
        })
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_plays() {
        let parse = |line: &str| Line::parse(line);
        assert_eq!(parse("  \n"), Ok(Line::Empty));
        assert_eq!(parse("list 3"), Ok(Line::List(3)));
        assert_eq!(parse(" save a b.jsonl\n"), Ok(Line::Save(PathBuf::from("a b.jsonl"))));
        assert_eq!(parse("17"), Ok(Line::Number(17)));
        assert_eq!(parse("99999999999999999999999"), Ok(Line::Number(usize::MAX)));
        assert_eq!(parse("?"), Ok(Line::Play(Play::CHALLENGE)));
        assert_eq!(parse("e1-e2").unwrap(), Line::Play("e1-e2".parse().unwrap()));
        for (line, message) in [
            ("lst", "\"lst\": did you mean list?"),
            ("undo 3", "undo stands alone, without \"3\""),
            ("save", "save needs a file: save game.jsonl"),
            ("list 0", "list takes a page from 1 on, not \"0\""),
            ("e1-e9", "\"e1-e9\" is not a play (list shows the plays, help the words)"),
            (
                "xd3,c2",
                "removal \"xd3,c2\": spots go by column, then number, each once (list shows the plays, help the words)",
            ),
        ] {
            assert_eq!(parse(line), Err(message.to_owned()));
        }
    }
}
