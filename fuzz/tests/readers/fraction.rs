//! Duty cycles as text: any text is answered, and an accepted one prints as a text that reads back equal.

use airbraid_engine::slots::Fraction;

#[test]
fn any_fraction() {
    bolero::check!().with_type::<(u8, u64, u32, String)>().for_each(|(how, number, other, text)| {
        let made = match how % 4 {
            0 => text.clone(),
            1 => format!("{number}/{other}"),
            2 => format!("0.{other}{}", ["", " %", "%"][usize::from(how / 4 % 3)]),
            _ => format!("{number}.{other}{text}"),
        };
        if let Ok(fraction) = Fraction::parse(&made) {
            assert_eq!(Fraction::parse(&fraction.to_string()), Ok(fraction), "{made}");
        }
    });
}
