//! Duty cycles as text: any text is answered, and what is accepted prints as what is read back.

use airbraid_engine::slots::Fraction;

#[test]
fn any_fraction() {
    bolero::check!().with_type::<String>().for_each(|text| {
        if let Ok(fraction) = Fraction::parse(text) {
            assert_eq!(Fraction::parse(&fraction.to_string()), Ok(fraction));
        }
    });
}
