//! Pseudo-random values of generated objects, the same for the same seed on every machine.

/// The letters and digits of the suffixes that Kubernetes generates.
const SUFFIX: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The words of generated names and values.
const WORDS: [&str; 24] = [
    "account", "audit", "basket", "billing", "catalog", "checkout", "coupon", "delivery", "export",
    "fraud", "invoice", "ledger", "media", "notify", "order", "partner", "payment", "price",
    "profile", "refund", "search", "session", "stock", "supplier",
];

/// A generator of numbers with eight bytes of state (splitmix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Returns the generator of the `index`th object of a seed.
    pub fn new(seed: u64, index: usize) -> Self {
        Self(seed ^ (index as u64).wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// Returns an index into a slice of this length, which is not zero.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("it is less than a length")
    }

    /// Returns one of these.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }

    /// Returns a word as names of services have it.
    pub fn word(&mut self) -> &'static str {
        WORDS[self.index(WORDS.len())]
    }

    /// Returns a random uid.
    pub fn uid(&mut self) -> String {
        let (a, b) = (self.number(), self.number());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            a >> 16 & 0xFFFF,
            a & 0xFFF,
            b >> 52,
            b & 0xFFFF_FFFF_FFFF
        )
    }

    /// Returns hexadecimal digits: 64 are a SHA-256.
    pub fn hex(&mut self, digits: usize) -> String {
        let words = (0..digits.div_ceil(16)).map(|_| format!("{:016x}", self.number()));
        let mut hex: String = words.collect();
        hex.truncate(digits);
        hex
    }

    /// Returns a suffix as Kubernetes generates it for names.
    pub fn suffix(&mut self, len: usize) -> String {
        (0..len).map(|_| char::from(*self.pick(SUFFIX))).collect()
    }

    /// Returns a time within one month.
    pub fn time(&mut self) -> String {
        let (day, hour) = (1 + self.below(28), self.below(24));
        let (minute, second) = (self.below(60), self.below(60));
        format!("2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// Returns a version of software, such as `1.27.3`.
    pub fn version(&mut self) -> String {
        let (major, minor, patch) = (1 + self.below(4), self.below(40), self.below(20));
        format!("{major}.{minor}.{patch}")
    }
}
