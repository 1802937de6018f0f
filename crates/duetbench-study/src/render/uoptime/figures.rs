//! The figures, as SVG.

use std::error::Error;

use duetbench_core::tune::Metric;
use plotters::prelude::*;

use super::super::chart::{BLUE, GREEN, LETTER, ORANGE, SKY_BLUE, VERMILION, draw_legend, draw_names};
use super::{Studied, StudiedFile};
use crate::papers::uoptime::{Method, Savings};

/// Colours by metric.
const COLOURS: [RGBColor; 5] = [ORANGE, SKY_BLUE, GREEN, BLUE, VERMILION];
/// Width of one file's group of bars, and of what is beside all groups, the legend among it, in pixels.
const GROUP: u32 = 90;
const BESIDE: u32 = 180;
/// Height of what is above the names of files, in pixels.
const ABOVE: u32 = 310;

/// The share that a figure shows of one file and metric.
type Share = fn(&Savings) -> f64;
/// A file's name with its shares by metric.
type Group<'a> = (&'a str, Vec<(Metric, f64)>);

/// The figures that there is something for, each with the name of its file.
///
/// # Errors
/// When one cannot be drawn.
pub fn figures(studied: &Studied) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let saved: Share = Savings::overall_saved;
    let within: Share = |s| s.within[1] as f64 / s.benchmarks.max(1) as f64;
    let full: fn(&StudiedFile) -> &Vec<Savings> = |file| &file.savings;
    let warm: fn(&StudiedFile) -> &Vec<Savings> = |file| &file.warm;
    let planned = [
        ("rq1-saved.svg", "Share of the time saved by tuning", full, saved),
        ("rq1-within-3-percent.svg", "Share of benchmarks whose result changes by at most 3 %", full, within),
        ("rq3-saved.svg", "Share of the time saved by tuning, warm-up removed", warm, saved),
        ("rq3-within-3-percent.svg", "Share of benchmarks within 3 %, warm-up removed", warm, within),
    ];
    let mut figures = Vec::new();
    for (name, title, of, share) in planned {
        let groups: Vec<Group<'_>> = studied
            .files
            .iter()
            .filter(|file| file.newest && !of(file).is_empty())
            .map(|file| {
                let tuned = of(file).iter().filter(|s| s.method == Method::UOpTime);
                (file.stem.as_str(), tuned.map(|s| (s.metric, share(s))).collect())
            })
            .collect();
        if !groups.is_empty() {
            figures.push((name, bars(title, &groups)?));
        }
    }
    Ok(figures)
}

/// Groups of bars from 0 to 1, one bar for each metric.
fn bars(title: &str, groups: &[Group<'_>]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let width = BESIDE + GROUP * u32::try_from(groups.len())?;
        let letters = groups.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let names = LETTER * (u32::try_from(letters)? + 2);
        let root = SVGBackend::with_string(&mut svg, (width, ABOVE + names)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, 50)
            .set_label_area_size(LabelAreaPosition::Bottom, names)
            .build_cartesian_2d(0.0..groups.len() as f64 + 1.0, 0.0..1.0)?;
        let percent = |share: &f64| format!("{:.0} %", 100.0 * share);
        chart.configure_mesh().disable_x_mesh().max_light_lines(1).x_labels(0).y_label_formatter(&percent).draw()?;
        for (metric, colour) in Metric::ALL.into_iter().zip(COLOURS) {
            let bar = |(at, (_, shares)): (usize, &Group<'_>)| {
                let (place, (_, share)) = shares.iter().enumerate().find(|(_, (m, _))| *m == metric)?;
                let left = at as f64 + 0.1 + 0.16 * place as f64;
                Some(Rectangle::new([(left, 0.0), (left + 0.15, share.max(0.0))], colour.filled()))
            };
            chart
                .draw_series(groups.iter().enumerate().filter_map(bar))?
                .label(metric.word())
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()));
        }
        draw_legend(&mut chart)?;
        draw_names(&root, &chart, groups.iter().map(|(name, _)| *name))?;
        root.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_bar_for_every_metric_and_defuses_names() {
        let of = |share| Metric::ALL.map(|metric| (metric, share)).to_vec();
        let svg = bars("Saved", &[("a-1", of(0.5)), ("<b>&", of(0.9))]).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("a-1") && !svg.contains("<b>"));
        for colour in ["#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"] {
            // Two bars and the legend.
            assert_eq!(svg.matches(colour).count(), 3, "{colour} in\n{svg}");
        }
    }
}
