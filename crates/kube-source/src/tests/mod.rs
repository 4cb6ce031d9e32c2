//! Lists and watches through a scripted client, and objects through the decoder.

#[cfg(test)]
mod bursts;
#[cfg(test)]
mod connection;
#[cfg(test)]
pub(crate) mod followed;
#[cfg(fuzzing)]
pub(crate) mod fuzzed;
#[cfg(test)]
mod hostile;
mod judge;
#[cfg(test)]
mod list;
#[cfg(test)]
mod nulls;
#[cfg(test)]
mod object;
#[cfg(test)]
mod parsers;
#[cfg(test)]
mod protobuf;
#[cfg(test)]
pub(crate) mod requests;
#[cfg(test)]
mod retained;
#[cfg(test)]
pub(crate) mod scripted;
#[cfg(test)]
mod watch;
