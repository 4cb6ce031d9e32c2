//! The methods of deserializers and visitors that wrap another one in the field `inner`.

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

/// Writes methods of a `Visitor` that pass a value on as it is.
macro_rules! visited {
    ($($method:ident($($value:ident: $type:ty)?);)*) => {$(
        fn $method<E: Error>(self $(, $value: $type)?) -> Result<Self::Value, E> {
            self.inner.$method($($value)?)
        }
    )*};
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
