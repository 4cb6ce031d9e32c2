//! Rules for every text file, whatever its language.

use super::{Finding, TextFile};

/// Applies all rules of this module.
pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = trailing_space(file);
    findings.extend(open_ends(file));
    findings.extend(foreign_places(file));
    if file.path.ends_with(".md") {
        findings.extend(title(file));
    }
    findings
}

fn trailing_space(file: &TextFile) -> Vec<Finding> {
    file.lines()
        .filter(|(_, line)| line.ends_with([' ', '\t']))
        .map(|(number, _)| file.finding("trailing-space", number, "the line ends in white space"))
        .collect()
}

/// A task that no issue describes is forgotten.
fn open_ends(file: &TextFile) -> Vec<Finding> {
    let word = ["TO", "DO"].concat();
    let numbered = format!("{word}(#");
    let is_open = |line: &str| line.contains(&word) && !line.contains(&numbered);
    file.lines()
        .filter(|(_, line)| is_open(line))
        .map(|(number, _)| {
            file.finding(
                "open-end",
                number,
                format!("write {word}(#issue), or do it"),
            )
        })
        .collect()
}

/// Paths of one machine and names of registries do not belong in the tree.
fn foreign_places(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        for place in places().iter().filter(|place| mentions(line, place)) {
            let message = format!("names {place:?}, which is not everybody's");
            findings.push(file.finding("foreign-place", number, message));
        }
    }
    findings
}

/// The needles, put together here so that this file does not contain them.
fn places() -> [String; 10] {
    [
        ["crates", ".io"],
        ["proxy.", "golang.org"],
        ["npmjs", ".org"],
        ["pypi", ".org"],
        ["artifact", "ory"],
        ["jf", "rog"],
        ["/wo", "rk/"],
        ["/ro", "ot/"],
        ["/ho", "me/"],
        ["/Us", "ers/"],
    ]
    .map(|parts| parts.concat())
}

/// A path counts only where it begins; `framework/root/x` is no path of a machine's.
fn mentions(line: &str, place: &str) -> bool {
    let is_path = place.starts_with('/');
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !is_path || !before.is_some_and(|c| c.is_alphanumeric() || "-_.}$>*".contains(c))
    })
}

fn title(file: &TextFile) -> Vec<Finding> {
    let mut fenced = false;
    let mut titles = Vec::new();
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with("# ") {
            titles.push(number);
        }
    }
    match titles[..] {
        [_] => Vec::new(),
        [] => vec![file.finding("one-title", 0, "has no `# Title`")],
        [_, second, ..] => vec![file.finding("one-title", second, "has a second `# Title`")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        let file = TextFile::fixture(path, text);
        check(&file)
            .into_iter()
            .map(|finding| (finding.rule, finding.line))
            .collect()
    }

    #[test]
    fn white_space_at_the_end_of_a_line_is_found() {
        assert_eq!(
            rules("a.toml", "a = 1\nb = 2 \n\t\n"),
            [("trailing-space", 2), ("trailing-space", 3)]
        );
    }

    #[test]
    fn a_task_needs_an_issue() {
        let word = ["TO", "DO"].concat();
        assert_eq!(
            rules("a.rs", &format!("// {word}: later\n")),
            [("open-end", 1)]
        );
        assert!(rules("a.rs", &format!("// {word}(#12): later\n")).is_empty());
    }

    #[test]
    fn registries_and_paths_of_one_machine_are_found() {
        for place in places() {
            assert_eq!(
                rules("a.rs", &format!("// see {place}x\n")),
                [("foreign-place", 1)]
            );
        }
        assert!(rules("a.rs", &format!("// see base{}x\n", places()[7])).is_empty());
        assert!(rules("a.rs", &format!("// see ${{dir}}{}x\n", places()[7])).is_empty());
    }

    #[test]
    fn a_page_has_one_title_outside_code() {
        assert!(rules("a.md", "# One\n```sh\n# a comment\n```\n## Two\n").is_empty());
        assert_eq!(rules("a.md", "# One\n\n# Two\n"), [("one-title", 3)]);
        assert_eq!(rules("a.md", "## Two\n"), [("one-title", 0)]);
        assert!(rules("a.txt", "no title\n").is_empty());
    }
}
