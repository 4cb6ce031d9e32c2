//! What names, keys of labels and values of labels may look like, as in apimachinery's validation.

/// The longest name of a label, and the longest value.
const LONGEST: usize = 63;

/// The longest subdomain.
const LONGEST_SUBDOMAIN: usize = 253;

/// Whether this is a key of a label: a name, or a subdomain, a slash and a name.
pub(crate) fn is_key(text: &str) -> bool {
    match text.split_once('/') {
        None => is_name(text),
        Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
    }
}

/// Whether this is a value of a label, which may be empty.
pub(crate) fn is_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

/// Whether this is a subdomain as of RFC 1123, in lower case.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| is_framed(label, is_plain, b"-");
    text.len() <= LONGEST_SUBDOMAIN && text.split('.').all(is_label)
}

fn is_name(text: &str) -> bool {
    text.len() <= LONGEST && is_framed(text, |byte| byte.is_ascii_alphanumeric(), b"-_.")
}

/// Whether this begins and ends with plain bytes, and has nothing but those and `others` between.
fn is_framed(text: &str, is_plain: impl Fn(u8) -> bool, others: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().into_iter().chain(bytes.last());
    !bytes.is_empty()
        && ends.copied().all(&is_plain)
        && bytes
            .iter()
            .all(|byte| is_plain(*byte) || others.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_those_of_kubernetes() {
        let (longest, longer) = ("x".repeat(63), "x".repeat(64));
        for key in ["a", "A_b.c-9", "example.com/a", "a/a", &longest] {
            assert!(is_key(key), "{key}");
        }
        for key in [
            "", "/a", "a/", "a/b/c", "-a", "a-", "E.com/a", "a..b/c", &longer,
        ] {
            assert!(!is_key(key), "{key}");
        }
        assert!(is_value("") && is_value("A.b") && is_value(&longest));
        assert!(!is_value("a/b") && !is_value("_a") && !is_value(&longer));
    }

    #[test]
    fn each_label_of_a_subdomain_is_one() {
        for name in ["a", "a.b-c.0", "0"] {
            assert!(is_subdomain(name), "{name}");
        }
        for name in ["", ".", "a.", "a..b", "a.-b", "A", "a_b", &"x".repeat(254)] {
            assert!(!is_subdomain(name), "{name}");
        }
    }
}
