//! Messages put together byte by byte, as a second writer of the wire format.
#![allow(dead_code, reason = "each test uses a part")]

/// The bytes of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// Returns an empty message.
pub(super) fn message() -> Message {
    Message::default()
}

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds an integer; negative ones have ten bytes.
    pub(super) fn int(self, number: u64, value: i64) -> Self {
        self.varint(number << 3).varint(value as u64)
    }

    pub(super) fn text(self, number: u64, text: &str) -> Self {
        self.raw(number, text.as_bytes())
    }

    pub(super) fn put(self, number: u64, inner: &Message) -> Self {
        self.raw(number, &inner.0)
    }

    pub(super) fn raw(self, number: u64, bytes: &[u8]) -> Self {
        let mut message = self.varint(number << 3 | 2).varint(bytes.len() as u64);
        message.0.extend(bytes);
        message
    }

    pub(super) fn varint(mut self, value: u64) -> Self {
        let mut rest = value;
        loop {
            let low = (rest & 0x7f) as u8;
            rest >>= 7;
            if rest == 0 {
                self.0.push(low);
                return self;
            }
            self.0.push(low | 0x80);
        }
    }
}
