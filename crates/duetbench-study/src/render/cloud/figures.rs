//! The figures, as SVG.

use std::error::Error;

use duetbench_cli::render::format::{one_line, share};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::super::chart::{GREEN, LETTER, ORANGE, SKY_BLUE, VERMILION, draw_legend, draw_names};
use super::Cloud;
use super::words;
use crate::papers::cloud::{Detectable, INSTANCES_COMPARED, REGRESSIONS, Sampling, Studied, Test};

/// Colours of the series.
const COLOURS: [RGBColor; 4] = [ORANGE, SKY_BLUE, GREEN, VERMILION];
/// Width of one group of bars, and of what is beside all groups, the legend among it, in pixels.
const GROUP: u32 = 70;
const BESIDE: u32 = 340;
/// Height of what is above the names of groups, in pixels.
const ABOVE: u32 = 330;

type Drawn = Result<String, Box<dyn Error>>;

/// A bar with how far the line over it goes to either side.
type Bar = (f64, f64);

/// Groups of bars, one bar for each series that has one.
struct Bars {
    title: String,
    series: Vec<&'static str>,
    groups: Vec<(String, Vec<Option<Bar>>)>,
    /// Where a line is drawn through all groups.
    line: Option<f64>,
}

/// The figures that there is something for, each with the name of its file.
///
/// # Errors
/// When one cannot be drawn.
pub fn figures(cloud: &Cloud) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut figures = Vec::new();
    for (number, studied) in (1..).zip(&cloud.environments) {
        figures.push((format!("sources-{number}-{}.svg", plain(&studied.environment)), sources(studied).draw()?));
    }
    let alarms = alarms(cloud);
    if !alarms.groups.is_empty() {
        figures.push(("false-alarms.svg".to_owned(), alarms.draw()?));
    }
    for sampling in Sampling::ALL {
        let found = found(cloud, sampling);
        if !found.is_empty() {
            figures.push((format!("detectable-{}.svg", sampling.word()), steps(sampling, &found)?));
        }
    }
    Ok(figures)
}

/// A name that every file system takes.
fn plain(name: &str) -> String {
    let kept = name.chars().take(60).map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' });
    kept.collect()
}

/// Fig. 5 of all benchmarks of an environment.
fn sources(studied: &Studied) -> Bars {
    let group = |benchmark: &crate::papers::cloud::StudiedBenchmark| {
        let spread = &benchmark.spread;
        let typical = [spread.per_instance, spread.per_trial]
            .map(|typical| typical.map(|typical| (typical.mean, typical.standard_deviation.unwrap_or(0.0))));
        (one_line(&benchmark.benchmark), vec![spread.rsd.map(|rsd| (rsd, 0.0)), typical[0], typical[1]])
    };
    Bars {
        title: format!("Relative standard deviation by source: {}", one_line(&studied.environment)),
        series: vec!["total", "per instance", "per trial"],
        groups: studied.benchmarks.iter().map(group).collect(),
        line: None,
    }
}

/// Table 5 as a figure.
fn alarms(cloud: &Cloud) -> Bars {
    let all = cloud.environments.iter().flat_map(|studied| INSTANCES_COMPARED.map(|instances| (studied, instances)));
    let groups = all.map(|(studied, instances)| {
        let rate = |test| studied.alarms(test, instances).and_then(|alarms| alarms.rate()).map(|rate| (rate, 0.0));
        (format!("{}, {instances}", one_line(&studied.environment)), Test::ALL.map(rate).to_vec())
    });
    Bars {
        title: "False alarms between equal code, by environment and instances".to_owned(),
        series: Test::ALL.map(words::test).to_vec(),
        groups: groups.filter(|(_, bars)| bars.iter().any(Option::is_some)).collect(),
        line: Some(crate::papers::cloud::SIGNIFICANT),
    }
}

impl Bars {
    fn draw(&self) -> Drawn {
        let mut svg = String::new();
        {
            let letters = self.groups.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let names = LETTER * (u32::try_from(letters)? + 2);
            let width = BESIDE + GROUP * u32::try_from(self.groups.len())?;
            let root = SVGBackend::with_string(&mut svg, (width, ABOVE + names)).into_drawing_area();
            root.fill(&WHITE)?;
            self.draw_on(&root, names)?;
            root.present()?;
        }
        Ok(svg)
    }

    fn draw_on(&self, root: &DrawingArea<SVGBackend<'_>, Shift>, names: u32) -> Result<(), Box<dyn Error>> {
        let tops = self.groups.iter().flat_map(|(_, bars)| bars).flatten().map(|(value, beside)| value + beside);
        let top = tops.filter(|top| top.is_finite()).fold(self.line.unwrap_or(0.0), f64::max).max(1e-6);
        let groups = self.groups.len() as f64;
        let mut chart = ChartBuilder::on(root)
            .caption(&self.title, ("sans-serif", 18))
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, 60)
            .set_label_area_size(LabelAreaPosition::Bottom, names)
            .build_cartesian_2d(0.0..groups + f64::from(BESIDE - 80) / f64::from(GROUP), 0.0..1.05 * top)?;
        let percent = |part: &f64| share(*part);
        chart.configure_mesh().disable_x_mesh().max_light_lines(1).x_labels(0).y_label_formatter(&percent).draw()?;
        let width = 0.8 / self.series.len().max(1) as f64;
        for (place, (series, colour)) in self.series.iter().zip(COLOURS).enumerate() {
            let these = self.groups.iter().enumerate().filter_map(|(at, (_, bars))| {
                Some((at as f64 + 0.1 + width * place as f64, bars.get(place).copied().flatten()?))
            });
            let these: Vec<(f64, Bar)> = these.collect();
            let bar = |(left, (value, _)): &(f64, Bar)| {
                Rectangle::new([(*left, 0.0), (left + 0.9 * width, *value)], colour.filled())
            };
            chart
                .draw_series(these.iter().map(bar))?
                .label(*series)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()));
            let line = |(left, (value, beside)): &(f64, Bar)| {
                let middle = left + 0.45 * width;
                PathElement::new([(middle, (value - beside).max(0.0)), (middle, value + beside)], BLACK)
            };
            chart.draw_series(these.iter().filter(|(_, (_, beside))| *beside > 0.0).map(line))?;
        }
        if let Some(line) = self.line {
            chart.draw_series([PathElement::new([(0.0, line), (groups, line)], BLACK)])?;
        }
        draw_legend(&mut chart)?;
        draw_names(root, &chart, self.groups.iter().map(|(name, _)| name.as_str()))
    }
}

/// By number of instances, what was found in every environment for every benchmark.
fn found(cloud: &Cloud, sampling: Sampling) -> Vec<(usize, Vec<&Detectable>)> {
    let of = |instances: usize| {
        let benchmarks = cloud.environments.iter().flat_map(|studied| &studied.benchmarks);
        benchmarks.filter_map(|benchmark| benchmark.detectable(sampling, instances)).collect::<Vec<_>>()
    };
    let all = sampling.instances().iter().map(|instances| (*instances, of(*instances)));
    all.filter(|(_, found)| !found.is_empty()).collect()
}

/// Figs. 8 and 9: the share of benchmarks and environments in which a regression is found, by its size. The paper draws the density of
/// the same.
fn steps(sampling: Sampling, found: &[(usize, Vec<&Detectable>)]) -> Drawn {
    let title = match sampling {
        Sampling::Instances => "Regressions that are found, other instances in each group",
        Sampling::Trials => "Regressions that are found, trials of the same instances",
    };
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (720, 360)).into_drawing_area();
        root.fill(&WHITE)?;
        let sizes = REGRESSIONS.len();
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, 60)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(0.0..(sizes - 1) as f64 + 2.5, 0.0..1.02)?;
        let size = |at: &f64| REGRESSIONS.get(at.round() as usize).map_or_else(String::new, |size| share(*size));
        let percent = |part: &f64| share(*part);
        chart
            .configure_mesh()
            .max_light_lines(1)
            .x_labels(sizes + 3)
            .x_label_formatter(&size)
            .y_label_formatter(&percent)
            .draw()?;
        for ((instances, found), colour) in found.iter().zip(COLOURS) {
            let by = |(at, size): (usize, f64)| {
                let there = found.iter().filter(|found| found.corrected().is_some_and(|least| least <= size)).count();
                (at as f64, there as f64 / found.len() as f64)
            };
            chart
                .draw_series(LineSeries::new(REGRESSIONS.into_iter().enumerate().map(by), colour.stroke_width(2)))?
                .label(format!("instances: {instances}"))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2)));
        }
        draw_legend(&mut chart)?;
        root.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_its_bars_and_names_are_defused() {
        let bars = Bars {
            title: "a <b>".into(),
            series: vec!["one", "two"],
            groups: vec![
                ("<i>&".into(), vec![Some((0.1, 0.05)), None]),
                ("x".into(), vec![Some((0.2, 0.0)), Some((0.3, 0.1))]),
            ],
            line: None,
        };
        let svg = bars.draw().unwrap();
        assert!(svg.starts_with("<svg") && !svg.contains("<b>") && !svg.contains("<i>"), "{svg}");
        // One for the legend each.
        assert_eq!((svg.matches("#E69F00").count(), svg.matches("#56B4E9").count()), (3, 2), "{svg}");
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(plain("aws/m4 large: \u{1b}µ.1"), "aws-m4-large----.1");
    }
}
