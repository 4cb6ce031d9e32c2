//! Lists of the history: which state, which page, and when neither can be had.
//!
//! The rules are those of kube-apiserver's table of `resourceVersion`, `resourceVersionMatch`,
//! `limit` and `continue`, with one difference: a version that is ahead is refused at once, not
//! after three seconds.

use crate::{Cluster, ContinueToken, Object, Rejection, ResourceId, Selection, collection::key_of};

/// What a list asks for, in the words of its query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListOptions {
    /// Namespace and selectors.
    pub selection: Selection,
    /// `resourceVersion`: empty, `0` or a version.
    pub version: String,
    /// `resourceVersionMatch`: `Exact` or `NotOlderThan`.
    pub version_match: Option<String>,
    /// `limit`; `None` or 0 for everything.
    pub limit: Option<usize>,
    /// `continue`
    pub continue_token: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listing {
    /// The objects, ordered by namespace and name.
    pub items: Vec<Object>,
    /// The version of the state they were taken from.
    pub version: u64,
    /// Where to go on, unless this is the last page.
    pub continue_token: Option<String>,
    /// How many are left, if there are any and no selector hides the number.
    pub remaining: Option<usize>,
    /// Why this state was chosen, for the log.
    pub why: String,
}

/// Which state is listed, and from where.
struct Start {
    version: u64,
    after: Option<String>,
    why: String,
}

impl Cluster {
    /// Lists one page.
    ///
    /// # Errors
    ///
    /// 410 for a state or token below the compaction, 504 for a version ahead of the server's,
    /// 400 or 422 for options that do not go together.
    pub fn list(&self, id: ResourceId, options: &ListOptions) -> Result<Listing, Rejection> {
        let start = self.start_of_list(id, options)?;
        let limit = options
            .limit
            .filter(|limit| *limit > 0)
            .map_or(usize::MAX, |limit| {
                limit.min(self.page_limit.unwrap_or(limit))
            });
        let collection = self.collection(id);
        let mut objects = collection.at(start.version, start.after.as_deref(), &options.selection);
        let items: Vec<Object> = objects.by_ref().take(limit).cloned().collect();
        let left = if items.len() == limit {
            objects.count()
        } else {
            0
        };
        let last = items.last().filter(|_| left > 0);
        let token = last.map(|last| ContinueToken::new(start.version, key_of(last)).to_string());
        let is_counted = options.selection.labels.is_empty() && options.selection.fields.is_empty();
        Ok(Listing {
            items,
            version: start.version,
            continue_token: token,
            remaining: (left > 0 && is_counted).then_some(left),
            why: start.why,
        })
    }

    fn start_of_list(&self, id: ResourceId, options: &ListOptions) -> Result<Start, Rejection> {
        if let Some(token) = options
            .continue_token
            .as_deref()
            .filter(|token| !token.is_empty())
        {
            return self.start_of_continuation(id, token, options);
        }
        let is_paged = options.limit.is_some_and(|limit| limit > 0);
        let latest = |why: String| Start {
            version: self.version(),
            after: None,
            why,
        };
        match (options.version.as_str(), options.version_match.as_deref()) {
            ("", None) => Ok(latest("the latest state".to_owned())),
            ("", Some(_)) => {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                Err(Rejection::invalid_option("resourceVersionMatch", why))
            }
            ("0", None | Some("NotOlderThan")) => Ok(latest(
                "any state was asked for; this is the latest".to_owned(),
            )),
            ("0", Some("Exact")) => {
                let why = "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"";
                Err(Rejection::invalid_option("resourceVersionMatch", why))
            }
            (text, choice @ (None | Some("Exact" | "NotOlderThan"))) => {
                let version = self.reached(parse_version(text)?)?;
                let is_exact = choice == Some("Exact") || (choice.is_none() && is_paged);
                if !is_exact {
                    return Ok(latest(format!(
                        "the latest state, not older than {version}"
                    )));
                }
                self.not_expired(id, version)?;
                Ok(Start {
                    version,
                    after: None,
                    why: format!("exactly the state at {version}"),
                })
            }
            (_, Some(other)) => {
                let why = format!("unsupported value {other:?}: use Exact or NotOlderThan");
                Err(Rejection::invalid_option("resourceVersionMatch", &why))
            }
        }
    }

    fn start_of_continuation(
        &self,
        id: ResourceId,
        token: &str,
        options: &ListOptions,
    ) -> Result<Start, Rejection> {
        if options.version_match.is_some() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            return Err(Rejection::invalid_option("resourceVersionMatch", why));
        }
        if !matches!(options.version.as_str(), "" | "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(Rejection::bad_request(message));
        }
        let token: ContinueToken = token.parse()?;
        let Some(version) = token.version() else {
            let why = "a continuation that is not consistent with its first page".to_owned();
            let after = Some(token.into_after());
            return Ok(Start {
                version: self.version(),
                after,
                why,
            });
        };
        if self.not_expired(id, version).is_err() || version > self.version() {
            let token = ContinueToken::inconsistent(token.into_after());
            return Err(Rejection::continue_expired(token.to_string()));
        }
        let why = format!("a continuation of the state at {version}");
        Ok(Start {
            version,
            after: Some(token.into_after()),
            why,
        })
    }

    /// Refuses a version that has not been reached yet.
    // FM-03
    pub(crate) fn reached(&self, version: u64) -> Result<u64, Rejection> {
        if version > self.version() {
            return Err(Rejection::too_large(version, self.version()));
        }
        Ok(version)
    }

    /// Refuses a version the history does not reach back to.
    // CLU-2
    pub(crate) fn not_expired(&self, id: ResourceId, version: u64) -> Result<(), Rejection> {
        let oldest = self.oldest(id);
        if version < oldest {
            return Err(Rejection::expired(version, oldest));
        }
        Ok(())
    }
}

/// Reads a version from a query.
pub(crate) fn parse_version(text: &str) -> Result<u64, Rejection> {
    text.parse().map_err(|_| {
        let message = format!("Invalid value: {text:?}: resourceVersion is not a number");
        Rejection::bad_request(message)
    })
}
