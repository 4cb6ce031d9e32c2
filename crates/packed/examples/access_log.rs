//! Keeps the lines of an access log packed, and reads some of them.
//!
//! `cargo run -p informer-packed --example access_log`

use std::error::Error;
use std::sync::Arc;

use informer_packed::{DEFAULT_LEVEL, Dictionary, Packed, Packer};

const LINES: usize = 20_000;

/// The lines that the dictionary is trained from.
const SAMPLES: usize = 1_000;

const PATHS: [&str; 5] = [
    "/",
    "/shop/cart",
    "/shop/items",
    "/static/app.js",
    "/api/v1/orders",
];

const AGENTS: [&str; 3] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    "curl/8.9.1",
];

fn line(n: usize) -> String {
    // Spreads the number, so that neighbours differ.
    let spread = n.wrapping_mul(0x9E37_79B9) >> 7;
    format!(
        "10.2.{}.{} - - [12/Mar/2026:{:02}:{:02}:{:02} +0000] \"GET {}?id={} HTTP/1.1\" {} {} \"{}\"",
        spread % 40,
        spread / 40 % 250,
        n / 3600 % 24,
        n / 60 % 60,
        n % 60,
        PATHS[spread % PATHS.len()],
        spread % 100_000,
        [200, 200, 200, 304, 404][spread / 7 % 5],
        spread % 20_000,
        AGENTS[spread / 11 % AGENTS.len()],
    )
}

/// Packs all lines, prints what they take, and returns them.
fn pack(name: &str, packer: &Packer) -> Vec<Packed> {
    let packed: Vec<Packed> = (0..LINES)
        .map(|n| packer.pack(line(n).as_bytes()))
        .collect();
    let before: usize = packed.iter().map(Packed::len).sum();
    let after: usize = packed.iter().map(Packed::packed_len).sum();
    let stored = packed.iter().filter(|line| line.is_stored()).count();
    println!(
        "{name}: {} bytes a line instead of {}, ratio {:.1}, {stored} lines stored as they are",
        after / LINES,
        before / LINES,
        before as f64 / after as f64,
    );
    packed
}

fn main() -> Result<(), Box<dyn Error>> {
    pack("without a dictionary", &Packer::new(DEFAULT_LEVEL));

    let dictionary = Arc::new(Dictionary::train((0..SAMPLES).map(line), 16 * 1024)?);
    println!(
        "a dictionary of {} bytes from {SAMPLES} lines",
        dictionary.as_bytes().len()
    );
    let packer = Packer::with_dictionary(dictionary, DEFAULT_LEVEL)?;
    let log = pack("with the dictionary", &packer);

    // Any line is unpacked without its neighbours, into a vector that is used again.
    let mut text = Vec::new();
    for packed in [&log[17], &log[LINES / 2], &log[LINES - 1]] {
        packed.unpack_into(&mut text)?;
        println!("{}", String::from_utf8_lossy(&text));
    }
    Ok(())
}
