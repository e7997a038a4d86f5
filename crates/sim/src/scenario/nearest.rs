//! The nearest name to a misspelt one.

/// The name nearest to `given` by edit distance, if it is near at all; ties go to the first.
pub(crate) fn nearest<'a>(given: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let limit = (given.chars().count() / 3).max(2);
    let given = given.to_lowercase();
    let near = allowed.iter().map(|name| (strsim::osa_distance(&given, &name.to_lowercase()), *name));
    near.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// `did you mean `rate`? allowed: channel, rate, ...`.
pub(crate) fn suggestion(given: &str, allowed: &[&str]) -> String {
    let list = if allowed.is_empty() { "there is none".to_owned() } else { format!("allowed: {}", allowed.join(", ")) };
    match nearest(given, allowed) {
        Some(name) => format!("did you mean `{name}`? {list}"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let keys = ["duration", "seed", "replications"];
        assert_eq!(nearest("durration", &keys), Some("duration"));
        assert_eq!(nearest("Sead", &keys), Some("seed"));
        assert_eq!(nearest("colour", &keys), None);
        assert_eq!(suggestion("sed", &["seed"]), "did you mean `seed`? allowed: seed");
    }
}
