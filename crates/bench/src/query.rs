//! What a request asks for: a list, a page, a streaming list, a watch.

/// How pods are encoded in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// JSON, one event of a watch a line.
    Json,
    /// Protobuf, framed by length in a watch.
    Protobuf,
}

/// One question about pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Items from one on, at most so many.
    List {
        /// The first item.
        from: usize,
        /// The head of the page before, if there was one.
        since: Option<u64>,
        /// The size of the page; `None` is everything.
        limit: Option<usize>,
    },
    /// Changes after a version; `None` is now.
    Watch {
        /// The version.
        after: Option<u64>,
    },
    /// The pods as they are, each an event, a bookmark, and then changes.
    StreamingList,
}

/// Reads the query of a request for pods.
///
/// # Errors
/// When a number is none, in words for the caller.
pub fn question(query: &str) -> Result<Question, String> {
    let value = |name| parameter(query, name).filter(|value| !value.is_empty());
    let version = value("resourceVersion").map(number).transpose()?;
    if matches!(value("watch"), Some("true" | "1")) {
        if value("sendInitialEvents") == Some("true") {
            return Ok(Question::StreamingList);
        }
        let after = version.filter(|version| *version != 0);
        return Ok(Question::Watch { after });
    }
    let limit = value("limit").map(number).transpose()?;
    let limit = limit
        .filter(|limit| *limit != 0)
        .map(|limit| limit as usize);
    let (from, since) = match value("continue") {
        Some(token) => {
            let (from, since) = token.split_once('-').ok_or("not a token")?;
            (number(from)? as usize, Some(number(since)?))
        }
        None => (0, None),
    };
    // From its cache an API server answers in one page.
    let limit = limit.filter(|_| version != Some(0));
    Ok(Question::List { from, since, limit })
}

/// The token with which the next page is asked for.
pub fn token(from: usize, head: u64) -> String {
    format!("{from}-{head}")
}

/// One parameter as it was sent; nothing that is asked for here needs escapes.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

/// A parameter that is a number.
///
/// # Errors
/// When it is none.
pub fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

/// The encoding a client prefers, if it is at hand.
pub fn encoding(accept: &str, has_protobuf: bool) -> Encoding {
    let first = accept.split(',').next().unwrap_or_default();
    match first.contains("application/vnd.kubernetes.protobuf") && has_protobuf {
        true => Encoding::Protobuf,
        false => Encoding::Json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_whole_or_in_pages() {
        let whole = |query| {
            let list = Question::List {
                from: 0,
                since: None,
                limit: None,
            };
            question(query) == Ok(list)
        };
        assert!(whole("") && whole("limit=0"));
        assert!(whole("limit=500&resourceVersion=0"), "from the cache");
        let page = Question::List {
            from: 500,
            since: Some(1_000_000_009),
            limit: Some(500),
        };
        let token = token(500, 1_000_000_009);
        assert_eq!(question(&format!("limit=500&continue={token}")), Ok(page));
        assert!(question("limit=x").is_err());
    }

    #[test]
    fn watches_begin_at_a_version_or_with_everything() {
        let at = question("watch=true&resourceVersion=7&allowWatchBookmarks=true");
        assert_eq!(at, Ok(Question::Watch { after: Some(7) }));
        let now = question("watch=1&resourceVersion=");
        assert_eq!(now, Ok(Question::Watch { after: None }));
        let all = question("watch=true&sendInitialEvents=true&resourceVersion=0");
        assert_eq!(all, Ok(Question::StreamingList));
    }

    #[test]
    fn the_first_choice_decides_the_encoding() {
        let go = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(encoding(go, true), Encoding::Protobuf);
        assert_eq!(encoding(go, false), Encoding::Json);
        assert_eq!(encoding("application/json", true), Encoding::Json);
    }
}
