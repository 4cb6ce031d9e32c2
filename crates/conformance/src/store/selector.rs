//! Label selectors as text. The facade takes kube's type, which has no parser.

use kube_core::{Expression, Selector};

/// Reads `l=x,m!=y,n,!o,p in (a,b),q notin (c)`; `everything` and `nothing` are what they say.
pub(super) fn read_selector(words: &[String]) -> Option<Selector> {
    let text = words.join(" ");
    match text.as_str() {
        "" | "everything" => return Some(Selector::default()),
        // kube has no selector of nothing; one of no values is that.
        "nothing" => return Some(Expression::In("l".to_owned(), [].into()).into()),
        _ => {}
    }
    let requirements = split_outside_brackets(&text);
    requirements.into_iter().map(requirement).collect()
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

fn requirement(text: &str) -> Option<Expression> {
    let text = text.trim();
    let values = |list: &str| {
        let inner = list.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inner.split(',').map(str::to_owned).collect())
    };
    if let Some((name, list)) = text.split_once(" notin ") {
        return Some(Expression::NotIn(name.to_owned(), values(list)?));
    }
    if let Some((name, list)) = text.split_once(" in ") {
        return Some(Expression::In(name.to_owned(), values(list)?));
    }
    if let Some((name, value)) = text.split_once("!=") {
        return Some(Expression::NotEqual(name.to_owned(), value.to_owned()));
    }
    if let Some((name, value)) = text.split_once('=') {
        let value = value.trim_start_matches('=');
        return Some(Expression::Equal(name.to_owned(), value.to_owned()));
    }
    Some(match text.strip_prefix('!') {
        Some(name) => Expression::DoesNotExist(name.to_owned()),
        None => Expression::Exists(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_operators_are_read() {
        let text = "l=x,m!=y,n,!o,p in (a,b),q notin (c),r==z";
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let selector = read_selector(&words).expect("well formed");
        let written = "l=x,m!=y,n,!o,p in (a,b),q notin (c),r=z";
        assert_eq!(selector.to_string(), written);
        assert!(read_selector(&["everything".to_owned()]).is_some_and(|all| all.selects_all()));
    }
}
