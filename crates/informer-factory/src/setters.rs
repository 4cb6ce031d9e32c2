//! Builder methods that set one field each.

/// Writes builder methods: `name(argument: Type) => field = value;` sets `field` and returns `self`.
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
