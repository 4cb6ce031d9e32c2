//! The values that are no messages of their own, and those with a type of their own in k8s-openapi.

use k8s_openapi::ByteString;
use k8s_openapi::api::events::v1::EventSeries;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, FieldsV1, MicroTime, Time};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::jiff::Timestamp;

use super::dropped::Within;
use super::read::{Blank, Value, skip_if};
use crate::decode::{Parsed, is_zero_time, json_tree, read_text, timestamp};
use crate::schema::Kind;
use crate::text::GO_ZERO_SECONDS;
use crate::wire;

impl Value for bool {
    const WIRE: u8 = wire::VARINT;

    #[inline]
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        Some(Some(wire::varint(rest).ok()? != 0))
    }
}

impl Value for i32 {
    const WIRE: u8 = wire::VARINT;

    #[inline]
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        Some(Some(wire::varint(rest).ok()? as i32))
    }

    /// Go reads the lower 32 bits, whatever the others are.
    #[inline]
    fn skip_zero(rest: &mut &[u8]) -> Option<bool> {
        skip_if(rest, |ahead| Some(wire::varint(ahead).ok()? as i32 == 0))
    }
}

impl Value for i64 {
    const WIRE: u8 = wire::VARINT;

    #[inline]
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        Some(Some(wire::varint(rest).ok()? as i64))
    }
}

impl Value for String {
    #[inline]
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        Some(Some(wire::text(rest).ok()?.to_owned()))
    }
}

impl Value for ByteString {
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        Some(Some(Self(wire::bytes(rest).ok()?.to_vec())))
    }

    fn missing(_: Within<'_>) -> Option<Option<Self>> {
        Some(None)
    }
}

impl Value for Quantity {
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        match read_text(Kind::Quantity, rest).ok()? {
            Parsed::Str(text) => Some(Some(Self(text.to_owned()))),
            _ => None,
        }
    }
}

impl Value for IntOrString {
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        Some(Some(match read_text(Kind::IntOrString, rest).ok()? {
            Parsed::Signed(number) => Self::Int(number.try_into().ok()?),
            Parsed::Str(text) => Self::String(text.to_owned()),
            _ => return None,
        }))
    }
}

impl Value for Time {
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        let time = read_time(rest, Kind::Time)?;
        // JSON has whole seconds.
        Some(match time {
            Some((seconds, _)) => Some(Self(Timestamp::new(seconds, 0).ok()?)),
            None => None,
        })
    }
}

impl Value for MicroTime {
    fn read(rest: &mut &[u8], _: Within<'_>) -> Option<Option<Self>> {
        let time = read_time(rest, Kind::MicroTime)?;
        Some(match time {
            Some((seconds, nanos)) => {
                let micros = nanos / 1_000;
                Some(Self(Timestamp::new(seconds, micros * 1_000).ok()?))
            }
            None => None,
        })
    }
}

/// Reads the seconds and nanoseconds of a time; the inner `None` is Go's zero time.
fn read_time(rest: &mut &[u8], kind: Kind) -> Option<Option<(i64, i32)>> {
    let message = wire::bytes(rest).ok()?;
    if is_zero_time(kind, message).ok()? {
        return Some(None);
    }
    let (seconds, nanos) = timestamp(message).ok()?;
    let is_usual = seconds > GO_ZERO_SECONDS && (0..1_000_000_000).contains(&nanos);
    is_usual.then_some(Some((seconds, nanos)))
}

impl Value for FieldsV1 {
    fn read(rest: &mut &[u8], dropped: Within<'_>) -> Option<Option<Self>> {
        read_json(rest, dropped).map(|tree| tree.map(Self))
    }
}

impl Value for RawExtension {
    fn read(rest: &mut &[u8], dropped: Within<'_>) -> Option<Option<Self>> {
        read_json(rest, dropped).map(|tree| tree.map(Self))
    }
}

/// Reads the JSON within a field; the inner `None` is null.
fn read_json(rest: &mut &[u8], dropped: Within<'_>) -> Option<Option<serde_json::Value>> {
    if dropped.is_some() {
        return None;
    }
    match json_tree(rest).ok()? {
        serde_json::Value::Null => Some(None),
        tree => Some(Some(tree)),
    }
}

// These structs have no default because a time has none.

impl Blank for Condition {
    fn blank() -> Self {
        Self {
            last_transition_time: Time(Timestamp::UNIX_EPOCH),
            message: String::new(),
            observed_generation: None,
            reason: String::new(),
            status: String::new(),
            type_: String::new(),
        }
    }
}

impl Blank for EventSeries {
    fn blank() -> Self {
        Self {
            count: 0,
            last_observed_time: MicroTime(Timestamp::UNIX_EPOCH),
        }
    }
}
