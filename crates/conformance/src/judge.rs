//! client-go, behind a pipe: a Go program that runs a scenario and writes its trace.
//!
//! One request for each line of its input, one answer for each line of its output, both JSON.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::level::Level;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// A running judge.
#[derive(Debug)]
pub struct Judge {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Why there is no judgement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// It did not start, or died.
    #[error("the judge is not there")]
    Gone(#[from] std::io::Error),
    /// It says something nobody understands.
    #[error("the judge says nonsense: `{line}`")]
    Nonsense {
        /// What it said.
        line: String,
        /// Why nobody understands it.
        source: serde_json::Error,
    },
    /// It cannot run the scenario.
    #[error("the judge refuses {scenario}: {message}")]
    Refused {
        /// Which.
        scenario: String,
        /// Why.
        message: String,
    },
}

#[derive(Serialize)]
struct Request<'a> {
    level: &'a str,
    scenario: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Trace(Vec<String>),
    Error(String),
}

impl Judge {
    /// Starts the program.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Gone`].
    pub fn start(program: &Path) -> Result<Self, JudgeError> {
        let mut child = Command::new(program)
            .args(["-test.run=^TestJudge$", "-test.timeout=0"])
            .env("INFORMER_JUDGE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or_else(|| std::io::Error::other("no output"))?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// What client-go does with `scenario`, which must be a variant.
    ///
    /// # Errors
    ///
    /// See [`JudgeError`].
    pub fn trace(&mut self, level: Level, scenario: &Scenario) -> Result<Trace, JudgeError> {
        let request = Request {
            level: level.name(),
            scenario: &scenario.to_string(),
        };
        self.lines(&scenario.name, &request).map(Trace::new)
    }

    /// Lets client-go begin a scenario against the server at `url`, in real time.
    ///
    /// # Errors
    ///
    /// See [`JudgeError`].
    pub fn begin_over_http(
        &mut self,
        level: Level,
        scenario: &Scenario,
        url: &str,
    ) -> Result<(), JudgeError> {
        let (level, text) = (level.name(), scenario.to_string());
        let request = serde_json::json!({"level": level, "scenario": text, "live": url});
        self.lines(&scenario.name, &request).map(drop)
    }

    /// Steps of that scenario, after the server has done its part of them: what was observed.
    ///
    /// # Errors
    ///
    /// See [`JudgeError`].
    pub fn step_over_http(
        &mut self,
        steps: &str,
        lives: &BTreeMap<String, u64>,
        expected: &str,
    ) -> Result<Vec<String>, JudgeError> {
        let request = serde_json::json!({"step": steps, "lives": lives, "expected": expected});
        self.lines(steps, &request)
    }

    /// The scenario is over.
    ///
    /// # Errors
    ///
    /// See [`JudgeError`].
    pub fn end_over_http(&mut self) -> Result<(), JudgeError> {
        self.lines("the end", &serde_json::json!({"end": true}))
            .map(drop)
    }

    fn lines(&mut self, what: &str, request: &impl Serialize) -> Result<Vec<String>, JudgeError> {
        match self.ask(request)? {
            Answer::Trace(lines) => Ok(lines),
            Answer::Error(message) => Err(JudgeError::Refused {
                scenario: what.to_owned(),
                message,
            }),
        }
    }

    fn ask(&mut self, request: &impl Serialize) -> Result<Answer, JudgeError> {
        let gone = || std::io::Error::other("it has ended");
        let mut line = serde_json::to_string(request).map_err(std::io::Error::from)?;
        line.push('\n');
        let input = self.input.as_mut().ok_or_else(gone)?;
        input.write_all(line.as_bytes())?;
        input.flush()?;
        line.clear();
        if self.output.read_line(&mut line)? == 0 {
            return Err(gone().into());
        }
        serde_json::from_str(&line).map_err(|source| JudgeError::Nonsense { line, source })
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It ends with its input. Nothing is owed to a judge that does not end well.
        self.input = None;
        drop(self.child.wait());
    }
}
