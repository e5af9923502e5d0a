//! How the user called this program, for pages and messages that name a command.

/// The program.
pub(super) fn program() -> String {
    words().next().unwrap_or_else(|| "gipf".to_owned())
}

/// The whole command, as one types it into a shell.
pub(super) fn command_line() -> String {
    joined(words())
}

fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

fn joined(words: impl Iterator<Item = String>) -> String {
    // No argument of a program holds a zero byte, which alone cannot be quoted.
    let quoted = |word: String| shlex::try_quote(&word).map(Into::into).unwrap_or(word);
    words.map(quoted).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["./gipf", "mixes", "a b", "standard+?4?4", "--nodes", "16,64", "it's"];
        let text = joined(words.iter().map(|word| (*word).to_owned()));
        assert!(text.starts_with("./gipf mixes 'a b' "), "{text}");
        assert_eq!(shlex::split(&text).as_deref(), Some(&words.map(str::to_owned)[..]));
    }
}
