//! Enums whose variants have names: declared once, variant and name on one line.

/// Declares an enum and the name of each variant.
///
/// The enum gets `ALL` (in the order of declaration, which is also the order of its numbers), `COUNT`, and `name`.
///
/// ```
/// airbraid_units::named_enum! {
///     /// Why a packet was dropped.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum DropReason {
///         /// The queue was full.
///         QueueFull = "queue_full",
///         /// The packet was too old.
///         Expired = "expired",
///     }
/// }
/// assert_eq!(DropReason::ALL[DropReason::Expired as usize].name(), "expired");
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident { $($(#[$doc:meta])* $Variant:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        $vis enum $Enum { $($(#[$doc])* $Variant),+ }

        impl $Enum {
            /// All of them, in the order of their numbers.
            $vis const ALL: [Self; Self::COUNT] = [$(Self::$Variant),+];
            $vis const COUNT: usize = [$($name),+].len();
            /// Returns the name that results and files use.
            $vis const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    crate::named_enum! {
        /// Two of the colours.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Colour {
            /// As a rose.
            DeepRed = "deep-red",
            /// As the sky.
            Blue = "blue",
        }
    }

    #[test]
    fn order_number_and_name_agree() {
        assert_eq!(Colour::COUNT, 2);
        for (number, colour) in Colour::ALL.into_iter().enumerate() {
            assert_eq!(colour as usize, number);
        }
        assert_eq!(Colour::ALL.map(Colour::name), ["deep-red", "blue"]);
    }
}
