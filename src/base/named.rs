//! Enums with a name for each variant.

/// Defines an enum whose variants have names, with all of them in order.
macro_rules! named {
    ($(#[$doc:meta])* pub enum $kind:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        pub enum $kind { $($(#[$variant_doc])* $variant,)* }

        impl $kind {
            /// All variants in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

pub(crate) use named;
