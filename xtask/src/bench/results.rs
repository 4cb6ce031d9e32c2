//! What was measured, by trial and figure, over all rounds.

use std::collections::BTreeMap;

use super::trial::Metrics;

/// All figures, and what there is none of.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// In the order in which they first ran.
    names: Vec<&'static str>,
    values: BTreeMap<&'static str, BTreeMap<String, Vec<f64>>>,
    skipped: BTreeMap<&'static str, String>,
    failed: Vec<(&'static str, String)>,
}

/// The middle of what was measured, and how far it spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Results {
    pub(super) fn add(&mut self, name: &'static str, metrics: Metrics) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
        let values = self.values.entry(name).or_default();
        for (figure, value) in metrics {
            values.entry(figure).or_default().push(value);
        }
    }

    pub(super) fn skip(&mut self, name: &'static str, why: &str) {
        self.skipped.insert(name, why.to_owned());
    }

    pub(super) fn fail(&mut self, name: &'static str, why: String) {
        self.failed.push((name, why));
    }

    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    pub(super) fn failed(&self) -> &[(&'static str, String)] {
        &self.failed
    }

    pub(super) fn skipped(&self) -> &BTreeMap<&'static str, String> {
        &self.skipped
    }

    pub(super) fn names(&self) -> &[&'static str] {
        &self.names
    }

    pub(super) fn values_of(&self, name: &str) -> Option<&BTreeMap<String, Vec<f64>>> {
        self.values.get(name)
    }

    /// One figure, if it was measured at all.
    pub(super) fn spread(&self, name: &str, figure: &str) -> Option<Spread> {
        let mut values = self.values.get(name)?.get(figure)?.clone();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Spread {
            median,
            least,
            most,
        })
    }

    /// The median of one figure.
    pub(super) fn median(&self, name: &str, figure: &str) -> Option<f64> {
        self.spread(name, figure).map(|spread| spread.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_all_rounds() {
        let mut results = Results::default();
        for value in [9.0, 1.0, 2.0] {
            results.add("a", Metrics::from([("x".to_owned(), value)]));
        }
        let wanted = Spread {
            median: 2.0,
            least: 1.0,
            most: 9.0,
        };
        assert_eq!(results.spread("a", "x"), Some(wanted));
        results.add("a", Metrics::from([("x".to_owned(), 4.0)]));
        assert_eq!(results.median("a", "x"), Some(3.0));
        assert_eq!(results.median("a", "y"), None);
    }
}
