//! Label selectors, by equality and by set, as they are written in a query.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Rejection, label_parser};

/// All requirements must hold; without any, everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) label: String,
    pub(crate) test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Exists,
    Missing,
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`, by the grammar of apimachinery.
    ///
    /// # Errors
    ///
    /// 400, as kube-apiserver answers.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let requirements = label_parser::parse(text).map_err(|why| {
            let message = format!("unable to parse requirement: label selector {text:?}: {why}");
            Rejection::bad_request(message)
        })?;
        Ok(Self(requirements))
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
                Test::Greater(bound) => integer(value).is_some_and(|value| value > *bound),
                Test::Less(bound) => integer(value).is_some_and(|value| value < *bound),
            }
        })
    }

    /// True if everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The value as an integer; `None` if it is none, which no comparison meets.
fn integer(value: Option<&String>) -> Option<i64> {
    value.and_then(|value| value.parse().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            "a>0",
            "a<2",
            "b notin (),!b",
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
            "a>1",
            "a<1",
            "b>0",
            "a in ()",
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
    }

    #[test]
    fn every_text_apimachinery_parses_is_parsed() {
        for text in [
            "",
            " ",
            "x=a,y=b,z=c",
            "x!=a,y=b",
            "x=",
            "x= ",
            "x=,z= ",
            "x= ,z= ",
            "x==a",
            "x ==a",
            "\tx\r\n=\ta",
            "!x",
            "! x",
            "x>1",
            "x>1,z<5",
            "x >1, z< 5",
            "x in ()",
            "x in (,)",
            "x in (a,)",
            "x in (,a)",
            "x in (a,,b)",
            "x in(a)",
            "x notin (a,b),y",
            "in",
            "notin",
            "in in (in, notin)",
            "notin notin (in)",
            "x=in",
            "example.com/x=a",
            "a.b-c_D=A.b-c_D",
            "x,x",
        ] {
            let parsed = LabelSelector::parse(text);
            assert!(parsed.is_ok(), "{text:?}: {parsed:?}");
        }
    }

    #[test]
    fn every_text_apimachinery_refuses_is_refused_with_400() {
        let long = "x".repeat(64);
        let domain = format!("{}/x", "x".repeat(254));
        for text in [
            ",",
            ",a",
            "a,",
            "a,,b",
            "a==,,b",
            "a=1,",
            "a b",
            "x=a||y=b",
            "x==a==b",
            "x===a",
            "x=a b",
            "!x=a",
            "!",
            "!!x",
            "!x in (a)",
            "=1",
            "==",
            "x<a",
            "x>",
            "x>1.5",
            "x>-1",
            "x>=1",
            "x>9223372036854775808",
            "a in",
            "a in 1",
            "a in (1",
            "a in 1)",
            "a in (1 2)",
            "a in (=)",
            "a in ((1))",
            "a notin",
            "a notin b",
            "a (1)",
            "()",
            "x/y/z",
            "/x",
            "x/",
            "X.com/x",
            "-x",
            "x-",
            "x=-a",
            "x=a-",
            "x=a/b",
            "x in (a b)",
            "x in (-a)",
            "x=a&b",
            "ü=a",
            "x=ü",
            &long,
            &format!("x={long}"),
            &domain,
        ] {
            let refused = LabelSelector::parse(text).map_err(|error| error.code);
            assert_eq!(refused, Err(400), "{text:?}");
        }
    }

    /// A key or a value, with `in` and `notin` among them.
    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("in".to_owned()),
            Just("notin".to_owned()),
            "[a-z0-9]([-a-zA-Z0-9_.]{0,5}[a-z0-9])?",
        ]
    }

    /// A requirement, and one way to write it.
    fn written() -> impl Strategy<Value = (Requirement, Vec<String>)> {
        let test = prop_oneof![
            Just(Test::Exists),
            Just(Test::Missing),
            prop::collection::btree_set(word(), 1..4).prop_map(Test::In),
            prop::collection::btree_set(word(), 1..4).prop_map(Test::NotIn),
            (0..i64::MAX).prop_map(Test::Greater),
            (0..i64::MAX).prop_map(Test::Less),
        ];
        (word(), test).prop_map(|(label, test)| {
            let set = |operator: &str, values: &BTreeSet<String>| {
                let mut tokens = vec![label.clone(), operator.to_owned()];
                for (place, value) in values.iter().enumerate() {
                    tokens.push(if place == 0 { "(" } else { "," }.to_owned());
                    tokens.push(value.clone());
                }
                tokens.push(")".to_owned());
                tokens
            };
            let compared = |symbol: &str, bound: &i64| {
                vec![label.clone(), symbol.to_owned(), bound.to_string()]
            };
            let tokens = match &test {
                Test::Exists => vec![label.clone()],
                Test::Missing => vec!["!".to_owned(), label.clone()],
                Test::In(values) => set("in", values),
                Test::NotIn(values) => set("notin", values),
                Test::Greater(bound) => compared(">", bound),
                Test::Less(bound) => compared("<", bound),
            };
            (Requirement { label, test }, tokens)
        })
    }

    proptest! {
        #[test]
        fn a_selector_that_is_written_is_read_again(
            parts in prop::collection::vec(written(), 1..4),
            space in "[ \t\r\n]{1,2}",
        ) {
            let (expected, texts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let texts: Vec<String> = texts.iter().map(|tokens| tokens.join(&space)).collect();
            let text = texts.join(",");
            prop_assert_eq!(LabelSelector::parse(&text), Ok(LabelSelector(expected)), "{}", text);
        }

        #[test]
        fn any_text_is_read_or_refused_with_400(text in "([ab1=!(),<> ü-]|in|notin){0,12}") {
            let code = LabelSelector::parse(&text).map_or_else(|error| error.code, |_| 200);
            prop_assert!(code == 200 || code == 400);
            let has_empty_requirement = text.starts_with(',') || text.ends_with(',');
            prop_assert!(!(code == 200 && has_empty_requirement), "{}", text);
        }
    }
}
