//! Cuts the body of a list into its items as it arrives.
//!
//! Pure: bytes in, items out, no I/O. It holds the items that were not taken yet and the frame: the
//! text outside the items, which is a complete list without items. A truncated list is therefore
//! found when the frame is parsed. Items are cut by brackets alone and are not parsed here.

// FM-10

use bytes::{Buf, Bytes};

use crate::{
    decode::json_text::trim_start, decode::separator::SeparatorFinder, list::items::Items,
};

/// The longest frame. Metadata of a list is short.
pub(super) const FRAME_LIMIT: usize = 1024 * 1024;
const ITEMS: &[u8] = b"\"items\"";

/// Why a body cannot be cut into items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutError {
    /// There is something other than items in the array.
    Malformed,
    /// One item is longer than the limit.
    ItemTooLong,
    /// The text outside the items is too long.
    FrameTooLong,
}

/// Cuts a body that is pushed piece by piece.
#[derive(Debug)]
pub(crate) struct Cutter {
    frame: Vec<u8>,
    /// The position of the items in the frame, once they have begun.
    opening: Option<usize>,
    /// Scans the frame. It stops where the items begin, and goes on behind them.
    scan: FrameScan,
    /// Finds the end of an item.
    finder: SeparatorFinder,
    in_items: bool,
    cut: Items,
    after_comma: bool,
    item_limit: usize,
}

/// The state of the scan of the frame.
#[derive(Debug, Default)]
struct FrameScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The position of the last string.
    string: usize,
    after: After,
}

/// The part of `"items":[` that was read.
#[derive(Debug, Default, PartialEq, Eq)]
enum After {
    #[default]
    Nothing,
    Key,
    Colon,
}

impl Cutter {
    /// A cutter for items of up to `item_limit` bytes.
    pub(crate) fn new(item_limit: usize) -> Self {
        Self {
            frame: Vec::new(),
            opening: None,
            scan: FrameScan::default(),
            finder: SeparatorFinder::default(),
            in_items: false,
            cut: Items::default(),
            after_comma: false,
            item_limit,
        }
    }

    /// Takes the next piece of the body.
    pub(crate) fn push(&mut self, mut piece: Bytes) -> Result<(), CutError> {
        while !piece.is_empty() {
            let used = match self.in_items {
                true => self.push_item(&piece)?,
                false => self.push_frame(&piece)?,
            };
            piece.advance(used);
        }
        Ok(())
    }

    /// Whether a complete item was not taken.
    pub(crate) fn has_items(&self) -> bool {
        self.cut.has_complete()
    }

    /// Takes the complete items.
    pub(crate) fn take(&mut self) -> Vec<Bytes> {
        self.cut.take()
    }

    /// The frame before the items, closed as an empty list. Returned once, when the items begin.
    pub(crate) fn take_head(&mut self) -> Option<Vec<u8>> {
        let opening = self.opening.take()?;
        Some([&self.frame[..opening], b"]}"].concat())
    }

    /// The frame, after the whole body was pushed. It is complete JSON if the body was.
    pub(crate) fn into_frame(self) -> Vec<u8> {
        planted!(CutListIsComplete => if self.in_items {
            return [&self.frame[..], b"]}"].concat();
        });
        self.frame
    }

    fn push_frame(&mut self, piece: &[u8]) -> Result<usize, CutError> {
        for (index, byte) in piece.iter().enumerate() {
            if self.frame.len() == FRAME_LIMIT {
                return Err(CutError::FrameTooLong);
            }
            self.frame.push(*byte);
            if self.scan.items_begin(&self.frame, *byte) {
                self.opening.get_or_insert(self.frame.len());
                self.in_items = true;
                return Ok(index + 1);
            }
        }
        Ok(piece.len())
    }

    fn push_item(&mut self, piece: &Bytes) -> Result<usize, CutError> {
        let end = self.finder.find(piece);
        let text = &piece[..end.unwrap_or(piece.len())];
        // White space before an item must not count as an item.
        let text = match self.cut.begun_bytes() {
            0 => trim_start(text),
            _ => text,
        };
        if self.cut.begun_bytes() + text.len() > self.item_limit {
            return Err(CutError::ItemTooLong);
        }
        self.cut.extend(piece.slice_ref(text));
        let Some(end) = end else {
            return Ok(piece.len());
        };
        self.end_item(piece[end])?;
        Ok(end + 1)
    }

    fn end_item(&mut self, separator: u8) -> Result<(), CutError> {
        let is_empty = self.cut.begun_bytes() == 0;
        if !is_empty {
            self.cut.end_item();
        }
        let goes_on = separator == b',';
        // An empty item is legal in `[]` only.
        if is_empty && (goes_on || self.after_comma) || separator == b'}' {
            return Err(CutError::Malformed);
        }
        self.after_comma = goes_on;
        self.in_items = goes_on;
        if !goes_on {
            self.frame.push(separator);
        }
        Ok(())
    }
}

impl FrameScan {
    /// Takes the last byte of the frame. Returns true if it opens the items.
    fn items_begin(&mut self, frame: &[u8], byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    let is_key = self.depth == 1 && &frame[self.string..] == ITEMS;
                    self.after = if is_key { After::Key } else { After::Nothing };
                }
                _ => {}
            }
            return false;
        }
        if byte.is_ascii_whitespace() {
            return false;
        }
        let after = std::mem::take(&mut self.after);
        match byte {
            b'"' => {
                self.in_string = true;
                self.string = frame.len() - 1;
            }
            b':' if after == After::Key => self.after = After::Colon,
            b'[' if after == After::Colon => return true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    type Cut = Result<(Vec<String>, String), CutError>;

    fn cut(body: &[u8], cuts: &[usize], item_limit: usize) -> Cut {
        let mut cutter = Cutter::new(item_limit);
        let mut items = Vec::new();
        let mut sizes = cuts.iter().copied().cycle();
        let mut rest = body;
        while !rest.is_empty() {
            let size = sizes.next().unwrap_or(rest.len()).clamp(1, rest.len());
            cutter.push(Bytes::copy_from_slice(&rest[..size]))?;
            rest = &rest[size..];
            // Whether items are taken early or late must not matter either.
            if size % 2 == 0 {
                items.extend(cutter.take().iter().map(text));
            }
        }
        items.extend(cutter.take().iter().map(text));
        Ok((items, text(cutter.into_frame())))
    }

    fn text(bytes: impl AsRef<[u8]>) -> String {
        String::from_utf8_lossy(bytes.as_ref()).trim().to_owned()
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            prop::sample::select(vec!["", "items", "a\"],[{\\", "é,}", "\n\"\\"])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let keys = prop::sample::select(vec!["items", "metadata", "a b", "]\""]);
            let object = prop::collection::vec((keys, inner.clone()), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::from),
                object.prop_map(|members| {
                    let members = members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value));
                    Value::Object(members.collect())
                }),
            ]
        })
    }

    proptest! {
        /// FM-10, FM-53: whatever the pieces and the order of the fields, the items are those a
        /// parser finds, and the frame is the list without them.
        #[test]
        fn items_and_frame_are_those_of_the_list(
            before in json(), after in json(), pretty in any::<bool>(),
            items in prop::collection::vec(json(), 0..6),
            cuts in prop::collection::vec(1_usize..120, 0..5),
        ) {
            let print = |value: &Value| match pretty {
                true => serde_json::to_string_pretty(value),
                false => serde_json::to_string(value),
            }.expect("values are JSON");
            let list = |items: &[Value]| format!(
                "{{\"a\":{},\"items\" : {},\"z\":{}}}",
                print(&before), print(&Value::from(items)), print(&after)
            );
            let (found, frame) = cut(list(&items).as_bytes(), &cuts, usize::MAX).expect("is cut");
            let parse = |text: &str| serde_json::from_str::<Value>(text).expect("is JSON");
            let found: Vec<Value> = found.iter().map(|item| parse(item)).collect();
            prop_assert_eq!(found, items);
            prop_assert_eq!(parse(&frame), parse(&list(&[])));
        }
    }

    /// What is not a value between commas is not skipped in silence.
    #[test]
    fn nothing_is_no_item() {
        let cut = |body: &str| cut(body.as_bytes(), &[], 99);
        for body in [
            r#"{"items":[,]}"#,
            r#"{"items":[1,]}"#,
            r#"{"items":[1,,2]}"#,
            r#"{"items":[ , 1]}"#,
            r#"{"items":[1}"#,
        ] {
            assert_eq!(cut(body), Err(CutError::Malformed), "{body}");
        }
        let (items, frame) = cut(r#"{"items":[ ],"a":1}"#).expect("is cut");
        assert_eq!((items.len(), &*frame), (0, r#"{"items":[],"a":1}"#));
        // A form feed is no white space of JSON's, so it is an item, which then is none.
        let (items, _) = cut("{\"items\":[\u{c}]}").expect("is cut");
        assert_eq!(items.len(), 1);
        let (items, frame) = cut(r#"{"items":null,"a":{"items":[1]}}"#).expect("is cut");
        assert!(items.is_empty() && frame.contains("null") && frame.contains("[1]"));
    }

    /// SEC-17: neither an item nor the frame grows without bounds.
    #[test]
    fn what_is_held_is_bounded() {
        let long = format!(r#"{{"items":["{}""#, "x".repeat(200));
        assert_eq!(cut(long.as_bytes(), &[7], 99), Err(CutError::ItemTooLong));
        let frame = format!(r#"{{"kind":"{}""#, "x".repeat(FRAME_LIMIT));
        assert_eq!(cut(frame.as_bytes(), &[], 99), Err(CutError::FrameTooLong));
    }
}
