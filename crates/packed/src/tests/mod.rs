//! Property tests of packed values.
//!
//! `round_trip` packs any bytes, `damage` changes packed bytes, and `generations` reads on other
//! threads while dictionaries change. `shortened` cuts dictionaries. `fuzzed` is what the fuzzer
//! calls; `samples` makes values.

#[cfg(all(test, feature = "zstd"))]
mod damage;
#[cfg(fuzzing)]
pub mod fuzzed;
#[cfg(all(test, feature = "zstd"))]
mod generations;
#[cfg(test)]
mod round_trip;
#[cfg(feature = "zstd")]
mod samples;
#[cfg(all(test, feature = "zstd"))]
mod shortened;
#[cfg(test)]
mod untrained;
