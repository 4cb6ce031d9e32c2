//! The list of accepted findings, which may only shrink.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;

/// Where the list is.
pub(super) const PATH: &str = "xtask/config/tidy-allow.txt";

/// One accepted rule in one file.
#[derive(Debug)]
struct Exception {
    line: usize,
    rule: String,
    path: String,
}

/// The accepted findings.
#[derive(Debug, Default)]
pub(super) struct AllowList(Vec<Exception>);

impl AllowList {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path);
        Self::parse(&text.with_context(|| format!("cannot read {}", path.display()))?)
    }

    fn parse(text: &str) -> Result<Self> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim()));
        let used = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let parse = |(line, content): (usize, &str)| {
            let (place, reason) = content.split_once(": ")?;
            let (rule, path) = place.split_once(' ')?;
            let exception = Exception {
                line,
                rule: rule.to_owned(),
                path: path.to_owned(),
            };
            (!reason.trim().is_empty()).then_some(exception)
        };
        used.map(|entry| {
            let problem = || format!("{PATH}:{}: not `RULE PATH: reason`", entry.0);
            parse(entry).with_context(problem)
        })
        .collect::<Result<_>>()
        .map(Self)
    }

    /// Leaves out what is accepted, and adds a finding for each exception that nothing needs.
    pub(super) fn apply(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let covers = |exception: &Exception, finding: &Finding| {
            exception.rule == finding.rule && exception.path == finding.path
        };
        let unused = |exception: &&Exception| !findings.iter().any(|one| covers(exception, one));
        let stale: Vec<Finding> = self.0.iter().filter(unused).map(Exception::stale).collect();
        let accepted = |finding: &Finding| self.0.iter().any(|one| covers(one, finding));
        let mut left: Vec<Finding> = findings
            .into_iter()
            .filter(|finding| !accepted(finding))
            .collect();
        left.extend(stale);
        left
    }
}

impl Exception {
    fn stale(&self) -> Finding {
        Finding {
            rule: "stale-exception",
            path: PATH.to_owned(),
            line: self.line,
            message: format!(
                "{} needs no exception from `{}` any more",
                self.path, self.rule
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &'static str, path: &str) -> Finding {
        Finding {
            rule,
            path: path.to_owned(),
            line: 1,
            message: String::new(),
        }
    }

    #[test]
    fn an_exception_covers_its_rule_in_its_file_only() {
        let list = AllowList::parse("# why\n\nfile-length a.rs: a table of data\n");
        let list = list.expect("the line is well formed");
        let here = finding("file-length", "a.rs");
        let elsewhere = finding("file-length", "b.rs");
        let other = finding("line-length", "a.rs");
        let left = list.apply(vec![here, elsewhere.clone(), other.clone()]);
        assert_eq!(left, [elsewhere, other]);
    }

    #[test]
    fn an_exception_that_nothing_needs_is_a_finding() {
        let list = AllowList::parse("file-length a.rs: a table of data");
        let left = list.expect("the line is well formed").apply(Vec::new());
        assert_eq!(left[0].rule, "stale-exception");
        assert_eq!(left[0].line, 1);
    }

    #[test]
    fn an_exception_without_a_reason_is_refused() {
        assert!(AllowList::parse("file-length a.rs").is_err());
        assert!(AllowList::parse("file-length a.rs:  ").is_err());
    }
}
