use super::*;

fn listed(texts: &[&str], variants: &[&str]) -> Vec<String> {
    let space = Space::parse(texts, variants).unwrap_or_else(|error| panic!("{error}"));
    space.rules().iter().map(ToString::to_string).collect()
}

fn message(text: &str, variants: &[&str]) -> String {
    Space::parse(&[text], variants).unwrap_err().to_string()
}

#[test]
fn forms_give_every_choice_once_in_order() {
    assert_eq!(
        listed(&["singles:6"], &["standard"]),
        ["standard+T6", "standard+Z6", "standard+D6", "standard+Y6", "standard+P6"]
    );
    let pairs = listed(&["pairs:4+4"], &["tournament"]);
    assert_eq!(pairs.len(), 10);
    assert_eq!((pairs[0].as_str(), pairs[9].as_str()), ("tournament+T4Z4", "tournament+Y4P4"));
    let uneven = listed(&["pairs:6+2"], &["tournament"]);
    assert_eq!(uneven.len(), 20);
    assert!(uneven.contains(&"tournament+T2Z6".to_owned()) && uneven[0] == "tournament+T6Z2");
    assert_eq!(listed(&["triples:4+4+4"], &["basic", "standard", "tournament"]).len(), 30);
    assert_eq!(listed(&["quadruples:3+3+3+3"], &["standard"]).len(), 5);
    assert_eq!(listed(&["quintuples:3+3+3+3+3"], &["tournament:21"]), ["ultimate"]);
}

#[test]
fn grids_are_white_by_black() {
    let space =
        Space::parse(&["grid:T6,Z6,T0, T4Z4,T6,pairs:6+6"], &["standard", "basic"]).unwrap();
    assert_eq!(space.rules().len(), 2 * (16 + 10));
    let [standard, basic] = space.grids() else { panic!("two grids") };
    assert_eq!((standard.variant.as_str(), basic.variant.as_str()), ("standard", "basic"));
    assert_eq!(standard.mixes, ["T6", "Z6", "T0", "T4Z4"]);
    for grid in [standard, basic] {
        for (white, row) in grid.mixes.iter().zip(&grid.cells) {
            assert_eq!(row.len(), grid.mixes.len());
            for (black, &cell) in grid.mixes.iter().zip(row) {
                let meant: Rules = format!("{}+{white}|{black}", grid.variant).parse().unwrap();
                assert_eq!(space.rules()[cell], meant);
            }
        }
    }
    let listed: Vec<String> = space.rules().iter().map(ToString::to_string).collect();
    assert_eq!(listed[..3], ["standard+T6", "standard+T6|Z6", "standard+T6|T0"]);
    assert_eq!((listed[8].as_str(), listed[10].as_str()), ("standard+T0|T6", "standard"));
}

#[test]
fn patterns_stand_for_different_kinds() {
    assert_eq!(listed(&["tournament+?4?4"], &[]), listed(&["pairs:4+4"], &["tournament"]));
    assert_eq!(
        listed(&["tournament+T4?4"], &[]),
        ["tournament+T4Z4", "tournament+T4D4", "tournament+T4Y4", "tournament+T4P4"]
    );
    let against_none = listed(&["standard:21/18+?6|T0;punct=convert"], &[]);
    assert_eq!(against_none.len(), 5);
    assert_eq!(against_none[1], "standard:21/18+Z6|T0;punct=convert");
    assert_eq!(listed(&["standard+?6|?6"], &[]).len(), 25);
    assert_eq!(listed(&["standard:21+?1?1?1?1?1|?1?2"], &[]).len(), 20);
}

#[test]
fn handicaps_and_plain_rules_strings() {
    let pieces = listed(&["pieces:15-18"], &["basic"]);
    assert_eq!(pieces.len(), 16);
    assert_eq!(pieces[..3], ["basic", "basic:15/16", "basic:15/17"]);
    assert_eq!(pieces[5], "basic:16");
    assert_eq!(
        listed(&["standard:18,ultimate", "standard+T6|T6, standard"], &[]),
        ["standard", "ultimate", "standard+T6"]
    );
    assert_eq!(
        listed(&["singles:6"], &["standard:18/21;challenge=coin"])[0],
        "standard:18/21+T6;challenge=coin"
    );
}

#[test]
fn errors_name_the_text_and_the_nearest_form() {
    let standard = ["standard"].as_slice();
    for (text, variants, wanted) in [
        ("singels:6", standard, "space \"singels:6\": unknown form; the nearest is \"singles:6\""),
        (
            "standart+T6",
            standard,
            "space \"standart+T6\": unknown form; the nearest is \"standard+T6|T0\"",
        ),
        ("T6", standard, "space \"T6\": unknown form; the nearest is \"grid:T6,Z6,T4Z4\""),
        (
            "pairs:4",
            standard,
            "space \"pairs:4\": 2 counts joined by \"+\" are needed; a form like it is \"pairs:4+4\"",
        ),
        (
            "pairs:4+7",
            standard,
            "space \"pairs:4+7\": count \"7\" is not 1 to 6; a form like it is \"pairs:4+4\"",
        ),
        (
            "singles",
            standard,
            "space \"singles\": count \"\" is not 1 to 6; a form like it is \"singles:6\"",
        ),
        (
            "grid:T6,Z7",
            standard,
            "space \"grid:T6,Z7\": mix \"Z7\": count \"7\" of Z is not 0 to 6; a form like it is \"grid:T6,Z6,T4Z4\"",
        ),
        (
            "grid:T6,?6",
            standard,
            "space \"grid:T6,?6\": mix \"?6\" has a \"?\", which a grid does not take; a form like it is \"grid:T6,Z6,T4Z4\"",
        ),
        (
            "pieces:18-15",
            standard,
            "space \"pieces:18-15\": the smaller number comes first; a form like it is \"pieces:18-21\"",
        ),
        (
            "pieces:15-18",
            standard,
            "space \"pieces:15-18\": rules string \"standard:15/15\": number of basic pieces \"15\" is not 18 to 21 (standard)",
        ),
        (
            "pieces:18-21",
            &["standard:20"],
            "space \"pieces:18-21\": variant \"standard:20\" has numbers of pieces already; a form like it is \"pieces:18-21\"",
        ),
        (
            "standard?+T6",
            standard,
            "space \"standard?+T6\": unknown form; the nearest is \"standard+T6|T0\"",
        ),
        (
            "standard+Z6;punct=?",
            standard,
            "space \"standard+Z6;punct=?\": \"?\" stands for the kind of a potential in a mix only; a form like it is \"standard+T6|T0\"",
        ),
        (
            "standard+Z4T4?4",
            standard,
            "space \"standard+Z4T4?4\": mix \"Z4T4?4\": kinds go in the order T Z D Y P, each once; a form like it is \"standard+T6|T0\"",
        ),
        (
            "standard+T1Z1D1Y1?1?1",
            standard,
            "space \"standard+T1Z1D1Y1?1?1\": mix \"T1Z1D1Y1?1?1\" has more than five kinds; a form like it is \"standard+T6|T0\"",
        ),
        (
            "triples:6+6+6",
            standard,
            "space \"triples:6+6+6\": rules string \"standard+T6Z6D6|T6Z6D6\": mix \"T6Z6D6\" has 18 potentials, more than 15",
        ),
        (
            "standard+T7",
            standard,
            "space \"standard+T7\": rules string \"standard+T7\": mix \"T7\": count \"7\" of T is not 0 to 6",
        ),
        (
            "standard+T6;challenge=recorded",
            standard,
            "space \"standard+T6;challenge=recorded\": rules \"standard+T6;challenge=recorded\": the outcomes of recorded side games have no probabilities; use rps, coin or chance",
        ),
        (
            "singles:6",
            &["ultimate"],
            "variant \"ultimate\": it has mixes of its own; it must be basic, standard or tournament, such as \"standard\" or \"basic:18/15\"",
        ),
        (
            "singles:6",
            &[],
            "space \"singles:6\": no variant is given to apply it to, such as \"standard\"",
        ),
        (
            " , ",
            standard,
            "the space is empty: it takes rules strings or forms such as \"singles:6\"",
        ),
    ] {
        assert_eq!(message(text, variants), wanted);
    }
}

#[test]
fn a_space_has_a_largest_size() {
    let mixes: Vec<String> = (1..=6)
        .flat_map(|t| (1..=6).flat_map(move |z| (1..=3).map(move |d| format!("T{t}Z{z}D{d}"))))
        .take(101)
        .collect();
    let grid = |mixes: &[String]| format!("grid:{}", mixes.join(","));
    assert_eq!(listed(&[&grid(&mixes[..100])], &["standard"]).len(), MOST_RULES);
    let error = message(&grid(&mixes), &["standard"]);
    assert!(error.ends_with("with it there are more than 10000 rules strings"), "{error}");
}
