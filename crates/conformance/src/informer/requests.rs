//! Requests as traces have them.

/// Path and query: parameters sorted and decoded, what is drawn by chance or opaque masked.
pub(super) fn normal(request: &str) -> String {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<String> = pairs.map(pair).collect();
    pairs.sort();
    match pairs.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", pairs.join("&")),
    }
}

fn pair(pair: &str) -> String {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    match name {
        "timeoutSeconds" | "continue" => format!("{name}=*"),
        _ => format!("{}={}", decoded(name), decoded(value)),
    }
}

/// `%XX` and `+`, as a query has them.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| {
                    digit
                        .and_then(|digit| char::from(digit).to_digit(16))
                        .unwrap_or(0)
                });
                bytes.push(u8::try_from(digits[0] * 16 + digits[1]).unwrap_or(b'?'));
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_and_order_are_taken_out() {
        let request = "/api/v1/x?watch=true&timeoutSeconds=312&labelSelector=l%3Da+b";
        let expected = "/api/v1/x?labelSelector=l=a b&timeoutSeconds=*&watch=true";
        assert_eq!(normal(request), expected);
        assert_eq!(normal("/api/v1/x"), "/api/v1/x");
    }
}
