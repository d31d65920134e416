//! The table of the members of a type, for reading and for writing.

/// Implements the traits of serde for types that have named members and an `extra` for unknown ones.
///
/// ```text
/// object!(Tool {
///     "name" => required name,          // An error if it is missing.
///     "icons" => optional icons,        // An `Option`. `None` is not written.
///     "inputSchema" => default schema,  // The default if it is missing. It is always written.
///     "size" => optional size (read whole, write shortest),   // By these functions.
///     "ttlMs" | "cacheScope" => hint freshness,               // The cache hint of a result.
/// });
/// ```
macro_rules! object {
    ($name:ident {
        $($key:literal $(| $alias:literal)* => $kind:ident $field:ident $(($($how:tt)*))?,)*
    }) => {
        impl $crate::read::Object for $name {
            const EXPECTED: &'static str = concat!("struct ", stringify!($name));

            fn build(
                members: &mut dyn $crate::read::Members<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                $(let mut $field = None;)*
                let mut extra = $crate::Extra::new();
                while let Some(name) = members.next_name()? {
                    let read = match &*name {
                        $($key $(| $alias)* => {
                            $crate::object::object!(@read $kind &mut $field, $key, &name, members; $($($how)*)?)
                        })*
                        _ => extra.read_member(name, members),
                    };
                    read?;
                }
                Ok(Self { $($field: $crate::object::object!(@take $kind $field, $key),)* extra })
            }
        }

        impl $crate::read::WriteMembers for $name {
            fn write_members<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $($crate::object::object!(@write $kind &self.$field, $key, map; $($($how)*)?);)*
                self.extra.write_members(map)
            }
        }

        $crate::read::serde_by_members!($name);
    };

    (@read hint $place:expr, $key:literal, $name:expr, $members:expr;) => {
        $crate::Freshness::read_member($place, $name, $members)
    };
    (@read $kind:ident $place:expr, $key:literal, $name:expr, $members:expr; read $read:path $(, write $write:path)?) => {
        $crate::read::fill_with($place, $key, $members, $read)
    };
    (@read $kind:ident $place:expr, $key:literal, $name:expr, $members:expr; $(write $write:path)?) => {
        $crate::read::fill($place, $key, $members)
    };

    (@take required $place:expr, $key:literal) => { $crate::read::required($place, $key)? };
    (@take hint $place:expr, $key:literal) => { $place };
    (@take $kind:ident $place:expr, $key:literal) => { $place.unwrap_or_default() };

    (@write hint $value:expr, $key:literal, $map:expr;) => {
        if let Some(hint) = $value {
            hint.write_members($map)?;
        }
    };
    (@write optional $value:expr, $key:literal, $map:expr; $($how:tt)*) => {
        if let Some(value) = $value {
            $crate::object::object!(@write default value, $key, $map; $($how)*);
        }
    };
    (@write $kind:ident $value:expr, $key:literal, $map:expr; $(read $read:path,)? write $write:path) => {
        $map.serialize_entry($key, &$write($value))?
    };
    (@write $kind:ident $value:expr, $key:literal, $map:expr; $(read $read:path)?) => {
        $map.serialize_entry($key, $value)?
    };
}
pub(crate) use object;

/// Implements `Read` for a type of some members of an object. Other members are skipped.
///
/// ```text
/// peek!(Peek {
///     "method" => required method,
///     "params" => optional params,
/// });
/// ```
macro_rules! peek {
    ($name:ident $(<$lifetime:lifetime>)? { $($key:literal => $kind:ident $field:ident,)* }) => {
        impl $crate::read::Object for $name $(<$lifetime>)? {
            const EXPECTED: &'static str = concat!("struct ", stringify!($name));

            fn build(
                members: &mut dyn $crate::read::Members<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                $(let mut $field = None;)*
                while let Some(name) = members.next_name()? {
                    match &*name {
                        $($key => $crate::read::fill(&mut $field, $key, members)?,)*
                        _ => $crate::read::skip(members)?,
                    }
                }
                Ok(Self { $($field: $crate::object::object!(@take $kind $field, $key),)* })
            }
        }

        impl $crate::read::Read for $name $(<$lifetime>)? {
            fn read(
                source: &mut dyn $crate::read::Source<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                $crate::read::read_object(source)
            }
        }
    };
}
pub(crate) use peek;
