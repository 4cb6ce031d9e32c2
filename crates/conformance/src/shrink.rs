//! Makes a scenario as small as it can be while it still shows a difference.

use crate::scenario::Scenario;

/// The smallest scenario found for which `still` holds, by leaving out steps: halves first, then
/// ever smaller pieces, until no single step can go.
///
/// `scenario` itself must satisfy `still`. It is asked at most `attempts` times.
pub fn shrink(
    scenario: &Scenario,
    attempts: usize,
    mut still: impl FnMut(&Scenario) -> bool,
) -> Scenario {
    let mut best = scenario.clone();
    let mut asked = 0;
    let mut piece = best.steps.len().div_ceil(2).max(1);
    loop {
        let mut progress = false;
        let mut start = 0;
        while start < best.steps.len() && asked < attempts {
            let mut smaller = best.clone();
            let end = (start + piece).min(best.steps.len());
            smaller.steps.drain(start..end);
            asked += 1;
            if still(&smaller) {
                best = smaller;
                progress = true;
            } else {
                start = end;
            }
        }
        if asked >= attempts || (piece == 1 && !progress) {
            return best;
        }
        if !progress {
            piece = piece.div_ceil(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Step;

    #[test]
    fn only_what_matters_stays() {
        let steps = (0..20)
            .map(|n| Step::new("step", [n.to_string()]))
            .collect();
        let scenario = Scenario {
            name: "x".to_owned(),
            covers: Vec::new(),
            settings: Vec::new(),
            steps,
        };
        let has = |s: &Scenario, n: &str| s.steps.iter().any(|step| step.args == [n]);
        let small = shrink(&scenario, 1000, |s| has(s, "3") && has(s, "17"));
        let left: Vec<&str> = small
            .steps
            .iter()
            .map(|step| step.args[0].as_str())
            .collect();
        assert_eq!(left, ["3", "17"]);
    }
}
