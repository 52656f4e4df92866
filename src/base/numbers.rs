//! Numbers formatted for display: counts, money, sizes.

/// Formats a count with its unit: `1 entry`, `1,284 entries`.
pub fn count(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// Formats an integer with thousands separators: `1,284`.
pub fn thousands(number: usize) -> String {
    match number {
        ..1000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1000), number % 1000),
    }
}

/// Formats a cost in US dollars: `$412.80`, `$0.004`.
pub(crate) fn dollars(cost: f64) -> String {
    // Costs that round to a whole cent are shown as one.
    if cost > 0.0 && cost < 0.0095 { format!("${cost:.3}") } else { format!("${cost:.2}") }
}

/// Formats a cost of at least half a cent. Returns `None` for smaller costs.
pub(crate) fn nonzero_dollars(cost: f64) -> Option<String> {
    (cost >= 0.005).then(|| dollars(cost))
}

/// Formats a duration in milliseconds: `0.3 s`, `45 s`, `2 min 5 s`, `3 h 10 min`.
pub(crate) fn duration(ms: f64) -> String {
    let seconds = (ms / 1000.0).max(0.0);
    match seconds {
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 59.5 => format!("{s:.0} s"),
        s if s < 3599.5 => format!("{:.0} min {:.0} s", (s.round() / 60.0).floor(), s.round() % 60.0),
        s => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

/// Formats a part as a percentage of a total: `42 %`; empty without a total.
pub(crate) fn share(part: u64, total: u64) -> String {
    if total == 0 { String::new() } else { format!("{:.0} %", 100.0 * part as f64 / total as f64) }
}

/// Formats a size in bytes: `312 B`, `1.2 MB`.
pub fn bytes(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "KB", "MB"] {
        if size < 999.5 {
            return if unit == "B" || size >= 99.5 { format!("{size:.0} {unit}") } else { format!("{size:.1} {unit}") };
        }
        size /= 1000.0;
    }
    format!("{size:.1} GB")
}

/// Returns a bar for a share from 0 to 1 of some columns.
pub(crate) fn bar(share: f64, columns: usize, is_ascii: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    if is_ascii {
        return "#".repeat((share * columns as f64).round() as usize);
    }
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Formats a number of tokens: `812`, `12k`, `1.2M`.
pub fn tokens(tokens: f64) -> String {
    match tokens {
        t if t < 999.5 => format!("{t:.0}"),
        t if t < 999_500.0 => format!("{:.0}k", t / 1000.0),
        t => format!("{:.1}M", t / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_eighths() {
        assert_eq!([0.0, 0.5, 0.54, 1.0].map(|share| bar(share, 5, false)), ["", "██▌", "██▊", "█████"]);
        assert_eq!([f64::NAN, 0.5, 9.0].map(|share| bar(share, 5, true)), ["", "###", "#####"]);
    }

    #[test]
    fn formats_numbers() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(999), "999");
        assert_eq!(count(1, "entry", "entries"), "1 entry");
        assert_eq!(
            (bytes(999), bytes(1000), bytes(2_371_789), bytes(1_200_000_000)),
            ("999 B".into(), "1.0 KB".into(), "2.4 MB".into(), "1.2 GB".into())
        );
        let durations = [0.0, 340.0, 1500.0, 45_400.0, 125_000.0, 59_600.0].map(duration);
        assert_eq!(durations, ["0.0 s", "0.3 s", "1.5 s", "45 s", "2 min 5 s", "1 min 0 s"]);
        assert_eq!((dollars(0.0), dollars(0.004), dollars(1.2)), ("$0.00".into(), "$0.004".into(), "$1.20".into()));
        assert_eq!((dollars(0.0094), dollars(0.0096)), ("$0.009".into(), "$0.01".into()));
        assert_eq!((tokens(950.0), tokens(12_400.0), tokens(1_200_000.0)), ("950".into(), "12k".into(), "1.2M".into()));
    }
}
