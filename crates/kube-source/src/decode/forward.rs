//! Methods that deserializers and visitors share: those that pass on to another one in the field
//! `inner`, and those that are the same for every value.

/// Writes methods of a `Deserializer` that call the inner one with a wrapped visitor.
macro_rules! forwarded {
    ($wrap:ident: $($method:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(
            self,
            $($arg: $type,)*
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            let visitor = self.$wrap(visitor);
            self.inner.$method($($arg,)* visitor)
        }
    )*};
}

/// Writes the methods of a `Deserializer` for values without parts and without text.
macro_rules! forwarded_plain {
    ($wrap:ident) => {
        forwarded! {
            $wrap:
            deserialize_bool(); deserialize_char();
            deserialize_i8(); deserialize_i16(); deserialize_i32(); deserialize_i64();
            deserialize_u8(); deserialize_u16(); deserialize_u32(); deserialize_u64();
            deserialize_i128(); deserialize_u128(); deserialize_f32(); deserialize_f64();
            deserialize_unit();
            deserialize_unit_struct(name: &'static str);
            deserialize_enum(name: &'static str, variants: &'static [&'static str]);
            deserialize_identifier(); deserialize_ignored_any();
        }
    };
}

/// Writes methods of a `Visitor` that pass a value on as it is.
macro_rules! visited {
    ($($method:ident($($value:ident: $type:ty)?);)*) => {$(
        fn $method<E: Error>(self $(, $value: $type)?) -> Result<Self::Value, E> {
            self.inner.$method($($value)?)
        }
    )*};
}

/// Writes the methods of a `Visitor` for values without parts and without text.
macro_rules! visited_plain {
    () => {
        visited! {
            visit_bool(value: bool);
            visit_i64(value: i64);
            visit_i128(value: i128);
            visit_u64(value: u64);
            visit_u128(value: u128);
            visit_f64(value: f64);
            visit_unit();
            visit_none();
        }
    };
}

/// Writes methods of a `Visitor` that wrap what the value is read from.
macro_rules! visited_around {
    ($($method:ident($inner:ident);)*) => {$(
        #[inline]
        fn $method<I: $inner<'de>>(self, inner: I) -> Result<Self::Value, I::Error> {
            let inner = self.around(inner);
            self.inner.$method(inner)
        }
    )*};
}

/// Writes the methods of a `Visitor` that returns the same for every value without parts.
macro_rules! visited_as {
    ($this:ident => $result:expr) => {
        visited_as! {
            $this => $result;
            visit_unit(); visit_bool(bool); visit_i64(i64); visit_u64(u64); visit_f64(f64);
            visit_str(&str);
        }
    };
    ($this:ident => $result:expr; $($method:ident($($type:ty)?);)*) => {$(
        fn $method<E: Error>($this $(, _: $type)?) -> Result<Self::Value, E> {
            $result
        }
    )*};
}
