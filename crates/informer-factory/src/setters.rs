//! Builder methods that set one field each.
//!
//! The crates with options have a macro each: a shared one would be public in a published crate.

/// Writes builder methods: `name(argument: Type) => field = value;` is a method `name` that sets
/// `field`.
macro_rules! setters {
    ($($(#[$doc:meta])*
    $name:ident($argument:ident: $type:ty) => $($field:ident).+ = $value:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $argument: $type) -> Self {
            self.$($field).+ = $value;
            self
        }
    )*};
}
