//! Relative luminance of colors, to choose readable text.

/// Returns the relative luminance of a color (WCAG 2.1). Components and result are between 0 and 1.
pub fn luminance(rgb: [f64; 3]) -> f64 {
    let [red, green, blue] =
        rgb.map(|part| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
