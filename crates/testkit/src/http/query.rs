//! The query of a request, decoded, and what lists and watches read from it.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    FieldSelector, LabelSelector, ListOptions, Rejection, Resource, Selection, feed::WatchOptions,
};

/// The pairs of a query; of a name that occurs twice the first counts, unless it is a list.
#[derive(Debug, Default)]
pub(super) struct Query(BTreeMap<String, Vec<String>>);

impl Query {
    pub(super) fn parse(query: &str) -> Self {
        let mut pairs: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.entry(decode(name)).or_default().push(decode(value));
        }
        Self(pairs)
    }

    /// A value that is there and not empty.
    fn get(&self, name: &str) -> Option<&str> {
        let first = self.all(name).first();
        first.map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All values of a name, the empty ones too.
    pub(super) fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Rejection> {
        match self.get(name) {
            None => Ok(None),
            Some("true" | "1" | "t" | "T" | "TRUE" | "True") => Ok(Some(true)),
            Some("false" | "0" | "f" | "F" | "FALSE" | "False") => Ok(Some(false)),
            Some(other) => Err(unreadable(name, other)),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u64>, Rejection> {
        let number = self
            .get(name)
            .map(|text| text.parse().map_err(|_| unreadable(name, text)));
        number.transpose()
    }

    pub(super) fn version(&self) -> String {
        self.owned("resourceVersion").unwrap_or_default()
    }

    pub(super) fn is_continuation(&self) -> bool {
        self.get("continue").is_some()
    }

    fn selection(
        &self,
        resource: &Resource,
        namespace: Option<String>,
    ) -> Result<Selection, Rejection> {
        let labels = self.get("labelSelector").unwrap_or_default();
        let fields = self.get("fieldSelector").unwrap_or_default();
        Ok(Selection {
            namespace,
            labels: LabelSelector::parse(labels)?,
            fields: FieldSelector::parse(fields, resource)?,
        })
    }

    pub(super) fn list_options(
        &self,
        resource: &Resource,
        namespace: Option<String>,
    ) -> Result<ListOptions, Rejection> {
        if self.get("sendInitialEvents").is_some() {
            let why = "sendInitialEvents is forbidden for list";
            return Err(Rejection::invalid_option("sendInitialEvents", why));
        }
        let limit = self
            .number("limit")?
            .and_then(|limit| usize::try_from(limit).ok());
        Ok(ListOptions {
            selection: self.selection(resource, namespace)?,
            version: self.version(),
            version_match: self.owned("resourceVersionMatch"),
            limit,
            continue_token: self.owned("continue"),
        })
    }

    pub(super) fn watch_options(
        &self,
        resource: &Resource,
        namespace: Option<String>,
    ) -> Result<WatchOptions, Rejection> {
        let timeout = self
            .number("timeoutSeconds")?
            .filter(|seconds| *seconds > 0);
        Ok(WatchOptions {
            selection: self.selection(resource, namespace)?,
            version: self.version(),
            version_match: self.owned("resourceVersionMatch"),
            bookmarks: self.flag("allowWatchBookmarks")?.unwrap_or(false),
            send_initial_events: self.flag("sendInitialEvents")?,
            timeout: timeout.map(Duration::from_secs),
        })
    }
}

fn unreadable(name: &str, value: &str) -> Rejection {
    Rejection::bad_request(format!("invalid value {value:?} of the parameter {name}"))
}

/// Undoes percent-encoding, and `+` for a space; what is not encoded well stays as it is.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|hex| std::str::from_utf8(hex).ok());
        let encoded = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], encoded) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded_and_checked() {
        let query = Query::parse("labelSelector=a%3Db%2Cc+in+%28d%29&limit=5&watch=1&x=%zz");
        assert_eq!(query.get("labelSelector"), Some("a=b,c in (d)"));
        assert_eq!(query.flag("watch"), Ok(Some(true)));
        assert_eq!(query.get("x"), Some("%zz"));
        let options = query.list_options(&Resource::pods(), None).unwrap();
        assert_eq!(options.limit, Some(5));
        let bad = Query::parse("limit=x&watch=maybe");
        assert_eq!(
            bad.list_options(&Resource::pods(), None).unwrap_err().code,
            400
        );
        assert_eq!(bad.flag("watch").unwrap_err().code, 400);
    }
}
