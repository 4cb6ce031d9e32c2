//! A scenario: what happens, as data. Both sides read the same text.
//!
//! ```text
//! == a-delete-nobody-knows
//! covers DF-04 TestDeltaFIFO_enqueueingNoLister
//! set queue delta|in-order
//! delete a@3
//! pop
//! ```
//!
//! A file holds many. A line is a few words; the first says what it is, `#` begins a comment. A
//! setting with `|` stands for one scenario for each value.

use std::fmt;

/// One scenario of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Unique in its level. A variant carries its values: `name[delta]`.
    pub name: String,
    /// Its subject: ids of `docs/INVARIANTS.md`, and names of client-go's tests.
    pub covers: Vec<String>,
    /// The settings, in the order in which they were made.
    pub settings: Vec<(String, String)>,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What.
    pub verb: String,
    /// To what, and how.
    pub args: Vec<String>,
}

/// Text that is no scenario, or a step nobody understands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{scenario}: {message}: `{text}`")]
pub struct Malformed {
    /// Where.
    pub scenario: String,
    /// The first error in the text.
    pub message: String,
    /// The text.
    pub text: String,
}

impl Scenario {
    /// The value of a setting; the last one made counts.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Says that `step` makes no sense here.
    pub fn malformed(&self, message: &str, step: &Step) -> Malformed {
        Malformed {
            scenario: self.name.clone(),
            message: message.to_owned(),
            text: step.to_string(),
        }
    }

    /// One scenario for each combination of the values its settings leave open.
    pub fn variants(&self) -> Vec<Scenario> {
        let mut variants = vec![self.clone()];
        for (index, (_, value)) in self.settings.iter().enumerate() {
            if value.contains('|') {
                variants = variants
                    .iter()
                    .flat_map(|variant| value.split('|').map(|one| variant.with(index, one)))
                    .collect();
            }
        }
        variants
    }

    fn with(&self, setting: usize, value: &str) -> Scenario {
        let mut variant = self.clone();
        variant.settings[setting].1 = value.to_owned();
        variant.name = format!("{}[{value}]", variant.name);
        variant
    }
}

impl Step {
    /// A step.
    pub fn new<A: Into<String>>(verb: &str, args: impl IntoIterator<Item = A>) -> Self {
        Self {
            verb: verb.to_owned(),
            args: args.into_iter().map(Into::into).collect(),
        }
    }

    /// The value of `name=value` among the arguments.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut options = self.args.iter().filter_map(|arg| arg.split_once('='));
        options
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// Whether the bare word is among the arguments.
    pub fn has(&self, word: &str) -> bool {
        self.args.iter().any(|arg| arg == word)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.verb)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "== {}", self.name)?;
        if !self.covers.is_empty() {
            writeln!(f, "covers {}", self.covers.join(" "))?;
        }
        for (key, value) in &self.settings {
            writeln!(f, "set {key} {value}")?;
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// Reads a file of scenarios.
///
/// # Errors
///
/// [`Malformed`] names the first line that makes no sense.
pub fn parse_scenarios(text: &str) -> Result<Vec<Scenario>, Malformed> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(verb) = words.next() else { continue };
        let args: Vec<String> = words.collect();
        if verb == "==" {
            scenarios.push(begin(&scenarios, args, line)?);
            continue;
        }
        let malformed = |scenario: &str, message: &str| Malformed {
            scenario: scenario.to_owned(),
            message: message.to_owned(),
            text: line.to_owned(),
        };
        let Some(scenario) = scenarios.last_mut() else {
            return Err(malformed("", "a line before the first scenario"));
        };
        match (verb.as_str(), args.as_slice()) {
            ("covers", _) => scenario.covers.extend(args),
            ("set", [key, value]) => scenario.settings.push((key.clone(), value.clone())),
            ("set", _) => {
                return Err(malformed(
                    &scenario.name,
                    "a setting has a name and a value",
                ));
            }
            _ => scenario.steps.push(Step { verb, args }),
        }
    }
    Ok(scenarios)
}

fn begin(before: &[Scenario], args: Vec<String>, line: &str) -> Result<Scenario, Malformed> {
    let [name] = <[String; 1]>::try_from(args).map_err(|_| Malformed {
        scenario: String::new(),
        message: "a scenario has one word for a name".to_owned(),
        text: line.to_owned(),
    })?;
    if before.iter().any(|other| other.name == name) {
        return Err(Malformed {
            scenario: name,
            message: "a name is there twice".to_owned(),
            text: line.to_owned(),
        });
    }
    Ok(Scenario {
        name,
        covers: Vec::new(),
        settings: Vec::new(),
        steps: Vec::new(),
    })
}

/// Writes what [`parse_scenarios`] reads.
pub fn render_scenarios(scenarios: &[Scenario]) -> String {
    let texts: Vec<String> = scenarios.iter().map(Scenario::to_string).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = "== x\ncovers DF-04 TestX\nset queue delta|in-order\nadd a@1 label=x # why\n";
        let scenarios = parse_scenarios(text).expect("well formed");
        assert_eq!(
            parse_scenarios(&render_scenarios(&scenarios)),
            Ok(scenarios.clone())
        );
        let names: Vec<String> = scenarios[0]
            .variants()
            .into_iter()
            .map(|v| v.name)
            .collect();
        assert_eq!(names, ["x[delta]", "x[in-order]"]);
        assert_eq!(scenarios[0].steps[0].option("label"), Some("x"));
    }

    #[test]
    fn nonsense_is_named() {
        for text in ["add a@1", "== a b", "== a\n== a", "== a\nset queue"] {
            assert!(parse_scenarios(text).is_err(), "{text}");
        }
    }
}
