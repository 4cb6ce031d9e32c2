//! The continue token of a paged list: a version and the last key, opaque to clients.
//!
//! Written as hexadecimal, so that nobody is tempted to read it and no query needs escaping.

use std::{fmt, str::FromStr};

use crate::Rejection;

/// Where a paged list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    version: Option<u64>,
    after: String,
}

impl ContinueToken {
    /// Behind this key, in the state of this version.
    pub fn new(version: u64, after: String) -> Self {
        Self {
            version: Some(version),
            after,
        }
    }

    /// Behind this key, in whatever state there is then.
    // FM-06
    pub fn inconsistent(after: String) -> Self {
        Self {
            version: None,
            after,
        }
    }

    /// The state the list is about; `None` for an inconsistent continuation.
    pub fn version(&self) -> Option<u64> {
        self.version
    }

    pub(crate) fn into_after(self) -> String {
        self.after
    }
}

impl fmt::Display for ContinueToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self
            .version
            .map_or_else(|| "-".to_owned(), |version| version.to_string());
        let plain = format!("{version}:{}", self.after);
        plain.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ContinueToken {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let refused = || Rejection::bad_request("continue key is not valid");
        let byte = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        let plain = bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(refused)?;
        let (version, after) = plain.split_once(':').ok_or_else(refused)?;
        let version = match version {
            "-" => None,
            digits => Some(digits.parse().map_err(|_| refused())?),
        };
        Ok(Self {
            version,
            after: after.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_journey_and_forgeries_do_not() {
        for token in [
            ContinueToken::new(7, "x/a".into()),
            ContinueToken::inconsistent("x/b".into()),
        ] {
            assert_eq!(token.to_string().parse(), Ok(token));
        }
        for forged in ["zz", "1", "313a61ff", "é", "abc"] {
            assert_eq!(
                forged.parse::<ContinueToken>().unwrap_err().code,
                400,
                "{forged}"
            );
        }
    }
}
