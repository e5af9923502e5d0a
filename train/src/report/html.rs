//! Pieces of HTML: text made safe, tables, data for scripts.

use std::fmt::Display;

use serde::Serialize;

/// A text as HTML shows it, in content and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Data as JSON that can stand in a script element: nothing in it ends the element or begins a comment.
///
/// # Errors
/// The data cannot be serialized.
pub(super) fn script_json(data: &impl Serialize) -> serde_json::Result<String> {
    // These characters occur in strings only, where their escapes mean the same.
    let json = serde_json::to_string(data)?;
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", character as u32));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// A table that scrolls by itself where the page is narrow. Cells are texts, not HTML; the first column heads its row.
pub(super) fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
        cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table>\n<caption>{0}</caption>\n",
        escape(caption)
    );
    out += "<thead><tr>";
    for name in head {
        out += &format!("<th scope=\"col\">{}</th>", escape(name));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        if let Some((first, rest)) = row.split_first() {
            let rest = cells("td", &mut rest.iter().map(String::as_str));
            out += &format!("<tr><th scope=\"row\">{}</th>{rest}</tr>\n", escape(first));
        }
    }
    out + "</tbody>\n</table>\n</div>\n"
}

/// Something that is opened by a click.
pub(super) fn details(summary: &str, content: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{content}</details>\n", escape(summary))
}

/// A paragraph that says what is missing and the command that makes it.
pub(super) fn missing(what: &str, command: &str) -> String {
    format!("<p class=\"missing\">{} <code>{}</code></p>\n", escape(what), escape(command))
}

/// A whole number in groups of three digits: `405,600`.
pub(super) fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Fills a template's `{{NAME}}` in one pass, so that what is filled in is never read as a template itself. Unknown names
/// stay as they are.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let known = after.split_once("}}").and_then(|(name, after)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (value, after))
        });
        match known {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_what_it_stands_in() {
        let name = "<script>alert('1')</script>\"&";
        assert_eq!(escape(name), "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;");
        let names = [name, "<!--", "]]>", "\u{2028}"];
        let json = script_json(&names).expect("serializes");
        assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).expect("parses"), names);
        let table = table(name, &[name], &[vec![name.to_owned(), name.to_owned()]]);
        assert!(!table.contains("<script>"), "{table}");
        assert!(
            !details(name, "").contains("<script>") && !missing(name, name).contains("<script>")
        );
    }

    #[test]
    fn a_template_is_filled_once() {
        let filled = fill("{{A}} {{B}} {{C}} {{A", &[("A", "{{B}}"), ("B", "b")]);
        assert_eq!(filled, "{{B}} b {{C}} {{A");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([1, 12, 123, 1234, 405_600].map(grouped).join(" "), "1 12 123 1,234 405,600");
    }
}
