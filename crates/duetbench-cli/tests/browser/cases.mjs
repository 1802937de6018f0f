// Cases of the report's page in a browser. Each case begins visits, and ends them, which also checks that nothing was requested
// and nothing complained about.

import * as about from "./cases_about.mjs";
import * as detail from "./cases_detail.mjs";
import * as flame from "./cases_flame.mjs";
import * as list from "./cases_list.mjs";
import * as people from "./cases_people.mjs";

export const CASES = {
  a_page_of_5_says_all: list.filled(5),
  a_page_of_50_says_all: list.filled(50),
  a_page_of_1000_says_all: list.filled(1000),
  a_page_of_5_fits: list.fits(5),
  a_page_of_50_fits: list.fits(50),
  a_page_of_1000_fits: list.fits(1000),
  a_page_of_5000_fits: list.fits(5000),
  figures_are_those_of_the_data: list.figures_are_those_of_the_data,
  intervals_share_a_logarithmic_axis: list.intervals_share_a_logarithmic_axis,
  the_plot_has_two_fifths_and_names_say_what_differs: list.the_plot_has_two_fifths_and_names_say_what_differs,
  a_narrow_interval_is_a_dot: list.a_narrow_interval_is_a_dot,
  an_axis_is_made_by_changes_and_its_labels_have_room: list.an_axis_is_made_by_changes_and_its_labels_have_room,
  what_is_far_beyond_the_others_gets_an_arrow: list.what_is_far_beyond_the_others_gets_an_arrow,
  chips_and_packages_filter: list.chips_and_packages_filter,
  search_finds_names_and_packages: list.search_finds_names_and_packages,
  nothing_found_is_said_in_words: list.nothing_found_is_said_in_words,
  rows_are_sorted_as_asked: list.rows_are_sorted_as_asked,
  changes_of_both_kinds_come_before_open_ones: list.changes_of_both_kinds_come_before_open_ones,
  everything_works_by_keyboard: people.everything_works_by_keyboard,
  the_focus_is_seen_and_first_skips: people.the_focus_is_seen_and_first_skips,
  a_detail_has_everything: detail.a_detail_has_everything,
  a_detail_begins_with_one_sentence_and_both_times: detail.a_detail_begins_with_one_sentence_and_both_times,
  profiles_are_bars_by_function: detail.profiles_are_bars_by_function,
  call_stacks_are_a_flame_graph: flame.call_stacks_are_a_flame_graph,
  a_flame_graph_works_by_keyboard: flame.a_flame_graph_works_by_keyboard,
  a_flame_graph_is_told_without_colour: flame.a_flame_graph_is_told_without_colour,
  earlier_runs_are_a_line_with_this_one_marked: detail.earlier_runs_are_a_line_with_this_one_marked,
  slices_share_an_axis_and_spikes_are_clipped: detail.slices_share_an_axis_and_spikes_are_clipped,
  every_verdict_opens: detail.every_verdict_opens,
  foreign_names_stay_text: detail.foreign_names_stay_text,
  a_link_opens_its_benchmark: detail.a_link_opens_its_benchmark,
  light_has_no_barriers: people.contrasts("light", 1280),
  dark_has_no_barriers: people.contrasts("dark", 1280),
  a_phone_has_no_barriers: people.contrasts("light", 360),
  the_theme_can_be_chosen: people.the_theme_can_be_chosen,
  a_phone_needs_no_sideways_scrolling: people.a_phone_needs_no_sideways_scrolling,
  a_picture_of_the_whole_page_has_no_blank_rows: list.a_picture_of_the_whole_page_has_no_blank_rows,
  a_thousand_rows_cost_little: list.a_thousand_rows_cost_little,
  commands_are_copied: about.commands_are_copied,
  several_commands_stand_in_lines: about.several_commands_stand_in_lines,
  nothing_stands_where_no_command_is_offered: about.nothing_stands_where_no_command_is_offered,
  slices_are_explained_by_their_mode: detail.slices_are_explained_by_their_mode,
  sections_are_folded_and_complete: about.sections_are_folded_and_complete,
  paper_has_all_rows_and_no_controls: people.paper_has_all_rows_and_no_controls,
  data_that_cannot_be_read_are_named: about.data_that_cannot_be_read_are_named,
  a_written_page_says_all: detail.a_written_page_says_all,
};
