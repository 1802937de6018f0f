//! The figures, as SVG.

use std::error::Error;

use duetbench_cli::render::format::{TimeScale, share};
use duetbench_core::stats::quantile_of_sorted;
use plotters::prelude::*;

use super::super::chart::{BLUE, GREEN, ORANGE, VERMILION, draw_legend};
use super::{DuetStudy, Samples};
use crate::papers::duet::{Kind, Quantiles};

/// Colours by kind of interval.
const COLOURS: [RGBColor; 4] = [BLUE, ORANGE, VERMILION, GREEN];
/// Width of a run's boxes, and of what is beside all of them, the legend among it, in pixels.
const GROUP: u32 = 160;
const BESIDE: u32 = 260;
/// Height of a figure in pixels.
const HEIGHT: u32 = 420;
/// Width of the figure of single iterations in pixels.
const SAMPLES_WIDTH: u32 = 1100;
/// Pairs that are drawn; of more, every so-manieth is.
const PAIRS_MAX: usize = 3_000;
/// Share of the times at either end that is drawn at the edge: a few slow iterations would leave no room for the others.
const AT_THE_EDGE: f64 = 0.005;

/// A figure's name and its text.
type Figure = (String, String);

/// The figures, each with the name of its file; those that would be empty are left out.
///
/// # Errors
/// When one cannot be drawn.
pub fn figures(study: &DuetStudy, samples: &[Samples]) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = Vec::new();
    figures.extend(boxes(study)?.map(|svg| ("widths.svg".to_owned(), svg)));
    for one in samples {
        figures.push((format!("samples-{}.svg", one.run), dots(one)?));
    }
    Ok(figures)
}

/// A box for the widths of one kind of interval: position, colour, and their quantiles.
struct WidthBox {
    at: f64,
    colour: RGBColor,
    quantiles: [f64; 5],
}

/// Figures 2, 4 and 5: for each run a box for each kind of interval, from the first to the third quarter, with the median, and lines to
/// the first and last tenth.
fn boxes(study: &DuetStudy) -> Result<Option<String>, Box<dyn Error>> {
    let mut all = Vec::new();
    for (group, run) in study.runs.iter().enumerate() {
        for (i, kind) in Kind::ALL.into_iter().enumerate() {
            let Some(Quantiles { at: quantiles, .. }) = run.widths.quantiles(kind) else { continue };
            // A logarithmic axis has no place for 0.
            if quantiles[0] > 0.0 {
                all.push(WidthBox { at: group as f64 + 0.14 + 0.18 * i as f64, colour: COLOURS[i], quantiles });
            }
        }
    }
    if all.is_empty() {
        return Ok(None);
    }
    // Whole decades, since those are what a logarithmic axis has labels at.
    let least = all.iter().map(|one| one.quantiles[0]).fold(f64::INFINITY, f64::min).log10().floor();
    let greatest = all.iter().map(|one| one.quantiles[4]).fold(0.0, f64::max).log10().ceil().max(least + 1.0);
    let (low, high) = (10_f64.powf(least), 10_f64.powf(greatest));
    let mut svg = String::new();
    {
        let width = BESIDE + GROUP * u32::try_from(study.runs.len())?;
        let root = SVGBackend::with_string(&mut svg, (width, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let title = format!("Relative widths of {} intervals", share(study.procedure.confidence));
        // The legend stands to the right of the last run.
        let across = study.runs.len() as f64 + f64::from(BESIDE - 100) / f64::from(GROUP);
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 16))
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, 60)
            .set_label_area_size(LabelAreaPosition::Bottom, 30)
            .build_cartesian_2d(0.0..across, (low..high).log_scale())?;
        chart.configure_mesh().disable_x_mesh().x_labels(0).y_label_formatter(&|width| share(*width)).draw()?;
        chart.draw_series(all.iter().map(WidthBox::body))?;
        chart.draw_series(all.iter().flat_map(WidthBox::lines))?;
        for (kind, colour) in Kind::ALL.into_iter().zip(COLOURS) {
            let legend = move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled());
            let none: [Rectangle<(f64, f64)>; 0] = [];
            chart.draw_series(none)?.label(kind.word()).legend(legend);
        }
        chart.configure_series_labels().position(SeriesLabelPosition::UpperRight).border_style(BLACK).draw()?;
        for (group, run) in study.runs.iter().enumerate() {
            let (x, y) = chart.backend_coord(&(group as f64 + 0.2, low));
            root.draw(&Text::new(run.widths.run.clone(), (x, y + 8), ("sans-serif", 14).into_font()))?;
        }
        root.present()?;
    }
    Ok(Some(svg))
}

impl WidthBox {
    fn body(&self) -> Rectangle<(f64, f64)> {
        let [_, lower, _, upper, _] = self.quantiles;
        Rectangle::new([(self.at - 0.07, lower), (self.at + 0.07, upper)], self.colour.mix(0.6).filled())
    }

    /// The median, and what reaches from the box to either end.
    fn lines(&self) -> [PathElement<(f64, f64)>; 3] {
        let [least, lower, median, upper, greatest] = self.quantiles;
        let line = |from, to| PathElement::new(vec![from, to], self.colour.stroke_width(2));
        [
            line((self.at - 0.07, median), (self.at + 0.07, median)),
            line((self.at, least), (self.at, lower)),
            line((self.at, upper), (self.at, greatest)),
        ]
    }
}

/// Figure 3: single iterations of both sides in the order of measuring.
fn dots(samples: &Samples) -> Result<String, Box<dyn Error>> {
    let pairs: Vec<[f64; 2]> = samples.forks.iter().flat_map(|fork| fork.times.iter().copied()).collect();
    let mut ascending: Vec<f64> = pairs.iter().flatten().copied().collect();
    ascending.sort_by(f64::total_cmp);
    let (low, high) = (quantile_of_sorted(&ascending, AT_THE_EDGE), quantile_of_sorted(&ascending, 1.0 - AT_THE_EDGE));
    let room = (0.05 * (high - low)).max(1e-3 * high);
    let scale = TimeScale::of(&[low]);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (SAMPLES_WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let title = format!("{} in {}: single iterations, seconds per invocation", samples.benchmark, samples.run);
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 16))
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, 70)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(0.0..pairs.len() as f64, low - room..high + room)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(1)
            .x_desc("pairs in the order of measuring, a line where a fork pair begins")
            .y_label_formatter(&|ns| scale.write(*ns))
            .draw()?;
        let mut begins = 0;
        for fork in &samples.forks {
            let line = [(begins as f64, low - room), (begins as f64, high + room)];
            chart.draw_series(LineSeries::new(line, BLACK.mix(0.2)))?;
            begins += fork.times.len();
        }
        let every = pairs.len().div_ceil(PAIRS_MAX).max(1);
        for (side, (name, colour)) in [("baseline", COLOURS[0]), ("candidate", COLOURS[2])].into_iter().enumerate() {
            let dot = |(i, both): (usize, &[f64; 2])| {
                Circle::new((i as f64, both[side].clamp(low, high)), 2, colour.mix(0.6).filled())
            };
            chart
                .draw_series(pairs.iter().enumerate().step_by(every).map(dot))?
                .label(name)
                .legend(move |(x, y)| Circle::new((x + 5, y), 4, colour.filled()));
        }
        draw_legend(&mut chart)?;
        root.present()?;
    }
    Ok(svg)
}
