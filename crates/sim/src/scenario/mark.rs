//! Meaning of a packet's DSCP for links and radios.

use airbraid_engine::TrafficClass;

/// A DSCP by its name: the class that links know, and the user priority that RFC 8325 gives it.
pub type Mark = (TrafficClass, u8);
pub const MARKS: [(&str, Mark); 21] = [
    ("default", (TrafficClass::Bulk, 0)),
    ("ef", (TrafficClass::RealTime, 6)),
    ("va", (TrafficClass::RealTime, 6)),
    ("cs1", (TrafficClass::Bulk, 1)),
    ("cs2", (TrafficClass::Bulk, 0)),
    ("cs3", (TrafficClass::Bulk, 4)),
    ("cs4", (TrafficClass::Bulk, 4)),
    ("cs5", (TrafficClass::Bulk, 5)),
    ("cs6", (TrafficClass::Bulk, 7)),
    ("af11", (TrafficClass::Bulk, 0)),
    ("af12", (TrafficClass::Bulk, 0)),
    ("af13", (TrafficClass::Bulk, 0)),
    ("af21", (TrafficClass::Bulk, 3)),
    ("af22", (TrafficClass::Bulk, 3)),
    ("af23", (TrafficClass::Bulk, 3)),
    ("af31", (TrafficClass::Bulk, 4)),
    ("af32", (TrafficClass::Bulk, 4)),
    ("af33", (TrafficClass::Bulk, 4)),
    ("af41", (TrafficClass::Bulk, 4)),
    ("af42", (TrafficClass::Bulk, 4)),
    ("af43", (TrafficClass::Bulk, 4)),
];

/// The code point of a name in small letters: classes and assured forwarding (RFC 2474, 2597), telephony (RFC 3246,
/// 5865), low effort (RFC 8622); `None`: there is no such name.
pub const fn code_point(name: &str) -> Option<u8> {
    Some(match name.as_bytes() {
        b"default" | b"df" => 0,
        b"le" => 1,
        b"va" => 44,
        b"ef" => 46,
        [b'c', b's', class @ b'0'..=b'7'] => 8 * (*class - b'0'),
        [b'a', b'f', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => 8 * (*class - b'0') + 2 * (*drop - b'0'),
        _ => return None,
    })
}

/// The class and the user priority of a packet with this DSCP; best effort where it has no name.
pub fn of_code_point(dscp: u8) -> Mark {
    MARKS.iter().find(|(name, _)| code_point(name) == Some(dscp)).map_or(MARKS[0].1, |(_, mark)| *mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_point_means_what_its_name_does() {
        for (code, name) in
            [(0, "default"), (46, "ef"), (44, "va"), (8, "cs1"), (48, "cs6"), (10, "af11"), (38, "af43"), (1, "le")]
        {
            assert_eq!(code_point(name), Some(code), "{name}");
        }
        for name in ["", "cs", "cs8", "cs11", "af", "af01", "af51", "af14", "EF", "expedited"] {
            assert_eq!(code_point(name), None, "{name}");
        }
        let codes: std::collections::BTreeSet<u8> = MARKS.iter().filter_map(|(name, _)| code_point(name)).collect();
        assert_eq!(codes.len(), MARKS.len());
        assert_eq!(of_code_point(46), (TrafficClass::RealTime, 6));
        assert_eq!(of_code_point(34), (TrafficClass::Bulk, 4));
        assert_eq!(of_code_point(8), (TrafficClass::Bulk, 1));
        // Nobody's.
        assert_eq!(of_code_point(3), (TrafficClass::Bulk, 0));
    }
}
