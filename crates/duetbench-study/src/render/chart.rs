//! Parts that the figures of all studies have in common.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

// Colours that people who see colours differently can tell apart (Okabe and Ito, Color universal design, 2008).
pub(super) const ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(super) const SKY_BLUE: RGBColor = RGBColor(86, 180, 233);
pub(super) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(super) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(super) const VERMILION: RGBColor = RGBColor(213, 94, 0);

/// Height of a letter of a name that stands upright, in pixels.
pub(super) const LETTER: u32 = 8;

/// A figure that is drawn on.
type Chart<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;

/// Draws the legend, above whatever lies there.
pub(super) fn draw_legend<'a, 'b: 'a, X: Ranged, Y: Ranged>(
    chart: &mut Chart<'a, 'b, X, Y>,
) -> Result<(), Box<dyn Error>> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

/// Writes names upright below the groups of a figure.
pub(super) fn draw_names<'n, X, Y>(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    chart: &Chart<'_, '_, X, Y>,
    names: impl Iterator<Item = &'n str>,
) -> Result<(), Box<dyn Error>>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = ("sans-serif", 12).into_font().transform(FontTransform::Rotate90).into_text_style(root);
    for (at, name) in names.enumerate() {
        let (x, y) = chart.backend_coord(&(at as f64 + 0.55, 0.0));
        root.draw(&Text::new(name.to_owned(), (x, y + 8), style.clone()))?;
    }
    Ok(())
}
