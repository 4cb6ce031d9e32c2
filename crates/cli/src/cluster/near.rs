//! Names that are nearly the one that was written.

/// The candidates nearest to `name`, best first, at most `limit`; each once.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((closeness(&name, &candidate.to_lowercase())?, candidate)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(limit)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// Small is near; `None` is too far to be meant.
fn closeness(name: &str, candidate: &str) -> Option<usize> {
    let distance = edits(name, candidate);
    let allowed = (name.chars().count() / 3).max(1);
    if distance <= allowed {
        return Some(distance);
    }
    // Half a word, as `deployment` without its `s` would be a distance, but `deploym` is not.
    let is_part = name.len() >= 3 && candidate.contains(name);
    is_part.then_some(allowed + 1)
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("pods", "pod", 1),
            ("sdop", "pods", 4),
        ] {
            assert_eq!(edits(a, b), expected, "{a} {b}");
            assert_eq!(edits(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn mistakes_are_found_and_strangers_are_not() {
        let names = ["pods", "nodes", "deployments", "daemonsets", "secrets"];
        assert_eq!(nearest("podz", names, 3), ["pods"]);
        assert_eq!(nearest("PODS", names, 3), ["pods"]);
        assert_eq!(nearest("deploymnets", names, 3), ["deployments"]);
        assert_eq!(nearest("deploym", names, 3), ["deployments"]);
        assert!(nearest("unicorns", names, 3).is_empty());
    }
}
