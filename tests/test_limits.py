"""Checks of the list of limits: each row names an existing setting, has its default, and has a test here."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from flagstaff.settings import Settings

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs/reference/limits.md"
_row = re.compile(r"^\| `([a-z0-9-]+)` \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
_setting = re.compile(r"FLAGSTAFF_[A-Z_]+")

# Tests that reach the bound of a row and check what happens there.
TESTS: dict[str, list[str]] = {
    "connections": [
        "processes/test_connection_limits.py::test_the_bounds_are_settings_and_a_closed_connection_makes_room"
    ],
    "connections-per-address": [
        "processes/test_connection_limits.py::test_a_flood_from_one_address_leaves_room_for_others_and_for_their_mail"
    ],
    "internal-connections": [
        "processes/test_internal_port.py::test_the_internal_port_has_32_connections_of_which_an_address_gets_16"
    ],
    "idle-connections": [
        "web/evaluate/test_fast_path.py::test_an_idle_connection_is_closed",
        "web/evaluate/test_fast_path.py::test_a_head_that_does_not_end_is_refused",
        "web/evaluate/test_fast_path.py::test_a_body_that_does_not_end_is_refused",
    ],
    "pipelined-requests": [
        (
            "processes/test_connection_limits.py::"
            "test_pipelined_requests_beyond_the_bound_are_left_and_the_connection_is_closed"
        )
    ],
    "bodies": [
        "web/test_neighbours.py::test_each_operation_has_a_bound_on_bodies",
        "web/test_errors.py::test_a_body_that_is_announced_too_long_is_refused_unread",
    ],
    "log-entries": [
        "web/test_edge.py::test_a_flood_beyond_a_limit_writes_a_hundred_entries_in_ten_seconds_and_the_others_all",
        "web/test_edge.py::test_a_log_with_a_bound_says_how_much_it_left_out",
        "web/test_edge.py::test_what_anyone_can_send_writes_a_thousand_entries_in_ten_seconds_and_never_hides_an_account",
    ],
    "fields": [
        "unit/test_nesting.py::test_colons_in_texts_are_no_fields",
        "web/unleash/test_reports.py::test_a_report_with_too_many_fields_is_refused",
    ],
    "attributes": [
        "web/evaluate/test_costly_contexts.py::test_a_context_has_at_most_a_thousand_attributes",
        "web/evaluate/test_costly_contexts.py::test_a_long_context_has_a_bounded_number_of_marks",
    ],
    "compared-attributes": [
        "web/evaluate/test_costly_contexts.py::test_eight_lists_of_a_context_are_compared_and_later_ones_count_as_missing",
        "unit/evaluation/test_conditions.py::test_a_list_is_read_up_to_its_bounds",
    ],
    "long-identifiers": [
        (
            "web/evaluate/test_costly_contexts.py::"
            "test_an_identifier_has_at_most_a_kilobyte_where_thousands_of_flags_hash_it"
        ),
        "unit/evaluation/test_targeting.py::test_an_attribute_identifies_nobody_beyond_a_kilobyte",
    ],
    "unfinished-bodies": [
        "web/test_unfinished_bodies.py::test_the_bodies_of_strangers_have_a_bound_for_each_address_and_in_all",
        "web/test_unfinished_bodies.py::test_a_key_that_is_not_valid_is_refused_before_the_body_has_arrived",
    ],
    "requests-at-once": [
        "unit/runtime/test_loop_turns.py::test_what_finds_no_room_in_a_pass_waits_and_clients_take_turns",
        "web/test_request_turns.py::test_a_toggle_does_not_wait_for_the_requests_of_strangers",
    ],
    "anonymous-requests": [
        "web/test_request_turns.py::test_beyond_its_share_an_address_without_a_key_or_token_is_refused_at_every_path"
    ],
    "reconnections": [
        "unit/runtime/test_streams.py::test_the_clients_of_many_streams_that_end_together_connect_again_over_a_longer_time"
    ],
    "evaluations": [
        "web/evaluate/test_refusals.py::test_beyond_the_limit_it_is_429_whatever_the_key_and_only_for_that_client"
    ],
    "unknown-keys": ["web/test_sdk_limits.py::test_keys_that_open_nothing_count_as_evaluations"],
    "validated-keys": ["web/test_sdk_limits.py::test_each_key_of_a_list_that_opens_nothing_counts"],
    "wrong-items": ["web/test_wrong_items.py::test_thousands_of_wrong_items_are_refused_at_once"],
    "registrations": ["web/accounts/test_register.py::test_beyond_the_limit_an_address_must_wait"],
    "logins": ["web/accounts/test_login.py::test_beyond_60_logins_in_a_minute_an_address_must_wait"],
    "failed-logins": [
        "web/accounts/test_login.py::test_the_eleventh_try_after_ten_failures_must_wait_even_with_the_right_password"
    ],
    "failed-logins-from-everywhere": [
        "web/accounts/test_login.py::test_guesses_from_everywhere_stop_after_100_in_an_hour_and_the_owner_gets_in"
    ],
    "second-factor-guesses": [
        "web/two_factor/test_second_factor_login.py::test_beyond_ten_wrong_codes_in_an_hour_even_a_right_one_must_wait"
    ],
    "password-resets": [
        "web/accounts/test_forgot_password.py::test_beyond_the_limit_an_address_must_wait",
        "web/accounts/test_reset_password.py::test_beyond_60_in_a_minute_an_address_must_wait",
    ],
    "unsubscribe-links": ["web/test_notifications.py::test_beyond_300_links_in_a_minute_an_address_must_wait"],
    "reset-mails": [
        "web/accounts/test_forgot_password.py::test_three_mails_go_out_in_half_an_hour_and_the_answer_stays_the_same"
    ],
    "password-hashes": [
        "unit/test_passwords.py::test_a_flood_from_one_client_is_turned_away_beyond_what_it_may_have_waiting",
        "unit/test_passwords.py::test_a_flood_from_many_clients_is_turned_away_beyond_what_can_wait",
    ],
    "token-guesses": [
        (
            "web/access_tokens/test_access_tokens.py::"
            "test_tokens_count_against_the_limit_of_their_account_and_guesses_against_the_client"
        )
    ],
    "remembered-addresses": ["unit/runtime/test_limiter.py::test_a_flood_from_a_million_addresses_stays_small"],
    "browser-requests": [
        "web/test_sdk_limits.py::test_the_requests_with_browser_keys_are_limited_by_the_address_of_the_end_user",
        "web/evaluate/test_ofrep_fast_path.py::test_the_limit_on_browser_keys_holds_by_both_ways_together",
    ],
    "browser-refetches": [
        "web/test_refetches.py::test_a_page_fetches_ten_times_a_change_and_then_counts_as_others_do",
        "web/test_refetches.py::test_the_fetches_of_all_pages_behind_an_address_are_bounded",
        "web/streams/test_ofrep_streams.py::test_opening_a_page_counts_once_and_its_streams_count_by_themselves",
    ],
    "browser-reports": ["web/test_refetches.py::test_what_pages_of_unleashs_clients_report_does_not_count_as_fetches"],
    "repeated-events": [
        (
            "web/streams/test_ofrep_streams.py::"
            "test_an_event_is_repeated_for_ten_minutes_at_most_and_not_after_the_next_one"
        )
    ],
    "requests-with-a-key": [
        "web/evaluate/test_environment_keys.py::test_each_key_has_its_own_limit_besides_the_one_of_the_address"
    ],
    "streams": [
        "unit/runtime/test_streams.py::test_half_of_the_streams_may_have_one_key_and_all_together_are_bounded",
        (
            "web/streams/test_ofrep_streams.py::"
            "test_a_client_for_which_there_is_no_room_is_told_of_a_change_and_asks_again_later"
        ),
    ],
    "reopened-streams": [
        (
            "web/streams/test_unleash_streams.py"
            "::test_a_client_that_opens_its_stream_again_and_again_is_refused_for_a_while"
        ),
        (
            "web/streams/test_unleash_streams.py"
            "::test_clients_that_do_not_name_their_connections_are_limited_by_key_and_address"
        ),
        "unit/runtime/test_stream_clients.py::test_the_clients_whose_streams_ended_last_are_remembered",
    ],
    "unread-events": [
        "unit/runtime/test_streams.py::test_a_client_that_does_not_read_is_dropped_and_others_are_told",
        "unit/runtime/test_streams.py::test_the_streams_of_a_change_that_is_too_long_for_an_event_end",
    ],
    "long-answers": [
        "unit/evaluation/unleash/test_documents.py::test_a_document_of_any_size_is_read_in_chunks_that_a_connection_can_hold",
        "unit/evaluation/unleash/test_documents.py::test_a_long_list_of_values_is_there_once_and_hashed_once",
        (
            "web/test_neighbours.py"
            "::test_a_segment_that_many_flags_name_is_sent_in_pieces_to_sdks_that_evaluate_flags_themselves"
        ),
    ],
    "first-loads": ["unit/runtime/test_first_loads.py::test_first_loads_are_bounded_and_projects_take_turns"],
    "loaded-environments": [
        "unit/runtime/test_snapshot_memory.py::test_the_least_recently_used_environment_makes_room"
    ],
    "remembered-flags": [
        "unit/runtime/test_local_flags.py::test_the_flags_of_environments_are_kept_up_to_a_number_of_bytes"
    ],
    "reports-with-a-key": ["web/test_sdk_limits.py::test_the_reports_with_one_key_are_limited"],
    "long-reports": [
        "web/unleash/test_reports.py::test_a_body_over_the_limit_is_refused",
        "web/unleash/test_reports.py::test_a_report_that_is_long_about_one_flag_is_refused",
        "unit/test_large_bodies.py::test_so_many_large_bodies_are_in_memory_and_short_ones_pass_them",
        "unit/test_large_bodies.py::test_slow_bodies_of_one_owner_leave_room_for_those_of_others",
    ],
    "reported-counts": [
        "web/unleash/test_reports.py::test_the_counts_of_variants_count_too",
        (
            "web/applications/test_report_bounds.py::"
            "test_what_a_report_lacks_is_shown_once_and_purged_with_its_environment"
        ),
    ],
    "waiting-reports": [
        "unit/runtime/test_applications.py::test_what_the_store_does_not_take_is_kept_and_bounded",
        "web/unleash/test_reports.py::test_a_report_that_cannot_be_kept_is_to_be_sent_again",
    ],
    "reported-counts-per-hour": [
        (
            "web/applications/test_report_bounds.py::"
            "test_further_counts_of_an_hour_are_dropped_and_those_that_are_known_go_on"
        )
    ],
    "connected-applications": [
        "unit/runtime/test_applications.py::test_instances_that_are_known_stay_known_however_many_others_come"
    ],
    "callers": [
        "web/applications/test_list_callers.py::test_a_key_has_so_many_callers_and_the_rest_are_counted_together",
        "web/applications/test_list_callers.py::test_an_environment_has_so_many_callers",
        "web/applications/test_list_callers.py::test_a_long_or_odd_user_agent_is_shortened_and_kept",
        "web/applications/test_list_callers.py::test_callers_go_after_thirty_days_and_with_their_environment",
        "unit/runtime/test_caller_counts.py::test_so_many_callers_of_a_key_wait_and_the_rest_are_others",
        "unit/runtime/test_caller_counts.py::test_so_many_callers_wait_in_all",
    ],
    "missing-flags": [
        "unit/runtime/test_applications.py::test_only_so_many_missing_flags_are_noted_as_asked_for_within_an_hour"
    ],
    "history": [
        (
            "services/test_retention.py::"
            "test_by_default_the_oldest_goes_before_the_disk_is_full_and_only_as_much_as_is_needed"
        ),
        "services/test_retention.py::test_a_history_over_its_bytes_loses_the_oldest_in_every_environment",
    ],
    "history-days": [
        "services/test_history.py::test_older_evaluations_are_deleted_in_small_steps_with_all_that_only_they_needed",
        "services/test_shorter_retention.py::test_evaluations_events_and_users_go_by_the_shortest_time",
    ],
    "history-free-space": [
        "services/test_free_space.py::test_a_new_file_gives_free_space_back_but_for_what_is_kept",
        "services/test_free_space.py::test_batches_wait_for_a_turn_only",
        "cli/test_history_compact.py::test_doctor_says_what_waits_and_the_command_gives_it_back",
    ],
    "waiting-evaluations": ["unit/runtime/test_recorder.py::test_what_the_disk_has_no_room_for_is_dropped_and_counted"],
    "write-ahead-log": [
        "processes/test_lost_logs.py::test_changes_leave_the_log_within_seconds",
        "storage/test_open_files.py::test_the_space_of_a_long_log_is_given_back",
    ],
    "recorded-attributes": [
        (
            "web/history/test_attributes.py::"
            "test_attributes_that_take_too_many_bytes_are_left_out_and_the_evaluation_is_recorded"
        )
    ],
    "api-requests": ["web/test_neighbours.py::test_each_account_has_its_own_limit_wherever_it_calls_from"],
    "database-turns": [
        "storage/test_turns.py::test_beside_ten_accounts_that_write_at_length_a_kill_gets_the_next_turn",
        (
            "storage/test_turns.py::"
            "test_beside_ten_accounts_that_write_with_all_connections_that_they_get_a_kill_gets_one"
        ),
        "storage/test_worker_turns.py::test_a_kill_waits_for_one_write_of_another_worker_that_writes_without_end",
        "storage/test_turns.py::test_an_account_waits_for_one_transaction_of_each_other",
        "storage/test_turns.py::test_a_long_write_gets_its_turn_beside_kills_without_end",
        "storage/test_turns.py::test_who_gets_no_turn_in_time_is_refused",
    ],
    "connections-kept-for-kills": ["storage/test_turns.py::test_a_kill_gets_through_while_all_other_connections_read"],
    "writes-to-a-project": [
        "storage/test_project_turns.py::test_a_write_that_waits_too_long_for_its_project_is_refused",
        "storage/test_project_turns.py::test_kills_that_wait_for_their_own_projects_leave_connections_to_other_kills",
        (
            "storage/test_project_turns.py::"
            "test_a_kill_does_not_wait_for_a_copy_in_its_project_that_waits_for_a_connection"
        ),
    ],
    "long-write-turns": ["storage/test_turns.py::test_a_write_that_keeps_its_turn_for_long_is_logged_and_measured"],
    "api-requests-at-once": [
        "web/test_neighbours.py::test_beyond_a_number_of_waiting_reads_an_account_is_refused",
        "unit/test_slots.py::test_an_account_has_one_long_write_at_a_time_and_three_of_each_other_class",
    ],
    "dashboard-streams": [
        "web/streams/test_project_events.py::test_an_account_opens_only_so_many_streams_and_another_when_one_has_ended",
        "web/streams/test_events_of_several_projects.py::test_projects_that_cannot_be_meant_are_refused",
    ],
    "work-of-drafts": ["web/test_condition_work.py::test_a_draft_beyond_the_budget_is_refused_at_its_condition"],
    "work-at-once": ["web/test_condition_work.py::test_an_explanation_beyond_the_budget_pauses_between_conditions"],
    "restored-together": [
        "web/changes/test_restore_changes.py::test_a_body_that_makes_no_sense_is_refused_by_name",
        "web/changes/test_restore_changes.py::test_changes_that_are_too_long_together_are_refused_by_name",
        "web/comparisons/test_undo_copy.py::test_an_operation_with_too_many_changes_is_refused_by_name",
    ],
    "causes": [
        "web/history/test_find_causes.py::test_a_body_that_makes_no_sense_is_refused_by_name",
        "web/history/test_find_causes.py::test_after_too_many_changes_a_cause_is_not_available",
        "web/history/test_find_causes.py::test_after_the_time_of_a_request_the_rest_is_not_examined",
    ],
    "explanations-at-once": [
        ("web/test_neighbours.py::test_an_explanation_takes_the_slot_of_a_read_until_it_is_sent_and_another_one_waits"),
        "processes/test_abandoned_work.py::test_a_playground_ends_when_its_client_leaves",
    ],
    "explanations": [
        "web/explanations/test_explain.py::test_an_explanation_has_a_bound_in_bytes_and_says_what_it_leaves_out"
    ],
    "lists": ["web/test_neighbours.py::test_a_list_of_long_flags_is_made_in_pieces"],
    "exports": [
        "web/exports/test_export_bounds.py::test_an_account_has_two_exports_at_a_time",
        "web/exports/test_export_bounds.py::test_all_exports_together_take_half_of_the_time",
        "web/exports/test_export_bounds.py::test_an_export_of_long_descriptions_holds_few_of_them_in_memory",
    ],
    "flag-summaries": [
        "web/history/test_summarise_flag_evaluations.py::test_more_than_31_days_are_refused_and_31_are_summarised"
    ],
    "intervals": [
        "unit/domain/test_calendar_intervals.py::test_too_many_intervals_are_refused_before_they_are_made",
        "storage/history/test_summaries.py::test_a_summary_of_too_many_cells_is_refused",
    ],
    "hours-of-summaries": [
        "web/history/test_time_zones.py::test_the_hours_whose_minutes_are_looked_at_are_bounded",
    ],
    "flags-of-a-key": [
        "unit/test_flag_counts.py::test_further_flags_of_a_key_in_an_hour_are_counted_together",
    ],
    "named-users": [
        "storage/history/test_named_users.py::test_the_flags_of_a_key_and_the_names_of_a_flag_are_bounded",
    ],
    "many-users": [
        "web/explanations/test_answer_users.py::test_the_first_flags_are_as_many_as_answers_fit",
        "web/test_neighbours.py::test_the_answers_of_many_users_are_found_in_pieces",
    ],
    "sessions": [
        "web/accounts/test_sessions.py::test_an_account_has_a_bounded_number_of_sessions_and_the_least_used_ends"
    ],
    "known-addresses": [
        "web/accounts/test_known_clients.py::test_an_account_has_a_bounded_number_of_addresses_and_the_oldest_goes"
    ],
    "passkeys": ["web/two_factor/test_passkeys.py::test_an_account_has_at_most_20"],
    "favourites": ["web/favourites/test_favourites.py::test_there_are_so_many_favourites_at_most"],
    "subscriptions": ["web/test_subscriptions.py::test_an_account_has_a_bounded_number_of_subscriptions_in_a_project"],
    "comments": [
        "web/comments/test_comments.py::test_a_subject_has_a_bounded_number_of_comments",
        "web/comments/test_comments.py::test_what_is_malformed_is_refused_at_its_field",
    ],
    "comments-per-hour": [
        "web/comments/test_comments.py::test_an_account_writes_a_bounded_number_of_comments_in_an_hour"
    ],
    "projects": ["web/test_quotas.py::test_an_account_may_have_so_many_projects_also_when_it_makes_them_at_once"],
    "environments": ["web/test_quotas.py::test_a_project_may_have_so_many_environments"],
    "cloned-environments": [
        "web/environments/test_clone_environment.py::test_an_environment_with_too_many_flags_and_rules_is_refused",
        "services/test_clones.py::test_flags_that_change_all_the_time_cannot_be_cloned_and_nothing_is_left",
        "services/test_clones.py::test_no_transaction_of_a_clone_or_a_deletion_writes_many_rows",
    ],
    "copied-flags": [
        "web/comparisons/test_copy_flags.py::test_a_copy_that_would_change_too_much_is_refused_but_one_flag_is_not"
    ],
    "removed-environments": [
        "services/test_clones.py::test_no_transaction_of_a_clone_or_a_deletion_writes_many_rows",
        "processes/test_hidden_environments.py::test_the_rows_of_a_deleted_environment_are_removed_after_a_kill",
    ],
    "environment-order": [
        (
            "web/environments/test_order_environments.py::"
            "test_an_order_without_each_environment_exactly_once_changes_nothing"
        )
    ],
    "segments": ["web/test_quotas.py::test_a_project_may_have_so_many_segments"],
    "metrics": ["web/metrics/test_metrics.py::test_a_project_has_room_for_so_many_metrics"],
    "releases": [
        "web/releases/test_create_release.py::test_a_release_that_cannot_be_is_refused_by_field",
        "web/releases/test_create_release.py::test_a_flag_has_one_release_at_a_time",
        "web/releases/test_create_release.py::test_of_the_releases_of_a_flag_that_have_ended_so_many_are_kept",
    ],
    "watched-releases": [
        (
            "web/releases/test_create_release.py::"
            "test_so_many_releases_may_be_watched_and_a_schedule_or_a_cancelled_one_takes_no_place"
        )
    ],
    "release-turns": [
        "unit/releases/test_watch_turns.py::test_whoever_has_had_time_comes_after_all_who_have_had_less",
        "services/test_many_releases.py::test_a_guard_acts_before_the_releases_of_another_project_are_counted",
    ],
    "release-outlooks": ["storage/history/test_events.py::test_the_latest_events_are_read_up_to_a_bound"],
    "events": [
        "web/metrics/test_events.py::test_a_body_of_another_form_is_refused_as_a_whole",
        "web/metrics/test_events.py::test_a_body_beyond_the_bound_is_refused",
        "web/metrics/test_events.py::test_the_limit_is_that_of_evaluations_and_counts_for_itself",
    ],
    "events-of-an-address": [
        "web/metrics/test_events.py::test_an_address_may_send_20_000_events_a_minute_in_whole_requests",
        ("web/evaluate/test_events_fast_path.py::test_the_events_of_an_address_count_against_one_limit_by_both_ways"),
    ],
    "waiting-events": [
        "unit/runtime/test_event_buffer.py::test_beyond_the_bound_events_are_refused",
        "processes/test_full_disk.py::test_events_are_refused_on_a_full_disk_and_none_that_was_accepted_is_lost",
        "unit/test_pacing.py::test_more_pieces_than_may_wait_are_refused_and_the_others_get_their_turns",
    ],
    "stored-events": [
        "services/test_event_retention.py::test_a_projects_events_beyond_its_bound_are_deleted_and_nobody_elses",
        "services/test_event_retention.py::test_beyond_the_bound_of_all_the_accounts_with_the_most_events_lose_them",
    ],
    "event-ids": [
        "services/test_event_retention.py::test_the_oldest_ids_beyond_a_projects_bound_are_forgotten_and_nobody_elses",
        "services/test_event_retention.py::test_ids_of_pages_never_make_those_of_servers_be_forgotten",
        "storage/history/test_event_ids.py::test_each_of_many_ids_is_new_once_and_takes_eight_bytes",
    ],
    "searched-events": ["web/metrics/test_list_events.py::test_a_page_searches_so_many_events"],
    "request-metrics": [
        "web/unleash/test_impact_metrics.py::test_an_environment_keeps_a_bounded_number_of_series",
        "web/unleash/test_impact_metrics.py::test_an_hour_keeps_a_bounded_number_of_samples",
        "web/unleash/test_impact_metrics.py::test_what_cannot_be_kept_is_counted_and_the_rest_of_its_report_is_kept",
    ],
    "unknown-metrics": ["web/metrics/test_events.py::test_of_an_environment_so_many_unknown_metrics_are_counted"],
    "release-stretches": [
        "unit/releases/test_counting.py::test_beyond_the_bound_of_stretches_nobody_is_compared_for_the_rest_of_the_step"
    ],
    "exposed-users": ["unit/releases/test_counting.py::test_beyond_the_bound_users_are_not_counted_but_told_of"],
    "pinned-charts": ["web/pinned_charts/test_pinned_charts.py::test_a_project_has_at_most_twelve"],
    "views": ["web/test_quotas.py::test_a_project_may_have_so_many_views"],
    "webhooks": ["web/webhooks/test_webhooks.py::test_a_project_has_room_for_so_many_webhooks"],
    "webhook-messages": [
        (
            "web/webhooks/test_deliveries.py::"
            "test_beyond_the_bound_the_oldest_messages_are_dropped_and_the_next_one_names_them"
        ),
        "web/webhooks/test_deliveries.py::test_a_long_message_leaves_out_the_states",
        "web/webhooks/test_deliveries.py::test_records_are_kept_for_thirty_days",
        "web/webhooks/test_repeats.py::test_so_many_records_of_a_webhook_are_kept",
    ],
    "webhook-messages-of-an-operation": [
        (
            "web/webhooks/test_operations.py::"
            "test_of_an_operation_with_more_changes_than_its_bound_the_newest_are_sent_and_the_others_counted"
        ),
        "web/webhooks/test_operations.py::test_a_webhook_gets_at_most_its_own_bound_and_a_chat_one_message",
    ],
    "webhook-repeats": [
        "web/webhooks/test_repeats.py::test_a_webhook_repeats_so_many_messages_in_an_hour_and_refuses_the_next",
        "web/webhooks/test_repeats.py::test_an_account_repeats_so_many_messages_of_all_webhooks_in_an_hour",
    ],
    "webhook-previews": [
        ("web/webhooks/test_preview.py::test_of_many_changes_the_newest_are_examined_and_the_first_messages_shown")
    ],
    "webhook-names": ["unit/test_webhook_client.py::test_names_that_are_never_resolved_hold_up_only_so_many"],
    "notices": [
        "web/webhooks/test_notices.py::test_more_flags_than_a_message_has_are_more_messages",
        "web/webhooks/test_notices.py::test_of_missing_flags_the_most_wanted_are_told_if_flags_can_have_their_keys",
        "web/webhooks/test_notices.py::test_notices_are_kept_for_thirty_days",
    ],
    "change-mails": [
        "web/test_notifications.py::test_an_hour_has_twenty_mails_at_most_and_the_next_one_has_what_waited",
        "web/test_notifications.py::test_more_than_a_mail_shows_is_counted",
        "web/test_notifications.py::test_what_waits_for_an_account_is_bounded",
    ],
    "token-mails": ["web/access_tokens/test_access_tokens.py::test_an_hour_has_forty_mails_about_tokens_at_most"],
    "webhook-attempts": [
        "web/webhooks/test_deliveries.py::test_the_slow_receivers_of_a_project_leave_turns_to_other_projects",
        "web/webhooks/test_deliveries.py::test_a_receiver_that_never_answers_or_never_ends_holds_up_nobody_else",
        (
            "web/webhooks/test_deliveries.py::"
            "test_attempts_are_made_at_the_stated_times_and_the_last_one_switches_the_webhook_off"
        ),
    ],
    "webhook-pace": [
        "unit/test_webhook_pace.py::test_a_project_gets_no_more_than_its_pace",
        ("unit/test_webhook_pace.py::test_all_projects_get_no_more_than_the_pace_of_the_instance_and_the_same_share"),
        (
            "unit/test_webhook_pace.py::"
            "test_a_webhook_with_one_message_waits_for_one_turn_of_each_other_whatever_waits_for_those"
        ),
    ],
    "webhook-records": [
        "web/webhooks/test_records.py::test_the_results_of_many_webhooks_are_stored_in_few_transactions"
    ],
    "webhook-responses": [
        "unit/test_webhook_client.py::test_a_response_that_does_not_begin_within_its_bound_is_a_failure",
        "unit/test_webhook_client.py::test_a_body_in_many_pieces_is_read_as_far_as_its_bound",
    ],
    "sdk-keys": ["web/sdk_keys/test_sdk_keys.py::test_a_project_may_have_so_many_keys_of_which_expired_ones_make_room"],
    "allowed-origins": [
        "web/sdk_keys/test_update_sdk_key.py::test_malformed_origins_are_refused_and_the_message_says_what_to_write",
        "unit/domain/test_key_origins.py::test_a_text_that_is_too_long_is_refused",
    ],
    "tokens": ["web/access_tokens/test_access_tokens.py::test_there_is_room_for_so_many_tokens"],
    "flags": ["web/test_quotas.py::test_an_environment_may_have_so_many_flags"],
    "rules": [
        "web/test_quotas.py::test_a_flag_may_have_so_many_rules",
        "web/test_quotas.py::test_the_flags_of_an_environment_may_have_so_many_rules_together",
    ],
    "condition-characters": [
        "web/test_quotas.py::test_the_conditions_of_an_environment_may_have_so_many_characters",
        "web/test_quotas.py::test_the_conditions_of_a_projects_segments_may_have_so_many_characters",
    ],
    "condition-work": [
        "web/test_condition_work.py::test_a_rule_is_refused_at_the_condition_with_which_it_exceeds_the_budget",
        "web/test_condition_work.py::test_the_rules_of_an_environment_share_its_budget_and_may_shrink",
    ],
    "variant-characters": ["web/test_quotas.py::test_the_variants_of_an_environment_may_have_so_many_characters"],
    "erasures": ["web/people/test_erasures.py::test_a_project_has_a_hundred_erasures_that_are_not_done"],
    "account-deletions": [
        "web/accounts/test_delete_account.py::test_an_account_in_more_projects_than_are_locked_at_once_is_refused",
        "web/accounts/test_delete_account.py::test_the_trail_is_gone_through_in_parts_and_goes_on_after_a_kill",
    ],
    "user-data": ["web/people/test_user_data.py::test_a_long_history_of_a_user_is_one_document"],
    "audit-bytes": [
        "web/changes/test_audit_bytes.py::test_beyond_the_bytes_of_an_hour_changes_are_refused_and_alter_nothing",
        "web/changes/test_audit_bytes.py::test_beyond_the_bytes_of_all_time_changes_are_refused",
        "web/changes/test_audit_bytes.py::test_a_project_has_the_bytes_of_four_accounts",
        "web/changes/test_audit_bytes.py::test_what_turns_something_off_passes_beyond_the_bound_and_is_not_counted",
    ],
    "idempotency-keys": [
        (
            "web/idempotency/test_idempotency_key.py::"
            "test_beyond_the_bound_of_an_account_new_keys_are_refused_until_old_ones_expire"
        )
    ],
    "stored-responses": [
        (
            "web/idempotency/test_stored_responses.py::"
            "test_beyond_a_bound_the_oldest_responses_go_but_their_requests_are_not_carried_out_again"
        )
    ],
    "responses-without-a-change": [
        "web/idempotency/test_stored_responses.py::test_a_request_that_changes_nothing_stores_next_to_nothing"
    ],
    "mails": [
        "mail/test_mail_limits.py::test_each_kind_is_sent_up_to_its_part_of_the_limit_on_all_mails",
        "mail/test_mail_limits.py::test_mails_to_one_domain_have_a_limit_of_their_own",
    ],
    "invitation-mails": [
        "web/invitations/test_invitations.py::test_one_address_gets_five_mails_a_day",
        "web/invitations/test_invitations.py::test_an_account_has_fifty_invitations_mailed_a_day",
    ],
}


def rows() -> dict[str, tuple[str, str, str]]:
    """Return the rows of the list: bound, setting and what happens, by their names."""
    found = _row.findall(LIST.read_text(encoding="utf-8"))
    assert len(found) == len({name for name, *_ in found}), "a row is there twice"
    return {name: (bound, setting, happens) for name, bound, setting, happens in found}


@cache
def functions(path: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions of a file of tests, by name."""
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_row_has_tests_and_each_test_a_row() -> None:
    assert rows().keys() == TESTS.keys()


@pytest.mark.parametrize("name", TESTS)
def test_the_tests_of_a_row_exist_and_run(name: str) -> None:
    for test in TESTS[name]:
        path, _, function = test.partition("::")
        assert Path(path).name.startswith("test_")
        assert function.startswith("test_")
        found = functions(path).get(function)
        assert found is not None, f"{test} does not exist"
        assert not [each for each in found.decorator_list if "skip" in ast.unparse(each)], f"{test} is skipped"


def test_the_settings_of_rows_exist_and_every_limit_that_is_a_setting_has_a_row() -> None:
    known = {each.variable for each in Settings.rows()}
    named = {each for _, setting, _ in rows().values() for each in _setting.findall(setting)}
    assert named <= known
    limits = {each for each in known if "_RATE_LIMIT" in each or "_MAX_" in each}
    assert limits <= named


def test_a_bound_that_begins_with_a_number_is_the_default_of_its_setting() -> None:
    defaults = {f"`{each.variable}`": each.default for each in Settings.rows() if each.default[0].isdigit()}
    for bound, setting, _ in rows().values():
        if setting in defaults and bound[0].isdigit():
            assert bound.partition(" ")[0].strip(",;").replace(",", "") == re.split("[^0-9]", defaults[setting])[0]
