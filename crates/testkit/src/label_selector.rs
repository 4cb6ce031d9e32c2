//! Label selectors, by equality and by set, as they are written in a query.

use std::collections::BTreeMap;

use crate::Rejection;

/// All requirements must hold; without any, everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    label: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
}

impl LabelSelector {
    /// Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
    ///
    /// # Errors
    ///
    /// 400, as kube-apiserver answers.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let parts = split_outside_parentheses(text);
        let requirements = parts.into_iter().map(|part| requirement(part.trim(), text));
        requirements.collect::<Result<_, _>>().map(Self)
    }

    /// Whether these labels satisfy it.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels.get(&requirement.label);
            match &requirement.test {
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            }
        })
    }

    /// True if everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut inside = false;
    let parts = text.split(|letter| {
        match letter {
            '(' => inside = true,
            ')' => inside = false,
            _ => {}
        }
        letter == ',' && !inside
    });
    parts.filter(|part| !part.trim().is_empty()).collect()
}

fn requirement(part: &str, whole: &str) -> Result<Requirement, Rejection> {
    let (label, test) = if let Some(label) = part.strip_prefix('!') {
        (label, Test::Missing)
    } else if let Some((label, values)) = part.split_once(" notin ") {
        (label, Test::NotIn(set(values, whole)?))
    } else if let Some((label, values)) = part.split_once(" in ") {
        (label, Test::In(set(values, whole)?))
    } else if let Some((label, value)) = part.split_once("!=") {
        (label, Test::NotIn(vec![value.trim().to_owned()]))
    } else if let Some((label, value)) = part.split_once("==").or(part.split_once('=')) {
        (label, Test::In(vec![value.trim().to_owned()]))
    } else {
        (part, Test::Exists)
    };
    let label = label.trim();
    if label.is_empty() || label.contains(|letter: char| "=!()<> ".contains(letter)) {
        return Err(unreadable(whole));
    }
    Ok(Requirement {
        label: label.to_owned(),
        test,
    })
}

fn set(text: &str, whole: &str) -> Result<Vec<String>, Rejection> {
    let inner = text
        .trim()
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let inner = inner.ok_or_else(|| unreadable(whole))?;
    Ok(inner
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect())
}

fn unreadable(whole: &str) -> Rejection {
    Rejection::bad_request(format!(
        "unable to parse requirement: label selector {whole:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operator_means_what_kubernetes_says() {
        let labels = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let holds = [
            "",
            "a",
            "a=1",
            "a==1",
            "a!=2",
            "a in (0, 1)",
            "a notin (2)",
            "!b",
            "b!=1",
        ];
        let fails = [
            "b",
            "a=2",
            "a!=1",
            "a in (2,3)",
            "a notin (1)",
            "!a",
            "b=1",
            "a,b",
        ];
        for text in holds {
            assert!(
                LabelSelector::parse(text).unwrap().matches(&labels),
                "{text}"
            );
        }
        for text in fails {
            assert!(
                !LabelSelector::parse(text).unwrap().matches(&labels),
                "{text}"
            );
        }
        for text in ["a in 1", "=1", "a b", "a in (1"] {
            assert_eq!(LabelSelector::parse(text).unwrap_err().code, 400, "{text}");
        }
    }
}
