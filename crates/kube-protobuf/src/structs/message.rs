//! The macros of `structs.in`.

/// Makes the function that fills an object of one of these structs.
macro_rules! kinds {
    ($($(#[$since:meta])? $type:path, $name:literal;)*) => {
        /// Fills `slot` if `T` is one of these structs, and `object` is a message of it.
        #[inline]
        pub(super) fn decode<T: 'static>(
            object: super::Object<'_>,
            slot: &mut Option<T>,
        ) -> Option<()> {
            // The comparisons are made by the compiler, and the other structs are not linked.
            let wanted = std::any::TypeId::of::<T>();
            $($(#[$since])? if wanted == std::any::TypeId::of::<$type>() {
                return object.fill::<$type>($name, slot);
            })*
            None
        }

        /// Tests each of these structs.
        #[cfg(test)]
        pub(super) fn test_all(test: &mut impl super::tests::TestKind) {
            $($(#[$since])? test.kind::<$type>($name);)*
        }
    };
}

/// Implements `Fields` and `Value` for a struct.
///
/// Each line has the number of a field, its name in JSON, how it is encoded, and the field of the
/// struct.
macro_rules! message {
    ($type:ty { $($fields:tt)* }) => {
        impl Blank for $type {
            #[inline]
            fn blank() -> Self {
                Self::default()
            }
        }

        message!(without default $type { $($fields)* });
    };
    (without default $type:ty { $($fields:tt)* }) => {
        fields!($type, $type { $($fields)* });

        impl crate::structs::read::Value for $type {
            fn read(rest: &mut &[u8], dropped: Within<'_>) -> Option<Option<Self>> {
                let mut value = Self::blank();
                value.read_into(rest, dropped)?;
                Some(Some(value))
            }

            fn read_into(&mut self, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
                let message = crate::wire::bytes(rest).ok()?;
                read_fields::<Self, Self>(self, message, dropped)
            }

            fn read_option(
                slot: &mut Option<Self>,
                rest: &mut &[u8],
                dropped: Within<'_>,
            ) -> Option<()> {
                slot.insert(Self::blank()).read_into(rest, dropped)
            }

            fn push(list: &mut Vec<Self>, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
                list.push(Self::blank());
                list.last_mut()?.read_into(rest, dropped)
            }
        }
    };
}

/// Implements `Fields` of an inline message for a type of no values.
macro_rules! inline {
    ($name:ident in $type:ty { $($fields:tt)* }) => {
        enum $name {}
        fields!($name, $type { $($fields)* });
    };
}

macro_rules! fields {
    ($name:ty, $type:ty {
        $($(#[$since:meta])? $number:literal $json:literal $shape:ident $field:tt;)*
    }) => {
        #[allow(unused_variables, reason = "some messages have no fields")]
        impl Fields<$type> for $name {
            fn known(out: &$type, number: u32) -> Option<Known> {
                match number {
                    $($(#[$since])? $number => known!(out, $json $shape $field),)*
                    _ => None,
                }
            }

            #[inline]
            fn read(out: &mut $type, field: Field<'_, '_, '_>) -> Option<()> {
                match field.number {
                    $($(#[$since])? $number => read!(out, field $shape $field),)*
                    _ => field.skip_unknown(),
                }
            }

            #[inline]
            fn add_missing(out: &mut $type, message: &Missing<'_>) -> Option<()> {
                $($(#[$since])? missing!(out, message $number $json $shape $field);)*
                Some(())
            }
        }
    };
}

macro_rules! known {
    ($out:ident, $json:literal inline $field:ident) => {
        None
    };
    ($out:ident, $json:literal required $field:ident) => {
        None
    };
    ($out:ident, $json:literal skip $wire:literal) => {
        Some(Known::single($json, $wire))
    };
    ($out:ident, $json:literal skip_list $wire:literal) => {
        Some(Known::repeated($json, $wire))
    };
    ($out:ident, $json:literal $shape:ident $field:ident) => {
        Some(Known::$shape($json, &$out.$field))
    };
}

macro_rules! read {
    ($out:ident, $value:ident inline $field:ident) => {
        $value.inline::<$field, _>($out)
    };
    ($out:ident, $value:ident skip $wire:literal) => {
        $value.skip($wire)
    };
    ($out:ident, $value:ident skip_list $wire:literal) => {
        $value.skip_list($wire)
    };
    ($out:ident, $value:ident pointer $field:ident) => {
        $value.value(&mut $out.$field)
    };
    ($out:ident, $value:ident required $field:ident) => {
        $value.value(&mut $out.$field)
    };
    ($out:ident, $value:ident $shape:ident $field:ident) => {
        $value.$shape(&mut $out.$field)
    };
}

macro_rules! missing {
    ($out:ident, $message:ident $number:literal $json:literal value $field:ident) => {
        $message.value(&mut $out.$field, $number, $json)?
    };
    ($out:ident, $message:ident $number:literal $json:literal inline $field:ident) => {
        $message.inline::<$field, _>($out, $number)?
    };
    ($out:ident, $message:ident $number:literal $json:literal required $field:ident) => {
        $message.required($number, $json)?
    };
    ($($other:tt)*) => {};
}
