//! Quantities with units, in scenario and site files: any text is answered, and a number comes only of a number.

use airbraid_units::{BitRate, Bytes, Db, Dbm, Duration, Metres, Probability, Quantity, Speed};

fn read<Q: Quantity>(text: &str) {
    if Q::parse(text).is_ok() {
        assert!(text.bytes().any(|byte| byte.is_ascii_digit()), "{text:?}");
    }
}

#[test]
fn any_quantity() {
    bolero::check!().with_type::<(u8, u64, i8, String)>().for_each(|(unit, number, exponent, text)| {
        let units = ["s", "ms", "bit/s", "Mbit/s", "byte", "GB", "m", "m/s", "dB", "dBm", "%", ""];
        let unit = units[usize::from(*unit) % units.len()];
        for text in [text.clone(), format!("{number}{text} {unit}"), format!("{number}.{number}e{exponent} {unit}")] {
            read::<Duration>(&text);
            read::<BitRate>(&text);
            read::<Bytes>(&text);
            read::<Metres>(&text);
            read::<Speed>(&text);
            read::<Db>(&text);
            read::<Dbm>(&text);
            read::<Probability>(&text);
        }
    });
}
