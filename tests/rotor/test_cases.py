# SPDX-License-Identifier: GPL-2.0
"""Single faults of the rotor (cases.c), each on a plain host with a virtual clock.

A case of NOT_MENDED is known to fail: the reason says what is to mend it. One that passes fails
this test, and so does one that fails in another way than by its EXPECT(). When the
fault is mended, its line goes.
"""

import re

import pytest

from tests.rotor.program import rotor

CASES = (
    "a_removed_job_keeps_nothing_of_the_budget",
    "a_held_job_whose_thaw_fails_is_counted_once",
    "an_open_file_is_waited_for_every_time",
    "a_job_that_does_not_freeze_runs_on_after_a_second",
    "jobs_that_freeze_at_once_do_not_prolong_it",
    "a_newcomer_that_does_not_freeze_prolongs_no_slice",
    "stalls_are_a_part_of_what_could_run_on_64_processors",
    "stalls_of_a_fifth_begin_turns_on_64_processors",
    "an_added_cgroup_brings_no_past",
    "time_of_jobs_that_ended_counts",
    "a_hang_in_measuring_does_not_deafen_the_rotor",
    "nor_while_it_watches",
    "exempt_jobs_that_take_all_are_no_slow_swap",
    "a_newcomer_without_room_is_measured_once",
    "beginnings_and_stops_are_counted",
    "a_protection_that_others_reset_is_set_again",
    "and_without_turns_when_the_host_reclaims",
    "all_memory_of_a_pinned_job_is_protected",
    "a_weight_that_others_set_is_divided",
    "jobs_that_thrash_take_turns",
    "jobs_at_their_own_limit_begin_no_turns",
    "jobs_at_a_limit_above_begin_no_turns",
    "asked_for_what_limits_allow_fits",
    "a_job_without_swap_is_in_every_bin",
    "what_a_limit_of_swap_keeps_is_in_every_bin",
    "a_slow_disk_is_believed_for_ever",
    "the_first_plan_has_old_demands",
    "early_turns_are_judged_by_other_times",
    "jobs_without_a_terminal_begin_turns_early",
    "what_comes_back_from_swap_is_no_growth",
    "a_switch_costs_what_small_ones_did",
    "a_job_that_waits_for_its_child_has_a_bin_of_its_own",
    "a_job_that_sleeps_runs_in_every_bin_until_it_wakes",
    "a_large_job_that_sleeps_takes_turns",
    "no_gain_outlives_its_jobs",
    "jobs_that_come_and_go_are_no_other_jobs",
    "rounds_that_are_cut_short_are_judged",
    "slow_swap_outlives_its_jobs",
    "a_lesson_of_the_capacity_lasts",
    "swapins_of_others_lower_the_capacity",
    "an_overdue_job_lowers_the_capacity",
    "a_full_swap_lowers_the_capacity",
    "a_group_that_comes_has_the_place_of_an_old_one",
    "ten_jobs_run_three_at_a_time_and_nothing_moves",
    "a_small_job_passes_a_large_one",
    "unknown_jobs_begin_when_the_last_one_has_grown",
    "the_end_of_known_commands_foretells_the_start",
    "it_begins_after_its_longest_wait",
    "a_stop_starts_it",
    "mode_off_starts_it",
    "a_rotor_that_is_stuck_starts_it",
    "a_rotor_that_slept_is_not_stuck",
    "out_of_memory_does_not_start_it",
    "input_does_not_start_it",
    "a_signal_starts_it_and_a_full_pipe_does_not",
    "a_pin_starts_it",
    "turns_end_although_a_job_is_held",
    "only_who_swaps_too_much_is_delayed",
    "another_policy_ends_its_delay",
    "nobody_is_delayed_for_nobody",
    "while_all_fits_it_does_not_act",
    "the_job_that_lacks_least_holds",
    "another_one_holds_after_ten_seconds",
    "whose_turn_it_is_outlives_a_while_without",
    "a_holder_that_sleeps_gives_it_up",
    "a_holder_that_ends_is_followed",
    "a_pinned_job_does_not_hold",
    "its_own_protection_is_restored",
    "cgroups_above_the_holder_are_protected",
    "protection_above_is_a_sum",
    "a_stop_withdraws_it",
    "shadow_withdraws_it",
    "unload_withdraws_it",
    "nobody_is_frozen_for_the_holder",
    "pauses_are_as_long_as_pays_for_jobs_without_terminal",
    "no_pause_is_long_if_all_are_attended",
    "nor_if_the_user_sets_a_limit",
    "jobs_run_where_two_switches_take_most_of_a_pause",
    "an_attended_job_among_others_is_frozen_as_ever",
    "no_pause_is_long_where_an_attended_job_has_no_room",
    "a_job_that_becomes_attended_in_its_slice_is_frozen_as_ever",
    "an_attended_newcomer_is_frozen_as_ever",
    "while_all_fits_none_is_chosen",
    "turns_are_chosen_where_they_give_most",
    "a_trial_is_bounded",
    "a_policy_that_helps_stays",
    "mode_off_restores_all",
    "unload_restores_all",
    "other_jobs_get_a_fresh_look",
    "a_shadow_chooses_and_does_nothing",
    "by_the_users_word_it_is_turns",
    "another_policy_ends_the_choice",
    "bins_run_in_proportion_to_weights",
    "large_groups_run_in_proportion_to_weights",
    "small_groups_run_in_proportion_to_weights",
    "mixed_groups_run_in_proportion_to_weights",
    "any_weights_get_their_parts",
    "the_smallest_weight_gets_its_turn_in_bins",
    "the_smallest_weight_gets_its_turn_in_groups",
    "another_weight_holds_in_bins",
    "another_weight_holds_in_groups",
    "what_no_job_can_have_is_forgotten",
    "its_share_of_waits_is_as_large_as_its_weight",
    "a_user_with_one_job_gets_half_in_bins",
    "a_user_with_one_job_gets_half_in_groups",
    "time_goes_by_users_weights_in_bins",
    "time_goes_by_users_weights_in_groups",
    "a_users_weight_does_not_count_by_job",
    "weights_count_within_a_user_in_bins",
    "weights_count_within_a_user_in_groups",
    "a_user_gains_nothing_by_more_jobs_in_bins",
    "a_user_gains_nothing_by_more_jobs_in_groups",
    "a_pinned_job_takes_no_part",
    "waits_count_for_the_user",
)
# Issue "Window" replaces what these are faults of.
NOT_MENDED = {
    "groups_hold_no_more_than_bin": "if what is beyond bin= is evicted, at once or a group a "
    "switch, pauses are longer than planned: the watchdog thaws (test_overlap, pauses_are_kept)",
}


class NotMendedError(AssertionError):
    """An expectation of the case does not hold."""


def marked(name: str) -> object:
    """Return: the case as a parameter; a known fault is expected to fail."""
    if name not in NOT_MENDED:
        return name
    return pytest.param(
        name,
        marks=pytest.mark.xfail(strict=True, raises=NotMendedError, reason=NOT_MENDED[name]),
    )


@pytest.mark.parametrize("name", [marked(name) for name in CASES + tuple(NOT_MENDED)])
def test_case(name: str) -> None:
    """The rotor does not have this fault."""
    done = rotor("rotor", "--case", name)
    said = re.search(r"^BROKEN: EXPECT:\d+: (.*)", done.stdout, re.MULTILINE)
    if done.returncode == 1 and said:
        raise NotMendedError(said[1])
    assert done.returncode == 0, (done.stdout + done.stderr)[-20000:]


@pytest.mark.parametrize("seed", range(2, 14))
def test_any_weights(seed: int) -> None:
    """Jobs of any sizes get time in proportion to any weights, within an eighth."""
    done = rotor("rotor", "--case", "any_weights_get_their_parts", "--seed", str(seed))
    assert done.returncode == 0, (done.stdout + done.stderr)[-20000:]


def test_all_cases_are_listed() -> None:
    """Each case of the program is a test."""
    done = rotor("rotor", "--cases")
    assert set(done.stdout.split()) == set(CASES) | set(NOT_MENDED)
