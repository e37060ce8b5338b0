"""What Scaffale promises, and the tests that show each promise. `test_promises.py` checks it both ways.

An id is the chapter that the promise is of, and a name. Chapters: 1 ground rules; 2 memory (2.1 whose project and which
paths, 2.2 configuration, 2.3 records, 2.4 tools, 2.5 ranking, 2.6 audit and sensitive data, 2.7 export and import, 2.8 resources
and prompts); 3 documents (3.1 records, 3.2 managing, 3.3 finding and reading, 3.4
correlation); 4 ledger; 5 guard (5.1 segments, 5.2 intent, 5.3 hooks,
5.4 installer, 5.5 skill); 6 faces; 7 vectors; 8 beyond (8.1 freshness, 8.2 counts, 8.3 sources, 8.4 evidence, 8.6 approval,
8.7 scope, 8.8
budgets, 8.11 peers, 8.12 processes); 9 settled details. Tests are named relative to this folder. `later` names what
has to come before a promise can be shown; such a promise is not kept yet and has no test.
"""

from __future__ import annotations

from typing import NamedTuple


class Promise(NamedTuple):
    """One line of what is promised, and where it is shown."""

    id: str
    text: str
    tests: tuple[str, ...] = ()
    later: str = ""



def promise(id: str, text: str, *tests: str, later: str = "") -> Promise:
    """A row of the manifest."""
    return Promise(id, text, tests, later)


HOUSE = "architecture/test_house.py::"
SURFACE = "architecture/test_public_surface.py::"
WORD = "architecture/test_written_word.py::"
CONTRACT = "contract/test_lexical_index.py::"
VECTOR_INDEX = "contract/test_vector_index.py::"
MEANING = "unit/meaning/test_vectors.py::"
VECTORS_OFF = "integration/test_vectors_off.py::"
EMBEDDER = "integration/test_embedder.py::"
MODELS = "models/test_real_models.py::"
MILVUS = "unit/backends/test_milvus.py::"
BAD = "integration/test_bad_stores.py::"
KILL = "integration/test_kill.py::"
IN_MEMORY = "integration/test_mcp_in_memory.py::"
REAL = "integration/test_mcp_real.py::"
STDIO = "integration/test_mcp_stdio.py::"
PROCESSES = "integration/test_processes.py::"
COMMONMARK = "property/test_commonmark.py::"
TAIL = "property/test_tail.py::"
ORDER = "property/test_total_order.py::"
ANSWER = "unit/server/hooks/test_answer.py::"
CALLS = "unit/server/hooks/test_calls.py::"
HTTP = "unit/server/test_mcp_http.py::"
HTTP_PROCESS = "integration/test_http_process.py::"
TOKENS_KEPT = "unit/memory/test_access.py::"
COMPLETION = "unit/server/test_completion.py::"
BLOCKS = "integration/test_code_blocks.py::"
BROWSER = "browser/test_page.py::"
PAGES = "unit/server/web/test_pages.py::"
MARKUP = "unit/server/web/test_rendered.py::"
INSTALL = "unit/server/install/test_install.py::"
JSONC = "unit/server/install/test_jsonc.py::"
TOML = "unit/server/install/test_toml.py::"
SKILL = "unit/server/install/test_skill.py::"
SEGMENTS = "unit/server/hooks/test_segments.py::"
INTENT = "unit/server/hooks/test_intent.py::"
SEARCH = "unit/test_search.py::"
LITERALS = "unit/test_literals.py::"
CLOSE = "unit/ranking/test_closeness.py::"
SPELLING = "unit/ranking/test_spelling.py::"
CHOICE = "unit/backends/test_choice.py::"
AUDIT = "unit/indexer/test_audit.py::"
DATABASE = "unit/indexer/test_database.py::"
SAFE = "unit/test_safekeeping.py::"
SHELF_FILES = "unit/test_docs_exchange.py::"
CORRELATION = "unit/test_correlation.py::"
REFERENCES = "unit/indexer/test_references.py::"
FRESH = "unit/indexer/test_freshness.py::"
FRONT = "unit/indexer/test_front_matter.py::"
MARKDOWN = "unit/indexer/test_markdown.py::"
PATHS = "unit/indexer/test_paths.py::"
PROJECTS = "unit/indexer/test_projects.py::"
REPOSITORY = "unit/indexer/test_repository.py::"
SCAN = "unit/indexer/test_scan.py::"
SHELVES = "unit/indexer/test_shelves.py::"
MAP = "unit/test_docs_map.py::"
SYNC = "unit/indexer/test_sync.py::"
WALK = "unit/indexer/test_walk.py::"
FORMULA = "unit/ranking/test_bm25.py::"
RANKED = "unit/ranking/test_order.py::"
ARGUMENTS = "unit/server/test_mcp_arguments.py::"
LINES = "unit/server/test_mcp_lines.py::"
PROSE = "unit/server/test_mcp_prose.py::"
REGISTRY = "unit/server/test_mcp_registry.py::"
RESOURCES = "unit/server/test_mcp_resources.py::"
RESULTS = "unit/server/test_mcp_results.py::"
DOCS = "unit/test_docs.py::"
FILES = "unit/test_files.py::"
MEMORY = "unit/test_memory.py::"
LIFE = "unit/memory/test_life.py::"
DELETION = "unit/memory/test_deletion.py::"
PROPOSING = "unit/memory/test_proposing.py::"
SESSIONS = "unit/memory/test_sessions.py::"
REVIEW = "unit/memory/test_reviewing.py::"
RECALL = "unit/memory/test_recalling.py::"
MCP_LEDGER = "integration/test_mcp_ledger.py::"
REVIEW_KILLED = "integration/test_review_killed.py::"
CARRYING = "unit/memory/test_carrying.py::"
REVIEW_TERMINAL = "integration/test_review_terminal.py::"
CHECKLIST = "unit/server/test_checklist.py::"
LEDGERS = "property/test_ledger.py::"
LINKING = "unit/memory/test_linking.py::"
EVIDENCE = "unit/memory/test_evidence.py::"
CAPTURE = "unit/memory/test_capture.py::"
EXCHANGE = "unit/memory/test_exchange.py::"
TOKENS = "unit/server/test_tokens.py::"
REAL_MEMORY = "integration/test_mcp_memory.py::"
TOGETHER = "integration/test_memory_together.py::"
TWINS = "unit/server/test_cli_twins.py::"
SECRETS = "unit/test_secrets.py::"
SETTINGS = "unit/test_settings.py::"
SNIPPET = "unit/test_snippet.py::"
TEXT = "unit/test_text.py::"

GROUND_RULES = (
    promise(
        "1.1-one-sqlite",
        "One SQLite library serves everything, past the bug that resets a log in use.",
        HOUSE + "test_no_module_knows_the_interpreters_own_sqlite",
        HOUSE + "test_sqlite_is_past_the_bug_that_resets_a_log_in_use",
    ),
    promise(
        "1.1-one-door",
        "Nothing but that library ever opens a store's files.",
        HOUSE + "test_only_two_places_open_a_sqlite_file",
        HOUSE + "test_few_places_open_files_and_none_a_store",
        PATHS + "test_a_store_is_never_opened_by_another_road",
        PATHS + "test_a_store_that_is_not_there_yet_cannot_be_a_target",
        DOCS + "test_a_store_is_no_document",
    ),
    promise(
        "1.1-projection",
        "An index holds nothing that the store cannot restore.",
        DOCS + "test_an_index_that_is_gone_comes_back",
        MEMORY + "test_an_index_that_is_gone_comes_back",
        SYNC + "test_rebuilding_switches_every_handle",
        SYNC + "test_a_pruned_journal_means_a_snapshot",
    ),
    promise(
        "1.1-missing-index",
        "An index that is missing, or vanishes in use, is built anew.",
        SYNC + "test_a_missing_index_is_built_anew",
        SYNC + "test_an_index_that_vanishes_under_a_running_process_is_no_error",
    ),
    promise(
        "1.1-damaged-index",
        "A damaged index is noticed and built anew, with a warning.",
        SYNC + "test_a_damaged_index_is_built_anew_with_a_warning",
        CONTRACT + "test_garbage_in_the_folder_is_unusable_not_a_crash",
        CONTRACT + "test_what_was_written_verifies",
        CONTRACT + "test_damage_that_a_search_may_not_notice_is_found_by_verifying",
        SYNC + "test_a_damaged_store_is_not_an_index_matter",
    ),
    promise(
        "1.1-foreign-index",
        "An index of another store, engine or state of the store is never trusted.",
        SYNC + "test_an_index_of_another_store_is_not_trusted",
        SYNC + "test_switching_engines_needs_no_ceremony",
        SYNC + "test_a_store_put_back_from_a_backup_is_noticed_though_numbers_repeat",
        CONTRACT + "test_an_empty_index_has_no_watermark_and_finds_nothing",
        CONTRACT + "test_the_watermark_is_committed_with_the_batch",
        CONTRACT + "test_what_was_not_committed_is_lost_whole",
    ),
    promise(
        "1.1-building",
        "While an index is being built, or cannot be, the store itself is searched.",
        SYNC + "test_while_another_process_builds_the_store_itself_is_searched",
        SYNC + "test_where_no_index_can_be_made_the_store_itself_is_searched",
    ),
    promise(
        "1.2-taken-away",
        "Nothing is acknowledged into a store file that was removed or replaced under a running server.",
        MEMORY + "test_nothing_is_written_into_a_store_that_was_taken_away",
        DOCS + "test_nothing_is_written_into_a_store_that_was_taken_away",
    ),
    promise(
        "1.2-own-writes",
        "What is acknowledged is found by the next search.",
        SYNC + "test_a_write_is_found_by_every_handle_before_any_commit",
        MEMORY + "test_an_entry_is_kept_word_for_word_and_found_at_once",
        DOCS + "test_what_a_scan_stored_is_found_when_it_has_answered",
        DOCS + "test_a_background_thread_does_not_change_what_is_found",
        MEMORY + "test_an_entry_that_is_kept_is_acknowledged_whatever_becomes_of_the_look_up_after_it",
    ),
    promise(
        "1.2-others-writes",
        "It is found by every other process's next search, too.",
        REAL + "test_two_processes_share_a_store",
        PROCESSES + "test_no_write_is_missed_and_no_lock_is_heard_of",
        PROCESSES + "test_each_sees_what_each_wrote",
        PROCESSES + "test_changes_and_removals_of_documents_reach_the_others",
    ),
    promise(
        "1.2-busy-writer",
        "An index writer that is busy elsewhere delays and hides nothing.",
        SYNC + "test_a_held_writer_lock_delays_nothing",
        CONTRACT + "test_overlay_serves_while_another_process_holds_the_writer",
        CONTRACT + "test_a_second_writer_is_refused_at_once",
    ),
    promise(
        "1.2-no-commit",
        "A write costs a transaction of the store, never an index commit.",
        MEMORY + "test_an_entry_costs_no_commit_of_an_index",
        SYNC + "test_a_background_thread_commits_soon",
        SYNC + "test_many_changes_are_committed_by_the_search_that_meets_them",
        DOCS + "test_a_scan_costs_other_processes_a_look_at_its_commit_and_no_more",
    ),
    promise(
        "1.2-same-answer",
        "A search that shows what no commit holds yet answers as after the commit.",
        TAIL + "test_overlay_and_commit_agree",
        CONTRACT + "test_a_passage_scores_the_same_overlaid_and_committed",
        CONTRACT + "test_a_commit_settles_the_overlay",
        CONTRACT + "test_a_commit_that_brings_an_older_state_of_an_overlaid_owner_does_not_show_it",
        SYNC + "test_catching_up_empties_the_overlay_and_changes_no_answer",
        CONTRACT + "test_an_owner_with_several_passages_changes_as_one",
        CONTRACT + "test_replacing_an_owner_is_idempotent_and_can_empty_it",
    ),
    promise(
        "1.2-durable",
        "What memory acknowledged survives a crash; scans may be repeated, decisions not.",
        DATABASE + "test_a_new_store_is_private_and_durable",
        DATABASE + "test_what_others_may_do_with_an_older_store_is_taken_from_them",
        DATABASE + "test_a_write_that_need_not_be_durable_does_not_make_the_next_one_so",
        BAD + "test_what_a_killed_process_acknowledged_is_there",
        KILL + "test_a_few_kills_lose_nothing",
        KILL + "test_many_kills_lose_nothing",
        KILL + "test_survivors_go_on_while_others_are_killed",
    ),
    promise(
        "1.3-isolation",
        "A project-scoped call sees one project.",
        MEMORY + "test_a_project_sees_itself_alone_unless_asked_to_cross",
        REAL + "test_projects_are_kept_apart",
        REAL_MEMORY + "test_nothing_of_one_project_is_ever_in_an_answer_to_another",
    ),
    promise(
        "1.3-cross",
        "cross_project is the only way across, and must be passed.",
        MEMORY + "test_a_project_sees_itself_alone_unless_asked_to_cross",
        MEMORY + "test_an_unknown_choice_is_refused",
    ),
    promise(
        "1.4-verbatim",
        "Content is stored exactly as given; a summary is a field of its own.",
        MEMORY + "test_an_entry_is_kept_word_for_word_and_found_at_once",
    ),
    promise(
        "1.5-any-string",
        "Any string is a valid query, and none is engine syntax.",
        CONTRACT + "test_any_string_is_a_valid_query",
        CONTRACT + "test_hostile_text_is_indexed_and_found",
        REAL + "test_hostile_queries_find_nothing_and_break_nothing",
        TEXT + "test_any_text_is_a_query",
        DOCS + "test_words_are_ored_and_every_string_is_a_query",
        TEXT + "test_any_text_can_be_normalised",
    ),
    promise(
        "1.5-or",
        "Words are OR-ed; what holds more of them comes first.",
        CONTRACT + "test_words_are_ored_and_passages_with_more_of_them_come_first",
        TEXT + "test_a_query_is_its_words_without_the_common_ones",
    ),
    promise(
        "1.5-engines-agree",
        "Engines agree on filters, ties and literal matches.",
        ORDER + "test_engines_agree_on_matches_and_on_ties",
        CONTRACT + "test_engines_match_what_a_brute_force_search_matches",
        CONTRACT + "test_filters_are_part_of_the_query",
        CONTRACT + "test_literals_are_found",
    ),
    promise(
        "1.5-empty",
        "An empty result is empty; nothing is invented.",
        MEMORY + "test_nothing_found_says_what_exists",
        MEMORY + "test_a_query_of_signs_finds_what_holds_them_and_says_when_nothing_does",
        DOCS + "test_nothing_found_says_what_there_is",
    ),
    promise(
        "1.6-context",
        "Every memory result carries source, status, confidence, times and the fixed hint to verify it.",
        MEMORY + "test_every_result_carries_what_it_takes_to_judge_it",
    ),
    promise(
        "1.7-bare",
        "No network, no model, no other program is needed for the main job.",
        HOUSE + "test_the_main_job_asks_nothing_of_the_network",
    ),
    promise(
        "1.7-fts5",
        "Without Tantivy FTS5 serves, and says so in answers and status.",
        CHOICE + "test_without_tantivy_fts5_serves_aloud",
        MEMORY + "test_a_missing_engine_is_a_warning_not_a_failure",
        DOCS + "test_a_missing_engine_is_a_warning_not_a_failure",
    ),
    promise(
        "1.7-like",
        "Without both an escaped LIKE serves, and says so.",
        CHOICE + "test_without_both_like_serves_aloud",
        CHOICE + "test_a_hall_serves_on_the_last_engine_and_says_so",
        CHOICE + "test_the_best_engine_serves_unless_one_is_named",
    ),
    promise(
        "1.7-vectors",
        "Vectors are optional, and their absence is a warning.",
        MEANING + "test_off_until_somebody_turns_them_on",
        MEANING + "test_a_model_that_is_not_there_is_a_warning",
        MEANING + "test_a_slow_model_is_not_waited_for",
    ),
    promise(
        "1.8-apart",
        "Memory and documents never share a database file.",
        DOCS + "test_documents_and_memory_share_no_file",
        BAD + "test_a_store_of_the_other_kind_is_not_taken_for_ours",
    ),
    promise(
        "1.8-uris",
        "They refer to each other by docs:// and memory:// URIs.",
        RESOURCES + "test_all_templates_are_offered",
        DOCS + "test_a_hit_is_the_best_section_with_all_that_leads_to_it",
    ),
    promise(
        "1.9-target",
        "Nothing is ever written into the target project.",
        MEMORY + "test_the_folder_of_the_project_stays_as_it_is",
        PROJECTS + "test_resolving_writes_nothing",
    ),
    promise(
        "1.10-errors",
        "Errors are data with a code, a detail and isError, and a text of one line.",
        IN_MEMORY + "test_errors_are_data",
        RESULTS + "test_an_error_carries_its_code_in_text_and_data",
        SURFACE + "test_errors_are_one_tree_with_one_code_each",
        SURFACE + "test_an_error_is_its_detail",
        SURFACE + "test_the_tree_is_drawn_where_it_grows",
    ),
    promise(
        "1.10-no-trace",
        "No stack trace and no exception's text leaves the server.",
        IN_MEMORY + "test_a_defect_is_logged_and_answered_without_its_text",
        IN_MEMORY + "test_a_defect_of_the_checks_is_no_exception",
        RESULTS + "test_an_unusable_index_never_shows",
    ),
    promise(
        "1.10-success",
        "A success says ok, lists warnings, and is enough as text and as data.",
        IN_MEMORY + "test_every_answer_is_enough_as_text_and_as_data",
        RESULTS + "test_success_is_enough_as_text_and_as_data",
    ),
)

IDENTITY = (
    promise(
        "2.1-order",
        "The argument, MEMORY_PROJECT_ID of the .env, the Git remote, the path: in this order.",
        PROJECTS + "test_the_argument_wins_then_env_then_remote_then_path",
        PROJECTS + "test_an_id_alone_has_no_path_and_no_roots",
        MEMORY + "test_a_project_that_moved_keeps_its_memory_when_more_than_its_path_names_it",
    ),
    promise(
        "2.1-remote",
        "Every spelling of a remote gives one id, without credentials.",
        REPOSITORY + "test_every_spelling_of_a_remote_is_one_remote",
        REPOSITORY + "test_credentials_never_enter_the_id",
    ),
    promise(
        "2.1-repository",
        "Subfolders, worktrees and clones are one repository; a submodule has its own remote.",
        REPOSITORY + "test_subfolders_worktrees_and_clones_are_one_repository",
        REPOSITORY + "test_a_submodule_has_its_own_remote",
        PROJECTS + "test_a_nested_folder_is_its_repository",
    ),
    promise(
        "2.1-pathhash",
        "Without a remote the id is a prefix of the path's hash, 16 hex digits.",
        PROJECTS + "test_a_path_id_is_a_prefix_of_the_hash",
        PROJECTS + "test_siblings_without_git_are_strangers",
    ),
    promise(
        "2.1-reads",
        "Reading resolves a project without making a row for it.",
        MEMORY + "test_reading_registers_no_project_and_writes_nothing",
    ),
    promise(
        "2.1-project-roots",
        "With allowed roots a project lies inside one of them.",
        PROJECTS + "test_a_project_outside_the_roots_is_refused",
        PATHS + "test_a_project_lies_inside_the_roots_when_there_are_any",
    ),
    promise(
        "2.1-docs-roots",
        "Scans stay inside DOCS_ALLOWED_ROOTS; without any, in what the user may read.",
        DOCS + "test_a_scan_stays_inside_the_roots",
        SCAN + "test_a_root_outside_the_allowed_ones_is_refused",
    ),
    promise(
        "2.1-paths",
        "Traversal, links that leave, devices, pipes, drives and shares are INVALID_PARAM.",
        PATHS + "test_no_spelling_leaves_the_roots",
        PATHS + "test_what_is_no_path_is_refused_by_the_name_of_the_argument",
        PATHS + "test_what_cannot_be_read_as_a_file_is_refused",
        PATHS + "test_a_device_is_refused",
        PATHS + "test_whatever_is_accepted_lies_inside",
        DOCS + "test_what_is_no_file_is_refused",
    ),
    promise(
        "2.1-swaps",
        "A path swapped after its check is noticed when it is opened.",
        FILES + "test_a_folder_swapped_for_a_link_after_the_check_is_noticed",
        SCAN + "test_a_file_swapped_for_a_link_that_leaves_is_not_read",
    ),
    promise("2.1-http-roots", "An HTTP server without roots refuses every path.", later="streamable HTTP"),
    promise("2.1-systems", "Paths follow the rules of macOS and Windows there.", later="runs on those systems"),
)

CONFIGURATION = (
    promise(
        "2.2-precedence",
        "The target's .env, a discovered one, the launcher, the configuration file, the defaults.",
        SETTINGS + "test_the_configuration_file_lies_between_defaults_and_environment",
        SETTINGS + "test_the_nearest_env_above_the_working_folder_lowers_limits",
        SETTINGS + "test_the_environment_sets_values_and_is_named_as_their_source",
    ),
    promise(
        "2.2-defaults",
        "The defaults are the documented ones.",
        SETTINGS + "test_defaults_are_those_of_the_contract",
        WORD + "test_every_key_on_the_page_of_configuration_is_one",
    ),
    promise(
        "2.2-narrow",
        "A project's .env can only narrow.",
        SETTINGS + "test_limits_go_down_not_up",
        SETTINGS + "test_no_limit_ever_rises",
        SETTINGS + "test_roots_become_narrower",
        SETTINGS + "test_a_link_does_not_carry_a_root_outside",
        SETTINGS + "test_the_discovered_env_cannot_name_roots_where_none_are_configured",
    ),
    promise(
        "2.2-ignored",
        "What it may not set is ignored with a warning.",
        SETTINGS + "test_what_a_project_may_not_set_is_ignored_with_a_warning_and_without_its_value",
    ),
    promise(
        "2.2-only-ours",
        "Only its MEMORY_* keys are read, and none is exported to the process.",
        SETTINGS + "test_other_programs_keys_are_passed_over",
        SETTINGS + "test_nothing_reads_the_process_environment",
        HOUSE + "test_only_entry_points_read_the_environment",
    ),
    promise(
        "2.2-claims",
        "A new folder that claims a known project is answered with the folders bound to it.",
        PROJECTS + "test_a_claim_is_answered_with_a_warning_until_the_folder_has_written",
    ),
    promise(
        "2.2-strict",
        "MEMORY_PROJECT_BINDING=strict refuses it until a person binds it.",
        PROJECTS + "test_strict_binding_refuses_until_a_person_binds",
        PROJECTS + "test_an_env_cannot_loosen_the_binding",
        MEMORY + "test_a_person_binds_a_folder_that_claims_a_known_project",
        MEMORY + "test_a_folder_is_bound_to_nothing_that_memory_does_not_know",
    ),
    promise(
        "2.2-domain",
        "A missing scope takes the project's default, and only allowed tags are taken.",
        MEMORY + "test_tags_outside_the_allowed_ones_are_refused",
        SETTINGS + "test_domain_keys_belong_to_the_project",
    ),
    promise(
        "2.2-parse",
        "A value that does not parse is named with its key and where it came from.",
        SETTINGS + "test_a_value_that_does_not_parse_is_named_with_key_value_and_source",
        SETTINGS + "test_a_value_that_does_not_parse_names_the_env",
        SETTINGS + "test_a_configuration_file_that_makes_no_sense_is_an_error_that_names_it",
    ),
)

RECORDS = (
    promise(
        "2.3-tables",
        "The tables and columns of memory are named as agreed.",
        MEMORY + "test_the_tables_are_those_of_the_contract",
    ),
    promise(
        "2.3-ranges",
        "Status, importance, confidence and source type have their ranges.",
        MEMORY + "test_what_is_wrong_is_named_and_nothing_is_kept",
    ),
    promise(
        "2.3-concepts",
        "Only the ledger's promotion writes concept_clarified.",
        MEMORY + "test_what_is_wrong_is_named_and_nothing_is_kept",
    ),
    promise(
        "2.3-times",
        "Times are UTC ISO-8601 with milliseconds.",
        MEMORY + "test_an_entry_is_kept_word_for_word_and_found_at_once",
    ),
    promise(
        "2.3-clock",
        "A clock that goes back reorders nothing that was acknowledged.",
        MEMORY + "test_a_clock_that_goes_back_reorders_nothing",
        AUDIT + "test_rows_are_in_the_order_of_acknowledgement_whatever_the_clock_says",
    ),
    promise(
        "2.3-links",
        "Entries link to entries, documents and URIs; superseding moves the other.",
        LINKING + "test_a_link_is_made_shown_from_both_ends_and_taken",
        LINKING + "test_superseding_moves_the_other_in_one_transaction_and_names_who_says_nearly_the_same",
        LINKING + "test_only_an_active_target_is_moved_and_unlinking_does_not_restore",
        LINKING + "test_a_circle_of_supersession_is_refused",
    ),
    promise(
        "2.3-vectors",
        "Vectors of entries are kept beside their model.",
        MEANING + "test_what_is_unchanged_is_never_embedded_again",
        MEANING + "test_a_new_model_is_built_beside_the_old_one",
        MEANING + "test_an_entry_that_changes_its_state_needs_no_model",
    ),
)

TOOLS = (
    promise(
        "2.4-schemas",
        "Input schemas are flat objects with explicit properties and enums, no oneOf or anyOf.",
        REGISTRY + "TestEveryTool::test_takes_a_flat_closed_object",
        REGISTRY + "TestEveryTool::test_has_explicit_properties",
        REGISTRY + "test_what_a_schema_offers_is_what_the_hall_takes",
    ),
    promise(
        "2.4-annotations",
        "Each tool carries a title, an honest description and all annotations.",
        REGISTRY + "TestEveryTool::test_carries_all_annotations",
        REGISTRY + "TestEveryTool::test_has_a_portable_name_and_says_what_it_does",
        REGISTRY + "test_only_tools_that_change_nothing_are_read_only",
    ),
    promise(
        "2.4-validation",
        "A call is checked against the schema that was shown; errors name the argument and repeat no value.",
        ARGUMENTS + "test_a_wrong_value_names_its_argument",
        ARGUMENTS + "test_errors_repeat_no_value_and_no_long_name",
        ARGUMENTS + "test_any_json_is_taken_or_refused_with_a_reason",
        ARGUMENTS + "test_unknown_arguments_name_the_closest_known_one",
    ),
    promise(
        "2.4-project-required",
        "project_path or project_id is required by project-scoped tools at run time.",
        PROJECTS + "test_neither_argument_is_an_error",
        REAL + "test_projects_are_kept_apart",
    ),
    promise(
        "2.4-status",
        "memory_status tells store, project, counts, features, lag and warnings, and creates nothing.",
        MEMORY + "test_status_tells_what_serves",
        MEMORY + "test_reading_creates_nothing",
    ),
    promise(
        "2.4-normalise",
        "Scope, topic and tags are normalised, and filters alike.",
        MEMORY + "test_scope_topic_and_tags_are_normalised_alike_when_kept_and_when_asked_for",
    ),
    promise(
        "2.4-dedupe",
        "An exact duplicate returns the entry that stands already.",
        MEMORY + "test_an_exact_duplicate_in_the_same_scope_is_kept_once",
        MEMORY + "test_the_answer_to_a_duplicate_is_what_is_kept",
        PROCESSES + "test_of_equal_entries_added_at_once_one_is_kept",
    ),
    promise(
        "2.4-similar",
        "Near duplicates are named, not merged.",
        MEMORY + "test_near_duplicates_are_named_not_merged",
    ),
    promise(
        "2.4-secret",
        "A certain secret is refused by kind and place, never value; redact keeps the rest.",
        MEMORY + "test_a_certain_secret_is_refused_by_kind_and_place_and_can_be_redacted",
        SECRETS + "test_each_kind_is_certain_in_each_disguise_and_masked_whole",
        SECRETS + "test_key_blocks_are_found_whole",
    ),
    promise(
        "2.4-secret-reason",
        "The reason of an invalidation holds none either.",
        MEMORY + "test_a_reason_holds_no_secret_either",
    ),
    promise(
        "2.4-hidden",
        "Characters that nobody sees are kept, told of, and shown to models as escapes where they spell words.",
        MEMORY + "test_characters_that_nobody_sees_are_kept_and_told_of",
        RESULTS + "test_data_is_verbatim_but_for_tag_characters",
    ),
    promise(
        "2.4-secret-allowed",
        "Only the local configuration can allow a secret.",
        MEMORY + "test_only_the_configuration_of_the_launcher_can_allow_a_secret",
    ),
    promise(
        "2.4-secret-probable",
        "A probable secret is kept with a warning.",
        MEMORY + "test_a_probable_secret_is_kept_with_a_warning_that_does_not_repeat_it",
        SECRETS + "test_a_name_with_a_noisy_value_is_probable",
    ),
    promise(
        "2.4-limits",
        "Too long is LIMIT_EXCEEDED, and nothing is kept.",
        MEMORY + "test_what_is_wrong_is_named_and_nothing_is_kept",
        ARGUMENTS + "test_sizes_have_limits",
    ),
    promise(
        "2.4-search-filters",
        "Scope, topic, tags, source type and status narrow a search inside the engine.",
        MEMORY + "test_every_filter_narrows",
        MEMORY + "test_one_entry_among_many_of_others_is_found",
    ),
    promise(
        "2.4-search-pages",
        "limit and offset page through all of it; content comes when asked for.",
        MEMORY + "test_pages_follow_one_another_and_say_how_to_go_on",
        MEMORY + "test_content_comes_only_when_asked_for",
    ),
    promise(
        "2.4-snippets",
        "Matches stand between >>> and <<<, in any script.",
        MEMORY + "test_snippets_mark_what_matched_in_any_script",
        SNIPPET + "test_matches_stand_between_marks",
        SNIPPET + "test_a_snippet_without_its_marks_is_a_part_of_the_text",
        SNIPPET + "test_a_match_that_there_is_is_shown",
    ),
    promise(
        "2.4-listing",
        "An empty query with filters lists in the order of ties.",
        MEMORY + "test_ties_are_broken_by_importance_confidence_freshness_and_id",
        MEMORY + "test_every_filter_narrows",
    ),
    promise(
        "2.4-read",
        "An entry is read whole, with a warning when it is not active; another project's is not found.",
        MEMORY + "test_invalidating_is_soft_and_idempotent",
        MEMORY + "test_a_project_sees_itself_alone_unless_asked_to_cross",
    ),
    promise(
        "2.4-names",
        "Scopes, topics and tags are listed with counts, by status, and create nothing.",
        MEMORY + "test_names_count_what_is_there",
        MEMORY + "test_reading_creates_nothing",
    ),
    promise(
        "2.4-invalidate",
        "Invalidating is soft and idempotent.",
        MEMORY + "test_invalidating_is_soft_and_idempotent",
        PROCESSES + "test_of_invalidations_at_once_one_changes_the_entry",
    ),
    promise(
        "2.4-update",
        "An entry is updated; what it said is kept as a revision; empty texts remove a field.",
        LIFE + "test_an_update_changes_what_is_given_and_keeps_what_was",
        LIFE + "test_what_is_updated_is_found_by_its_new_words_and_no_more_by_the_old",
        LIFE + "test_an_update_that_changes_nothing_writes_no_revision",
        LIFE + "test_an_empty_text_removes_a_title_and_an_empty_list_the_tags",
        LIFE + "test_a_twin_is_named_when_an_update_makes_one",
        LIFE + "test_a_secret_is_masked_in_an_update_that_asks_for_it",
    ),
    promise(
        "2.4-conflict",
        "CONFLICT when someone was first; two changes never bear one time.",
        LIFE + "test_who_was_second_is_told",
        TOGETHER + "test_of_those_who_change_an_entry_at_once_one_wins_and_the_others_are_told",
        LIFE + "test_two_changes_never_bear_one_time_even_when_the_clock_goes_back",
    ),
    promise(
        "2.4-archive",
        "Entries are archived and come back; an invalidated one only with a reason.",
        LIFE + "test_archiving_and_coming_back",
        LIFE + "test_an_invalidated_entry_comes_back_only_with_a_reason",
    ),
    promise(
        "2.4-changes-refused",
        "A change that is wrong, of another project or of a concept changes nothing, and is audited.",
        LIFE + "test_a_field_that_is_wrong_changes_nothing",
        LIFE + "test_an_entry_of_another_project_is_not_there_to_be_changed",
        LIFE + "test_changing_makes_no_store",
        LIFE + "test_a_promoted_concept_changes_only_by_review",
        LIFE + "test_changes_are_audited_without_what_they_say",
    ),
    promise(
        "2.4-delete",
        "Only an invalidated entry is deleted, confirmed; a second delete is NOT_FOUND.",
        DELETION + "test_only_an_invalidated_entry_is_deleted_and_only_when_it_is_meant",
        DELETION + "test_a_number_is_never_given_twice",
    ),
    promise(
        "2.4-links",
        "Entries are linked, unlinked and listed; what is wrong is refused.",
        LINKING + "test_the_same_link_again_has_new_words",
        LINKING + "test_links_page",
        LINKING + "test_a_link_that_is_wrong_is_refused",
        LINKING + "test_an_entry_is_not_linked_to_itself_nor_to_one_of_another_project",
        LINKING + "test_a_document_or_section_that_is_not_there_cannot_be_linked",
    ),
    promise(
        "2.4-handoff",
        "What changed since, in a scope: decisions, open points, what is not valid; as Markdown and data.",
        EVIDENCE + "test_a_handoff_sums_up_what_changed",
        EVIDENCE + "test_a_handoff_keeps_to_its_time_and_scope",
    ),
    promise(
        "2.4-find-similar",
        "Neighbours of an entry or of a text, most alike first.",
        EVIDENCE + "test_what_is_alike_is_found_for_an_entry_and_for_a_text",
        EVIDENCE + "test_likeness_wants_one_thing_to_compare",
    ),
    promise(
        "2.4-history",
        "A read tells the history of an entry when asked.",
        EVIDENCE + "test_a_read_tells_the_history_when_asked",
    ),
    promise(
        "2.4-capture",
        "Tickets, commits, document hits and notes become previews that say from which words; apply writes.",
        CAPTURE + "test_a_ticket_is_shown_first_and_written_on_purpose",
        CAPTURE + "test_any_text_is_a_ticket",
        CAPTURE + "test_a_commit_and_a_range_become_entries",
        CAPTURE + "test_a_note_on_a_document_is_linked_to_its_section",
        CAPTURE + "test_notes_give_an_entry_for_each_marked_decision_else_for_each_section",
        CAPTURE + "test_one_section_that_cannot_be_kept_does_not_keep_the_others_back",
    ),
    promise(
        "2.4-capture-bounds",
        "What is captured lies inside the roots, and nothing that a repository configures is run.",
        CAPTURE + "test_what_a_ticket_may_not_be_is_refused_and_audited_when_it_was_to_be_written",
        CAPTURE + "test_what_is_no_revision_or_no_repository_is_refused",
        CAPTURE + "test_a_repository_outside_the_roots_is_not_read",
        CAPTURE + "test_nothing_that_a_repository_configures_is_run",
        CAPTURE + "test_a_folder_of_notes_is_mined_and_links_out_of_it_are_not_followed",
    ),
    promise(
        "2.4-rebuild",
        "memory_rebuild_index rebuilds the projections and reports what differed.",
        DELETION + "test_rebuilding_says_what_was_wrong_with_the_index",
    ),
)

RANKING = (
    promise(
        "2.5-order",
        "Score, importance, confidence (absent last), freshness, id: a total order.",
        MEMORY + "test_ties_are_broken_by_importance_confidence_freshness_and_id",
        RANKED + "test_it_is_the_order_of_all_keys",
        RANKED + "test_importance_then_confidence_then_freshness_break_ties",
        CONTRACT + "test_hits_carry_the_numbers_that_break_ties",
    ),
    promise(
        "2.5-insertion",
        "The order of writing never decides.",
        ORDER + "test_the_order_of_writing_never_shows",
    ),
    promise(
        "2.5-rounding",
        "Scores are rounded, so that what matches equally well really ties.",
        RANKED + "test_rounding_keeps_the_order",
        RANKED + "test_scores_that_differ_by_noise_tie_and_small_ones_stay_apart",
        ORDER + "test_engines_agree_on_matches_and_on_ties",
    ),
    promise(
        "2.5-cut",
        "The group that ties at the cut is read through before cutting.",
        CONTRACT + "test_the_tied_group_at_the_cut_is_read_through",
        RANKED + "test_what_is_closed_ends_between_two_scores",
    ),
    promise(
        "2.5-place",
        "Exact scope or topic matches of the query get a documented boost.",
        MEMORY + "test_the_place_named_by_the_query_lifts_an_entry",
        CONTRACT + "test_a_boost_adds_to_what_matches_and_to_nothing_else",
    ),
    promise(
        "2.5-status",
        "What is not active ranks after what is.",
        MEMORY + "test_entries_that_are_not_active_rank_after_those_that_are",
    ),
    promise(
        "2.5-explain",
        "explain gives the numbers that ranked.",
        MEMORY + "test_the_place_named_by_the_query_lifts_an_entry",
        DOCS + "test_scores_are_explained_by_the_numbers_that_ranked",
        SEARCH + "test_parts_of_a_score_add_up_to_it",
    ),
    promise(
        "2.5-close-look",
        "Words side by side, and entries of a scope that match, count; alike on every engine.",
        SEARCH + "test_words_side_by_side_decide_between_texts_that_hold_them_as_often",
        SEARCH + "test_entries_of_a_scope_speak_for_one_another",
        CLOSE + "test_words_side_by_side_are_counted_where_they_stand_as_far_apart_as_asked",
        CLOSE + "test_a_place_with_much_of_what_is_asked_for_lifts_its_own",
    ),
    promise(
        "2.5-literal",
        "What looks like a literal text comes first where it stands as it is: 200 cases, and forty hostile strings.",
        LITERALS + "test_all_of_them_come_first",
        SEARCH + "test_forty_hostile_strings_find_the_text_that_holds_them",
        TEXT + "test_a_text_holds_a_literal_as_it_stands_or_not",
        TEXT + "test_what_is_to_be_found_as_it_stands",
        TEXT + "test_what_stands_inside_a_word_does_not_split_it",
    ),
    promise(
        "2.5-operators",
        "Operators say what must be held, what must not, and where; what does not parse is text.",
        CONTRACT + "test_operators_say_what_must_be_held_and_where",
        TEXT + "test_operators_are_read",
        TEXT + "test_what_does_not_read_as_an_operator_is_text",
        SEARCH + "test_a_tag_is_a_filter",
    ),
    promise(
        "9-literal-readings",
        "No operator excludes what holds it as it is written; without hits, operators are read as text, with a warning.",
        SEARCH + "test_no_operator_hides_what_holds_it_as_it_is_written",
        SEARCH + "test_operators_without_a_hit_are_read_as_words_with_a_warning",
    ),
    promise(
        "9-suggestions",
        "Fuzzy hits appear under suggestions, never in results; words that matched nothing are named.",
        SEARCH + "test_a_slip_finds_suggestions_and_never_results",
        SEARCH + "test_suggestions_of_memory_stay_inside_the_project",
        SPELLING + "test_a_slip_is_near_its_word",
    ),
    promise(
        "2.5-identifiers",
        "Identifiers are found whole and by part.",
        CONTRACT + "test_literals_are_found",
        TEXT + "test_parts_of_camel_case",
        TEXT + "test_the_parts_of_a_word_are_the_whole_of_it",
        DOCS + "test_literals_words_of_the_title_the_path_and_tags_are_found",
    ),
    promise(
        "2.5-folding",
        "Accents and case fold, Italian elisions split.",
        CONTRACT + "test_case_accents_and_elisions_fold",
        TEXT + "test_accents_and_case_fold_however_they_are_written",
        TEXT + "test_words_as_they_are_indexed",
    ),
    promise(
        "2.5-stems",
        "English and Italian words are found in other forms.",
        CONTRACT + "test_another_form_of_a_word_is_found",
        TEXT + "test_forms_of_an_italian_word_have_one_stem",
        TEXT + "test_italian_is_told_by_its_function_words",
        TEXT + "test_an_italian_passage_goes_in_as_stems_and_keeps_its_labels",
    ),
    promise(
        "2.5-formula",
        "What stands in no commit is scored by the engine's own formula.",
        FORMULA + "test_lengths_are_remembered_in_one_byte",
        FORMULA + "test_rare_words_weigh_more_and_none_less_than_nothing",
    ),
)

SENSITIVE = (
    promise(
        "2.6-audit",
        "Every write and every refused write leaves one row in the change's own transaction.",
        MEMORY + "test_every_write_and_every_refused_write_leaves_one_row_without_content",
        AUDIT + "test_a_row_belongs_to_the_callers_transaction",
        AUDIT + "test_a_row_says_who_did_what_when_to_what_and_how_it_ended",
    ),
    promise(
        "2.6-redaction",
        "Contents stand there as field, keyed digest, bytes and characters.",
        AUDIT + "test_a_text_becomes_its_name_digest_and_size",
        AUDIT + "test_the_digest_is_keyed_and_cut",
        AUDIT + "test_a_text_is_kept_at_no_depth_and_in_no_shape",
    ),
    promise(
        "2.6-mirror",
        "The mirror holds the same, one JSON object a line; its failure is a warning.",
        MEMORY + "test_the_audit_can_be_mirrored_and_switched_off",
        AUDIT + "test_the_mirror_gets_one_line_for_each_row",
        AUDIT + "test_a_mirror_that_cannot_be_written_is_a_warning",
    ),
    promise(
        "2.6-off",
        "MEMORY_AUDIT_LOG=0 turns the table off.",
        MEMORY + "test_the_audit_can_be_mirrored_and_switched_off",
    ),
    promise(
        "2.6-modes",
        "Store files are 0600, and nothing lies outside a folder of 0700.",
        DATABASE + "test_a_new_store_is_private_and_durable",
        DATABASE + "test_what_others_may_do_with_an_older_store_is_taken_from_them",
        MEMORY + "test_what_is_on_the_disk_is_for_its_owner_alone",
        AUDIT + "test_the_mirror_is_private",
    ),
    promise(
        "2.6-way-out",
        "Certain secrets are masked again on every way out; those of documents lie in no store and no index.",
        DOCS + "test_a_certain_secret_is_never_shown_or_found_on_the_disk",
        MEMORY + "test_no_id_and_no_name_carries_a_secret_into_a_store_or_an_answer",
        MEMORY + "test_what_older_rules_let_in_is_masked_on_its_way_out",
        RESULTS + "test_an_error_does_not_repeat_a_secret_that_it_was_given",
    ),
    promise(
        "2.6-deletion",
        "Deletion reaches the bytes: rows, free pages, log, every index; a purge in the way is tried again.",
        DELETION + "test_nothing_of_a_deleted_entry_is_left_in_any_file",
        DELETION + "test_indexes_of_other_engines_are_purged_too",
        DELETION + "test_an_index_in_use_elsewhere_goes_on_after_a_purge",
        DELETION + "test_a_purge_that_others_stand_in_the_way_of_is_tried_again",
    ),
    promise(
        "2.6-tombstone",
        "A tombstone without content stays, even where the audit is off.",
        DELETION + "test_a_tombstone_without_content_stays_even_where_the_audit_is_off",
    ),
)

EXCHANGED = (
    promise(
        "2.7-export",
        "An export holds active and superseded entries, tags, links; what was left out is counted.",
        EXCHANGE + "test_an_export_holds_what_it_says",
        EXCHANGE + "test_there_is_nothing_to_export_without_a_store",
        EXCHANGE + "test_a_file_that_is_there_is_not_overwritten_unless_that_is_meant",
        EXCHANGE + "test_writes_are_audited_without_contents",
    ),
    promise(
        "2.7-round-trip",
        "Export, import and export give the same bytes but for the date.",
        EXCHANGE + "test_the_round_trip_is_the_same_to_the_byte_but_for_the_date",
    ),
    promise(
        "2.7-paths",
        "Exports and imports stay inside the roots.",
        EXCHANGE + "test_paths_stay_inside_the_roots",
    ),
    promise(
        "2.7-conflicts",
        "fail changes nothing, merge adds and fills in, replace exports first and leaves tombstones.",
        EXCHANGE + "test_fail_changes_nothing_when_an_entry_is_there",
        EXCHANGE + "test_merge_adds_what_is_new_and_fills_in_what_is_absent",
        EXCHANGE + "test_replace_takes_an_export_first_and_leaves_a_tombstone_for_each",
    ),
    promise(
        "2.7-other-projects",
        "An export of another project comes in only when that is said, under new ids.",
        EXCHANGE + "test_an_export_of_another_project_comes_in_under_new_ids_and_only_when_that_is_said",
        EXCHANGE + "test_an_id_that_another_project_has_is_given_anew",
    ),
    promise(
        "2.7-concepts",
        "Imported concepts wait for a person.",
        EXCHANGE + "test_concepts_wait_for_a_person",
    ),
    promise(
        "2.7-hostile",
        "A file that is damaged, foreign or made to harm is refused whole.",
        EXCHANGE + "test_the_small_export_is_a_good_one",
        EXCHANGE + "test_a_file_that_is_wrong_is_refused_whole",
        EXCHANGE + "test_the_small_zip_is_a_good_one",
        EXCHANGE + "test_a_zip_that_is_made_to_harm_is_refused_whole",
        EXCHANGE + "test_a_zip_with_a_member_twice_or_encrypted_is_refused",
        EXCHANGE + "test_a_file_that_is_too_large_is_not_read",
        EXCHANGE + "test_whatever_the_bytes_are_they_are_read_whole_or_refused",
    ),
    promise(
        "2.7-atomic",
        "An import is one transaction: a crash in it leaves nothing.",
        EXCHANGE + "test_a_crash_in_the_middle_leaves_nothing",
        TOGETHER + "test_a_process_that_is_killed_in_an_import_leaves_all_or_nothing",
    ),
    promise(
        "2.7-secrets",
        "Imports refuse credentials or mask them; exports mask what older rules let in.",
        EXCHANGE + "test_credentials_are_refused_or_masked",
        EXCHANGE + "test_credentials_that_older_rules_let_in_are_masked_in_an_export_that_still_fits_its_checksums",
    ),
)

BROWSED = (
    promise(
        "2.8-prompts",
        "Prompts brief, hand off and log decisions; their arguments complete; what is stored is fenced data.",
        REAL_MEMORY + "test_prompts_are_listed_filled_in_and_completed",
        REAL_MEMORY + "test_without_a_project_a_prompt_wants_to_be_told_which",
    ),
    promise(
        "2.8-history",
        "The history of an entry is a resource, and every resource has a tool for its twin.",
        REAL_MEMORY + "test_the_history_of_an_entry_is_a_resource_with_a_tool_for_its_twin",
    ),
    promise(
        "2.8-channels",
        "Text and structure are each enough on their own, in both protocol eras; nulls are left out.",
        REAL_MEMORY + "test_each_channel_says_enough_on_its_own_through_the_life_of_an_entry",
        REAL_MEMORY + "test_memory_goes_out_to_a_file_and_comes_in_again",
        REAL_MEMORY + "test_nulls_are_left_out_everywhere",
    ),
)

DOCUMENT_RECORDS = (
    promise(
        "3.1-tables",
        "The tables of documents are named as agreed.",
        DOCS + "test_the_tables_are_those_of_the_contract",
    ),
    promise(
        "3.1-sections",
        "Sections carry heading path, level, lines and body, and tile the text.",
        MARKDOWN + "test_sections_tile_the_text",
        MARKDOWN + "test_heading_paths",
        DOCS + "test_any_two_ranges_of_lines_join_to_the_text",
    ),
    promise(
        "3.1-upgrade",
        "An older store is upgraded at first open, once; a newer one is refused and left untouched.",
        DATABASE + "test_a_store_of_the_past_is_brought_up_to_date_once",
        DATABASE + "test_a_migration_that_fails_leaves_nothing_of_itself",
        DATABASE + "test_a_store_from_the_future_is_refused_and_left_byte_for_byte",
        BAD + "test_a_store_from_the_future_is_refused_and_left_byte_for_byte",
    ),
    promise(
        "3.1-shelf-links",
        "Shelves have parents, several if need be, and never a circle.",
        MAP + "test_parents_are_set_added_removed_and_listed_nearest_first",
        MAP + "test_whatever_is_asked_there_is_never_a_circle",
    ),
    promise(
        "3.1-document-links",
        "Documents are linked, directed, with relation and origin; a store without the tables gets them.",
        MAP + "test_a_link_goes_one_way",
        MAP + "test_the_same_link_again_gets_new_words",
        MAP + "test_a_store_without_a_map_gets_one",
    ),
)

MANAGING = (
    promise(
        "3.2-scan",
        "scan_file and scan_folder take .md, .markdown and .mdx onto a shelf, made if new.",
        SCAN + "test_a_folder_becomes_a_shelf",
        SCAN + "test_one_file_can_be_scanned",
        WALK + "test_takes_markdown_in_order_folder_by_folder",
        WALK + "test_not_recursive_stays_in_the_folder",
    ),
    promise(
        "3.2-ignored",
        "Dot-folders, node_modules, ignore globs and .gitignore are honoured.",
        WALK + "test_gitignore_files_mean_what_git_means",
        WALK + "test_ignore_patterns_are_relative_to_the_root",
        DOCS + "test_bad_files_are_named_and_the_rest_is_taken",
    ),
    promise(
        "3.2-incremental",
        "Unchanged files cost a stat and leave no journal line.",
        SCAN + "test_unchanged_files_are_not_opened",
        SCAN + "test_the_same_folder_again_writes_nothing",
        DOCS + "test_an_unchanged_folder_again_leaves_no_journal_line",
    ),
    promise(
        "3.2-resync",
        "resync_all says what is new, changed and missing, and forgets on request only.",
        DOCS + "test_resync_says_what_is_new_changed_and_missing",
        SCAN + "test_missing_files_are_reported_and_removed_on_request_only",
        SCAN + "test_resync_covers_every_shelf_or_the_one_named",
        SCAN + "test_after_any_history_the_store_holds_what_lies_there",
    ),
    promise(
        "3.2-moves",
        "A moved file keeps its document's id, tags and sections.",
        SCAN + "test_a_moved_file_keeps_its_document",
        SHELVES + "test_a_moved_document_keeps_id_tags_and_sections",
        DOCS + "test_resync_says_what_is_new_changed_and_missing",
    ),
    promise(
        "3.2-shelves",
        "Shelves are made, listed, renamed, described and removed; an id is never given twice.",
        DOCS + "test_the_life_of_a_shelf",
        PROCESSES + "test_of_shelves_made_at_once_under_one_name_one_is_made",
        SHELVES + "test_ids_are_never_given_twice",
    ),
    promise(
        "3.2-remove",
        "A document is forgotten; its file stays.",
        DOCS + "test_a_removed_document_is_forgotten_and_may_come_back",
    ),
    promise(
        "3.2-status",
        "feature_status tells what there is and what serves, and creates nothing.",
        DOCS + "test_status_tells_what_there_is_and_what_serves",
        DOCS + "test_looking_creates_nothing",
    ),
    promise(
        "3.2-arguments",
        "Arguments and nouns of answers bear the names that clients use.",
        REGISTRY + "test_the_list_is_the_golden_one",
        REGISTRY + "TestEveryTool::test_offers_exactly_its_verbs",
        REGISTRY + "test_an_action_chooses_the_verb_and_its_arguments",
    ),
    promise(
        "3.2-older-clients",
        "The first text block of lists is the list as JSON; warnings follow in the second.",
        IN_MEMORY + "test_older_clients_find_the_list_in_the_first_block",
        RESULTS + "test_a_listing_comes_first_as_a_json_array",
    ),
    promise(
        "3.2-bad-files",
        "One bad file never stops a folder; each is named with its reason.",
        SCAN + "test_every_kind_of_bad_file_is_survived_and_named",
        DOCS + "test_bad_files_are_named_and_the_rest_is_taken",
        SCAN + "test_a_parser_that_fails_costs_one_file",
    ),
    promise(
        "3.2-encodings",
        "Empty files, BOM, UTF-16, invalid UTF-8, NUL and CRLF are met.",
        MARKDOWN + "test_decodes_unicode_with_and_without_mark",
        MARKDOWN + "test_invalid_utf8_is_replaced_with_a_warning",
        MARKDOWN + "test_binary_is_refused_with_a_reason",
        MARKDOWN + "test_decode_never_fails_otherwise",
        DOCS + "test_odd_documents_read_back",
    ),
    promise(
        "3.2-front-matter",
        "Front matter gives title, tags and aliases.",
        FRONT + "test_title",
        FRONT + "test_lists",
        FRONT + "test_anything_is_read_without_failing",
    ),
    promise(
        "3.2-large",
        "A file above the limit is named with both sizes.",
        DOCS + "test_a_file_above_the_limit_is_named_with_both_sizes",
    ),
    promise(
        "3.2-links-on-disk",
        "Circles of links end, and links are followed inside the root alone.",
        WALK + "test_circles_of_links_end",
        WALK + "test_links_inside_are_followed_once_and_links_that_leave_are_named",
    ),
    promise(
        "3.2-progress",
        "Long work reports progress that only rises, and can be cancelled.",
        DOCS + "test_progress_rises_to_the_total",
        SCAN + "test_progress_only_rises_and_ends_at_the_total",
        IN_MEMORY + "test_a_scan_reports_its_progress_and_not_too_often",
        STDIO + "test_progress_is_reported_when_asked_for",
        IN_MEMORY + "test_a_scan_does_not_keep_searches_waiting_and_can_be_cancelled",
    ),
    promise(
        "3.2-killed",
        "A scan that is killed leaves whole documents, and the next one brings them in.",
        SCAN + "test_an_interrupt_goes_through_and_what_was_stored_stays",
        DOCS + "test_the_next_scan_brings_in_what_a_scan_that_died_left",
        DOCS + "test_changes_of_a_scan_that_died_are_told_as_lag_and_brought_in",
    ),
    promise(
        "3.2-tags",
        "Tags come from a dictionary and are set by hand, one document or many, all or none.",
        MAP + "test_tags_come_from_the_dictionary",
        REAL + "test_a_map_is_made_by_lists_of_objects",
        MAP + "test_a_renamed_tag_is_found_by_its_new_name_alone_and_a_removed_one_by_none",
    ),
    promise(
        "3.2-transfer",
        "Shelves are exported and imported, by tool and command; fail changes nothing, merge adds, replace exports first.",
        SHELF_FILES + "test_fail_changes_nothing_where_documents_are",
        SHELF_FILES + "test_merge_adds_what_is_new_and_keeps_what_differs",
        SHELF_FILES + "test_replace_makes_the_shelf_what_the_file_says_after_an_export",
        SHELF_FILES + "test_an_import_that_breaks_off_leaves_nothing",
        SHELF_FILES + "test_paths_obey_the_roots_of_documents",
        REAL + "test_a_shelf_goes_through_a_file",
    ),
    promise(
        "3.5-manifest",
        "Manifest 2 carries documents, tags and links by name and path; version 1 is read without links.",
        SHELF_FILES + "test_a_manifest_holds_texts_tags_and_links_by_name_and_path",
        SHELF_FILES + "test_a_round_trip_is_stable_but_for_the_date",
        SHELF_FILES + "test_version_one_is_the_same_without_links",
        SHELF_FILES + "test_imported_links_say_so_and_keep_where_they_came_from",
    ),
    promise(
        "3.5-unresolved",
        "A link whose end is not found is a warning for that path, not a failure.",
        SHELF_FILES + "test_links_whose_ends_are_missing_are_named_and_left_out",
        SHELF_FILES + "test_a_target_that_several_documents_could_be_is_not_guessed",
        SHELF_FILES + "test_a_link_that_would_close_a_circle_of_shelves_is_left_out",
    ),
    promise(
        "3.5-hostile",
        "A damaged manifest, or one whose paths lead elsewhere, is refused whole.",
        SHELF_FILES + "test_a_file_that_is_wrong_is_refused_whole",
        SHELF_FILES + "test_a_file_that_is_cut_off_is_refused_whole",
        SHELF_FILES + "test_whatever_a_file_says_is_taken_or_refused_with_a_code",
    ),
    promise(
        "3.2-links",
        "Links are added, removed, listed and replaced within their origin; a person's verdict holds.",
        MAP + "test_replacing_touches_ones_own_origin_alone",
        REAL + "test_a_map_is_made_by_lists_of_objects",
        MAP + "test_what_is_pinned_comes_first_and_what_is_rejected_not_at_all",
        MAP + "test_an_odd_link_is_refused_and_nothing_written",
    ),
    promise(
        "3.2-correlate",
        "Links are proposed by correlation, and kept when that is asked for; counts add up.",
        CORRELATION + "test_nothing_is_written_unless_it_is_asked_for",
        CORRELATION + "test_a_single_document_is_correlated_alone",
        REAL + "test_links_are_proposed_and_kept_when_asked",
        CORRELATION + "test_only_so_many_links_a_document",
        CORRELATION + "test_sums_come_out_even_and_repeat_themselves",
        CORRELATION + "test_a_scan_correlates_what_it_changed_when_asked",
    ),
    promise(
        "3.4-direction",
        "A child is linked to its parent; no heuristic link runs from a shelf to one that leans on it, at any depth.",
        CORRELATION + "test_a_child_is_linked_to_its_parent_with_reasons",
        CORRELATION + "test_no_heuristic_link_runs_from_a_shelf_to_one_that_leans_on_it_however_far",
        CORRELATION + "test_the_scope_says_which_shelves_hold_targets",
    ),
    promise(
        "3.4-people",
        "Links of people and imports stay; what was rejected does not come back, what was pinned stays.",
        CORRELATION + "test_links_of_people_stay_as_they_are_and_are_not_doubled",
        CORRELATION + "test_what_was_rejected_does_not_come_back_and_what_was_pinned_stays",
        CORRELATION + "test_former_heuristic_links_go_unless_they_are_to_stay",
    ),
    promise(
        "3.4-resumed",
        "A run may be interrupted, and a second one works on what changed.",
        CORRELATION + "test_an_interrupted_run_leaves_whole_documents_and_goes_on",
        CORRELATION + "test_a_second_run_works_on_what_changed_and_what_is_near_it",
    ),
    promise(
        "3.4-batch",
        "A shelf is correlated by as many processes as asked for, with the same outcome; they end with their parent.",
        CORRELATION + "test_several_processes_find_what_one_finds",
        "integration/test_cli_process.py::test_workers_of_a_correlation_end_with_it",
    ),
    promise(
        "6-watch",
        "Shelves stay level with their folders as files change, however many at once.",
        "unit/test_watching.py::test_new_and_changed_files_are_found_without_a_scan",
        "unit/test_watching.py::test_a_storm_of_changes_is_few_scans",
        "unit/test_watching.py::test_folders_that_are_scanned_later_and_folders_that_come_back_are_watched",
        "integration/test_cli_process.py::test_a_watcher_finds_what_changes_and_ends_when_interrupted",
    ),
    promise(
        "3.4-references",
        "Links, wiki links and file names in a text lead to the documents they mean; ambiguous ones are reported.",
        REFERENCES + "test_references_of_every_kind_are_resolved",
        REFERENCES + "test_what_leads_nowhere_is_left_out",
        CORRELATION + "test_ambiguous_references_are_reported_not_guessed",
    ),
)

FINDING = (
    promise(
        "3.3-best-section",
        "Search finds the best section of each document and returns the document once.",
        DOCS + "test_a_hit_is_the_best_section_with_all_that_leads_to_it",
        DOCS + "test_a_document_is_answered_once_however_many_of_its_sections_match",
        CONTRACT + "test_excluded_owners_leave_room_for_others",
    ),
    promise(
        "3.3-hit",
        "A hit carries ids, paths, URIs, headings, lines, snippet, score and freshness.",
        DOCS + "test_a_hit_is_the_best_section_with_all_that_leads_to_it",
        SHELVES + "test_rows_hold_what_a_hit_says",
    ),
    promise(
        "3.3-filters",
        "A shelf, and all or any of some tags, narrow a search inside the engine.",
        DOCS + "test_tags_filter_all_or_any",
        DOCS + "test_a_shelf_is_named_by_name_id_slug_or_uri",
        DOCS + "test_a_filter_is_part_of_the_query",
    ),
    promise(
        "3.3-read-whole",
        "A document is read whole; a long one is cut at a line, aloud.",
        DOCS + "test_a_document_is_read_whole",
        DOCS + "test_a_long_text_is_cut_at_a_line_and_read_on",
    ),
    promise(
        "3.3-read-lines",
        "Lines are 1-based and inclusive; what lies outside is refused.",
        DOCS + "test_lines_are_counted_from_one_and_inclusive",
        DOCS + "test_lines_out_of_range_are_refused",
        DOCS + "test_any_two_ranges_of_lines_join_to_the_text",
    ),
    promise(
        "3.3-read-string",
        "A literal text is shown with the lines around it, wherever it stands.",
        DOCS + "test_a_literal_is_shown_with_the_lines_around_it",
        DOCS + "test_a_literal_may_run_over_lines_whatever_ends_them",
        DOCS + "test_a_literal_that_is_not_there_is_an_empty_answer_with_a_warning",
    ),
    promise(
        "3.3-read-section",
        "A section is named by its heading path, joined or by its end.",
        DOCS + "test_a_section_is_named_by_its_path_joined_or_by_its_end",
        DOCS + "test_a_long_section_is_one_when_it_is_read",
        DOCS + "test_a_section_that_is_missing_or_ambiguous_names_what_there_is",
        DOCS + "test_of_two_sections_with_the_same_headings_the_first_is_read_and_the_other_named",
    ),
    promise(
        "3.3-list",
        "Documents are listed by path, tag, tagged or not, in pages.",
        DOCS + "test_documents_are_listed_by_path_in_pages",
        SHELVES + "test_list_documents_by_path_in_pages_and_by_tags",
    ),
    promise(
        "3.3-not-found",
        "A document or shelf that is not there is NOT_FOUND, with what there is.",
        DOCS + "test_a_document_that_is_not_there_is_not_found",
        DOCS + "test_a_shelf_is_named_by_name_id_slug_or_uri",
    ),
    promise(
        "3.3-resources",
        "Shelves and documents are resources, with templates, in pages.",
        RESOURCES + "test_the_list_is_complete_in_pages_and_names_each_thing_once",
        RESOURCES + "test_all_templates_are_offered",
        RESOURCES + "test_a_shelf_names_its_documents",
        RESOURCES + "test_a_document_is_its_text_and_says_when_it_is_stale",
    ),
    promise(
        "3.3-links",
        "Links appear whole in reads, short in searches, as counts in lists.",
        MAP + "test_a_document_is_read_with_its_links_in_full_and_its_parents",
        MAP + "test_hits_carry_short_links_when_asked",
        MAP + "test_lists_carry_counts_when_asked",
    ),
)

LEDGER = (
    promise(
        "4-sessions",
        "A session belongs to its project, is opened once, and gone on with.",
        SESSIONS + "test_a_session_is_opened_once_and_gone_on_with",
        SESSIONS + "test_a_session_belongs_to_its_project",
        SESSIONS + "test_a_session_that_makes_no_sense_is_refused",
        SESSIONS + "test_reading_sessions_makes_no_store",
    ),
    promise(
        "4-append-only",
        "A ledger is appended to, verbatim; nothing of it is ever rewritten.",
        SESSIONS + "test_lines_are_numbered_and_say_everything_verbatim",
        SESSIONS + "test_nothing_of_a_ledger_can_be_rewritten",
        SESSIONS + "test_pages_of_a_ledger_reach_every_line",
    ),
    promise(
        "4-effective",
        "Withdrawn, superseded and stale decisions are not effective, and a view says why.",
        SESSIONS + "test_what_was_withdrawn_or_superseded_does_not_hold_and_the_view_says_why",
        SESSIONS + "test_going_back_makes_later_phases_stale_and_what_is_recorded_anew_holds",
    ),
    promise(
        "4-bad-lines",
        "A decision that makes no sense is refused, audited without its words, and nothing is appended.",
        SESSIONS + "test_a_line_that_makes_no_sense_is_refused_and_nothing_is_appended",
        SESSIONS + "test_the_trail_keeps_no_word_of_a_decision",
    ),
    promise(
        "4-no-table",
        "A table or a column is never a concept.",
        SESSIONS + "test_a_table_or_a_column_is_no_concept",
    ),
    promise(
        "4-model",
        "Random ledgers are what a plain model of the contract says: nothing is lost, nothing promoted twice.",
        LEDGERS + "test_random_ledgers_are_what_a_plain_model_says",
    ),
    promise(
        "4-preview",
        "A preview is deterministic, takes effective concepts alone, folds equal ones, and pages through all.",
        REVIEW + "test_candidates_come_in_the_order_of_the_ledger_five_to_a_page_and_all_are_reached",
        REVIEW + "test_a_preview_takes_effective_concepts_alone_and_says_why_others_are_left_out",
        REVIEW + "test_equal_concepts_are_shown_once_and_decided_together",
        REVIEW + "test_a_session_without_candidates_needs_no_review",
    ),
    promise(
        "4-accept",
        "Accepting is one transaction: entry, number, mark, audit row, journal line.",
        REVIEW + "test_accepting_makes_an_entry_a_number_a_mark_an_audit_row_and_a_journal_line",
        REVIEW + "test_numbers_are_of_the_project_and_never_given_twice",
        REVIEW + "test_the_number_of_a_concept_is_an_entry_id_everywhere",
        REVIEW_KILLED + "test_a_promotion_that_is_killed_before_a_statement_is_not_there",
        REVIEW_KILLED + "test_a_promotion_that_is_killed_before_any_statement_is_not_there",
        REVIEW_KILLED + "test_reviewers_that_are_killed_leave_whole_verdicts",
        REVIEW_KILLED + "test_many_reviewers_that_are_killed_leave_whole_verdicts",
        REVIEW + "test_a_secret_that_got_into_a_ledger_does_not_get_into_memory",
    ),
    promise(
        "4-decline",
        "Declining leaves a mark and no entry.",
        REVIEW + "test_declining_leaves_a_mark_and_no_entry",
    ),
    promise(
        "4-once",
        "A decision is promoted once, whoever asks again, and by however many reviewers.",
        REVIEW + "test_the_same_verdict_again_changes_nothing_and_another_one_is_a_conflict",
        REVIEW + "test_two_reviewers_at_once_promote_a_concept_once",
        REVIEW_KILLED + "test_two_processes_that_review_at_once_decide_once",
        REVIEW + "test_a_verdict_that_makes_no_sense_is_refused_audited_and_changes_nothing",
    ),
    promise(
        "4-merge",
        "Near-identical concepts are shown side by side and merged on a person's word; both sources stay.",
        REVIEW + "test_near_concepts_of_other_sessions_are_shown_beside",
        REVIEW_TERMINAL + "test_a_merge_is_chosen_by_a_key_and_its_text_is_seen",
        REVIEW + "test_a_near_concept_is_merged_on_the_reviewers_word_and_both_sources_stay",
        REVIEW + "test_an_equal_concept_of_another_session_becomes_one_more_source",
    ),
    promise(
        "4-evidence",
        "A concept whose decision ends later stays, marked evidence: changed wherever it appears.",
        REVIEW + "test_when_its_decision_ends_later_a_concept_stays_and_is_marked",
    ),
    promise(
        "4-edit",
        "Editing an approved concept makes it a proposal again; what was approved stays until it is accepted.",
        REVIEW + "test_editing_a_concept_makes_it_a_proposal_and_what_was_approved_stays",
        REVIEW + "test_a_concept_is_retired_by_an_edit_of_its_status",
        REVIEW + "test_an_edit_cannot_make_of_a_concept_what_it_may_not_be",
    ),
    promise(
        "4-recall",
        "Recall finds promoted concepts alone, without those decided on in the session, and applies none.",
        RECALL + "test_only_promoted_concepts_are_recalled_with_all_that_they_were_clarified_for",
        RECALL + "test_what_the_session_has_decided_on_is_left_out_as_long_as_that_holds",
        RECALL + "test_recalling_leaves_no_mark",
        RECALL + "test_pages_reach_every_concept_whatever_is_left_out",
    ),
    promise(
        "4-summary",
        "A summary lists approved, then declined memories, resolved; hides marks of what is no concept, and says why.",
        REVIEW + "test_a_summary_has_approved_then_declined_resolved_to_their_decisions_and_what_is_hidden_and_why",
        REVIEW + "test_a_mark_of_what_is_not_there_or_no_concept_is_hidden_and_harmless",
    ),
    promise(
        "4-export",
        "The registry of concepts is exported as byte-stable JSON lines.",
        CARRYING + "test_an_export_is_byte_stable_and_by_number",
        CARRYING + "test_a_registry_that_is_brought_elsewhere_and_accepted_is_the_same_bytes",
        CARRYING + "test_an_export_of_the_project_carries_concepts_whole_and_they_are_proposals",
        CARRYING + "test_what_was_clarified_is_not_lost_to_a_replacing_import",
    ),
    promise(
        "4-legacy",
        "A legacy registry is imported: concepts are proposed, all else is kept as history and found by nothing.",
        CARRYING + "test_of_an_older_registry_only_concepts_are_proposed_and_the_rest_is_kept_and_found_by_nothing",
        CARRYING + "test_an_imported_concept_that_is_known_becomes_a_source_or_is_merged",
        CARRYING + "test_an_edited_file_is_read_line_by_line_and_what_is_wrong_is_named",
        CARRYING + "test_a_secret_in_a_registry_is_refused_or_masked",
        CARRYING + "test_a_file_that_is_too_large_is_refused_whole",
    ),
    promise(
        "4-tools",
        "Sessions are opened, recorded, previewed, summed up and recalled over MCP.",
        MCP_LEDGER + "test_a_session_over_mcp_says_enough_on_either_channel",
    ),
    promise(
        "4-out-of-reach",
        "No tool approves a concept, whatever it is told.",
        MCP_LEDGER + "test_nothing_that_a_tool_can_be_told_approves",
    ),
    promise(
        "4-elicitation",
        "A form of the client decides only where the launcher switched it on, bound to the texts that it showed.",
        MCP_LEDGER + "test_a_form_of_the_client_decides_only_where_that_is_switched_on",
        MCP_LEDGER + "test_a_form_that_is_closed_decides_nothing",
        MCP_LEDGER + "test_a_form_is_answered_over_stdio",
        MCP_LEDGER + "test_what_may_decide_does_not_say_that_it_only_reads",
        MCP_LEDGER + "test_a_client_without_forms_gets_the_preview",
        MCP_LEDGER + "test_a_form_is_bound_to_the_texts_that_it_showed",
        MCP_LEDGER + "test_the_setting_is_off_and_no_project_can_switch_it_on",
    ),
    promise(
        "8.6-digest",
        "Approval is bound to a digest of the exact text that the person saw; a change after it voids it.",
        REVIEW + "test_a_change_after_the_review_voids_it",
        REVIEW_TERMINAL + "test_what_changed_while_it_was_read_is_not_decided_on_and_comes_again",
        REVIEW_TERMINAL + "test_stored_text_plays_no_tricks_on_the_terminal",
        REVIEW + "test_the_review_of_a_project_has_all_that_waits_on_its_pages",
    ),
)
GUARD = (
    promise(
        "5.1-segments",
        "What a prompt shows is told from what it says, as CommonMark reads it; offsets and lines stay.",
        COMMONMARK + "test_what_a_parser_calls_data_is_never_said",
        COMMONMARK + "test_what_a_parser_calls_text_is_said",
        COMMONMARK + "test_regions_tile_any_text_and_the_mask_keeps_its_shape",
        SEGMENTS + "test_what_is_shown",
        SEGMENTS + "test_offsets_count_code_points_and_the_mask_keeps_lines",
        SEGMENTS + "test_a_mask_has_nothing_left_to_mask",
    ),
    promise(
        "5.2-intent",
        "A hint needs a request of the current message, said and not shown, negated or talked about.",
        INTENT + "test_the_segmentation_matrix",
        INTENT + "test_the_long_specification_is_no_request",
        INTENT + "test_nothing_of_the_sample_is_taken_for_a_request",
        INTENT + "test_a_hint_depends_on_nothing_but_the_message",
    ),
    promise(
        "5.2-reasons",
        "A decision gives a stable reason and its evidence.",
        INTENT + "test_reasons",
        INTENT + "test_evidence_names_the_rule_and_the_place",
        INTENT + "test_evidence_against_is_given_too",
    ),
    promise(
        "5.3-hosts",
        "Six hosts get the same decision, each in its own closed shape.",
        ANSWER + "test_every_host_gets_the_same_decision",
        ANSWER + "test_every_host_is_reminded_before_a_change",
        ANSWER + "test_the_installed_form_answers",
        ANSWER + "test_cursor_running_the_hooks_of_claude_code_hears_one_voice",
    ),
    promise(
        "5.3-silence",
        "Reads, other tools, other events, history and prompts of machines are met with silence.",
        ANSWER + "test_reads_and_other_tools_are_met_with_silence",
        ANSWER + "test_a_name_that_ends_like_ours_is_another",
        ANSWER + "test_other_events_are_none_of_its_business",
        ANSWER + "test_only_the_current_message_counts",
        ANSWER + "test_of_a_transcript_only_the_message_at_its_end_counts",
        ANSWER + "test_prompts_that_no_person_wrote_do_not_count",
        ANSWER + "test_the_event_of_the_payload_is_the_one_that_counts",
    ),
    promise(
        "5.3-calls",
        "Exactly the tools that write are recognised, under any name of the server, by structure.",
        CALLS + "test_the_table_knows_every_tool_that_writes",
        CALLS + "test_calls",
    ),
    promise(
        "5.3-words",
        "A hint is conditional, names no tool and orders nothing; no answer allows or forbids.",
        ANSWER + "test_the_hint_is_conditional_and_orders_nothing",
        ANSWER + "test_no_answer_allows_or_forbids_in_the_hosts_stead",
    ),
    promise(
        "5.3-open",
        "A hook never stands in the way: bad input, a host that never ends, too many bytes give no output and exit 0.",
        ANSWER + "test_bad_input_gives_no_output_and_no_failure",
        ANSWER + "test_so_does_a_bad_command",
        ANSWER + "test_a_payload_beyond_all_measure_is_taken_and_left_alone",
        ANSWER + "test_it_gives_up_when_the_host_never_ends_its_message",
        ANSWER + "test_no_payload_makes_it_fail",
    ),
    promise(
        "5.3-light",
        "A hook imports the standard library alone; its first filter hides no request.",
        ANSWER + "test_it_imports_the_standard_library_and_this_room_alone",
        ANSWER + "test_the_words_of_the_filter_cover_every_head",
        ANSWER + "test_the_filter_hides_no_request",
        ANSWER + "test_a_byte_order_mark_and_escapes_are_no_hindrance",
    ),
    promise(
        "5.4-merge",
        "Comments, order and what is the person's survive; only what was named changes.",
        INSTALL + "test_what_is_the_persons_survives_and_ours_is_there",
        JSONC + "test_putting_means_that_and_no_other_change",
        JSONC + "test_comments_order_and_trailing_commas_survive",
        JSONC + "test_removing_gives_the_former_text_back",
        TOML + "test_putting_means_that_and_no_other_change",
        TOML + "test_lists_of_tables_are_begun_and_gone_on_with",
    ),
    promise(
        "5.4-idempotent",
        "A second run changes no byte; uninstalling gives all bytes back.",
        INSTALL + "test_a_second_run_changes_no_byte_and_uninstalling_restores_all",
        INSTALL + "test_what_was_there_before_stays_when_the_file_was_changed_since",
    ),
    promise(
        "5.4-divergent",
        "Divergent values are kept and reported; force changes managed keys alone.",
        INSTALL + "test_divergent_values_are_kept_and_reported",
        INSTALL + "test_force_changes_managed_keys_alone_and_uninstalling_brings_them_back",
        INSTALL + "test_an_entry_for_a_remote_server_is_never_mixed_with_a_command",
        INSTALL + "test_a_block_of_rules_that_was_changed_is_kept",
        INSTALL + "test_an_entry_of_our_name_that_is_not_ours_outlives_uninstalling",
    ),
    promise(
        "5.4-profiles",
        "The two profiles of Codex, and none without being asked.",
        INSTALL + "test_the_policy_of_codex",
        INSTALL + "test_without_a_profile_no_policy_is_set",
        INSTALL + "test_another_profile_can_be_chosen_with_force",
    ),
    promise(
        "5.4-harmless",
        "All files or none, whole at any moment; what is ambiguous or not to be touched stops everything.",
        INSTALL + "test_a_kill_at_any_point_leaves_the_old_or_the_new_file_whole",
        INSTALL + "test_a_failure_halfway_is_undone",
        INSTALL + "test_a_file_that_changes_in_the_meantime_is_left_alone",
        INSTALL + "test_a_file_that_is_not_understood_stops_everything",
        INSTALL + "test_so_does_one_that_is_no_utf_8",
        INSTALL + "test_a_read_only_file_is_refused",
        INSTALL + "test_a_file_with_a_second_name_is_refused",
        INSTALL + "test_a_link_is_followed_and_named",
        INSTALL + "test_a_link_to_nothing_is_refused",
        INSTALL + "test_a_byte_order_mark_and_line_ends_stay",
        INSTALL + "test_a_dry_run_writes_nothing_and_shows_all",
    ),
    promise(
        "5.4-doctor",
        "Doctor reads every installed client back and says what is off, duplicates included.",
        INSTALL + "test_what_is_installed_is_found_in_order",
        INSTALL + "test_doctor_says_what_is_off",
        INSTALL + "test_nothing_installed_is_nothing_to_say",
    ),
    promise(
        "5.5-skill",
        "The skill keeps to the specification of Agent Skills; skill and rules ask before they write.",
        SKILL + "test_it_keeps_to_the_specification",
        SKILL + "test_what_it_refers_to_is_there",
        SKILL + "test_it_says_what_it_must",
    ),
)
FACES = (
    promise(
        "6-stdio",
        "The main job works through MCP over stdio, in both eras of the protocol.",
        REAL + "test_a_folder_is_scanned_asked_and_read",
        REAL + "test_a_decision_is_kept_found_and_retired",
        STDIO + "test_the_later_era_needs_no_handshake",
    ),
    promise(
        "6-one-answer",
        "Every request with an id gets exactly one answer, also after a malformed line.",
        STDIO + "test_a_bad_line_is_answered_once_and_the_server_goes_on",
        STDIO + "test_all_bad_lines_at_once",
        STDIO + "test_many_requests_at_once_are_all_answered",
        STDIO + "test_what_was_asked_before_the_end_is_answered",
        LINES + "test_any_bytes_get_a_message_a_reason_or_silence",
    ),
    promise(
        "6-clean-end",
        "The server ends with its input, on a signal, and with its parent.",
        STDIO + "test_it_ends_with_stdin",
        STDIO + "test_it_ends_on_a_signal",
        STDIO + "test_it_ends_in_the_middle_of_long_work",
        STDIO + "test_it_ends_with_its_parent_even_if_stdin_stays_open",
    ),
    promise(
        "6-output-schema",
        "Structured content keeps to the output schema.",
        REGISTRY + "TestEveryTool::test_promises_only_ok",
        IN_MEMORY + "test_every_answer_is_enough_as_text_and_as_data",
    ),
    promise(
        "6-small",
        "The default tool set and an answer are small in tokens, and --tools chooses.",
        TOKENS + "test_the_lists_of_tools_are_within_their_budgets",
        TOKENS + "test_a_ten_hit_answer_is_within_its_budget_in_both_forms",
        REGISTRY + "test_names_are_unique_and_sets_are_as_agreed",
    ),
    promise(
        "6-late-imports",
        "Nothing heavy is imported before it is needed.",
        REAL + "test_nothing_is_imported_before_it_is_needed",
        HOUSE + "test_importing_the_package_imports_nothing_else",
        HOUSE + "test_a_search_imports_its_engines_and_nothing_heavy",
        HOUSE + "test_nothing_heavy_is_imported_at_the_top",
    ),
    promise(
        "6-library",
        "import scaffale gives typed, documented objects, and nothing else is public.",
        SURFACE + "test_the_surface_is_the_agreed_one",
        SURFACE + "test_every_public_name_resolves_and_says_what_it_is",
        SURFACE + "test_nothing_else_is_public",
        SURFACE + "test_every_verb_of_a_hall_is_documented",
        SURFACE + "test_halls_open_over_the_settings_of_the_process",
    ),
    promise(
        "6-floors",
        "Calls go down and values come back: floors hold.",
        HOUSE + "test_calls_go_down_and_values_come_back",
        HOUSE + "test_sql_is_at_home_in_two_rooms",
        HOUSE + "test_a_module_says_its_rules_first",
    ),
    promise(
        "6-documented",
        "What is written about commands, tools, errors and exit codes is true.",
        WORD + "test_every_example_is_a_command_that_parses",
        WORD + "test_there_are_examples",
        WORD + "test_the_example_in_the_help_parses",
        WORD + "test_the_page_on_the_command_line_has_every_command_and_exit_code",
        WORD + "test_the_page_for_agents_has_every_tool_action_and_error",
        WORD + "test_files_that_are_named_exist",
        WORD + "test_the_map_names_every_room",
    ),
    promise(
        "6-no-tricks",
        "Text shown to people and models hides nothing and plays no tricks.",
        RESULTS + "test_what_cannot_be_seen_is_shown_escaped",
        RESULTS + "test_shown_text_has_nothing_hidden_and_json_stays_json",
        RESULTS + "test_characters_that_nobody_sees_are_shown_as_escapes",
        RESULTS + "test_joiners_are_shown_where_they_hide_something_and_left_where_scripts_need_them",
    ),
    promise(
        "6-http",
        "Streamable HTTP serves a team in both protocol eras, fifty clients at once.",
        HTTP + "test_both_eras_are_served",
        HTTP + "test_the_handshake_era_needs_no_session",
        HTTP_PROCESS + "test_fifty_clients_read_and_write_at_once_without_an_error",
        HTTP_PROCESS + "test_a_connection_that_is_lost_during_a_write_leaves_the_entry_whole_or_not_there",
        HTTP_PROCESS + "test_what_has_begun_is_answered_before_the_end",
        HTTP_PROCESS + "test_a_port_in_use_is_said",
    ),
    promise(
        "6-http-door",
        "Only a valid token opens, from no other site's page; beyond loopback nothing is served without one.",
        HTTP + "test_without_a_valid_token_nothing_is_answered",
        HTTP + "test_a_revoked_token_opens_nothing_from_then_on",
        HTTP + "test_other_names_and_pages_of_other_sites_are_refused",
        HTTP_PROCESS + "test_beyond_loopback_nothing_is_served_without_a_token",
    ),
    promise(
        "6-http-scopes",
        "A token may be bounded to projects, to reading, to a time; tools, resources and prompts keep to it.",
        HTTP + "test_a_token_sees_its_projects_alone",
        HTTP + "test_entries_of_other_projects_are_not_there",
        HTTP + "test_resources_and_prompts_keep_to_the_token_too",
        HTTP + "test_a_token_that_may_only_read_writes_nothing",
        HTTP + "test_the_audit_names_the_token",
        TOKENS_KEPT + "test_a_token_is_recognised_until_it_is_revoked",
        TOKENS_KEPT + "test_a_token_ends_with_its_days",
        TOKENS_KEPT + "test_what_is_no_token_opens_nothing",
        TOKENS_KEPT + "test_looking_for_tokens_creates_nothing",
        TOKENS_KEPT + "test_names_are_taken_once_and_free_again_after_a_revocation",
        TOKENS_KEPT + "test_what_a_token_cannot_be_is_refused",
        TOKENS_KEPT + "test_making_and_revoking_are_audited_without_the_token",
        TOKENS_KEPT + "test_no_file_of_the_store_holds_a_token",
        TOKENS_KEPT + "test_another_process_sees_a_revocation_at_once",
    ),
    promise(
        "6-http-limits",
        "Requests over a limit are refused; health and metrics can be watched and name nobody.",
        HTTP + "test_a_body_that_is_too_large_is_refused",
        HTTP + "test_writes_are_paced",
        HTTP + "test_health_needs_no_token_and_tells_nothing_more",
        HTTP + "test_metrics_count_calls_and_name_nobody",
    ),
    promise(
        "9-http-paths",
        "Over HTTP paths are taken only inside configured roots, and told relative.",
        HTTP + "test_without_roots_every_path_is_refused",
        HTTP + "test_inside_the_roots_a_folder_is_scanned_and_paths_are_told_relative",
    ),
    promise(
        "6-web",
        "The web page searches, shows documents, memory, review and health, and does what a person decides.",
        PAGES + "test_a_search_shows_documents_and_memory_with_their_matches_marked",
        PAGES + "test_a_document_is_shown_with_outline_and_links",
        PAGES + "test_the_picture_has_every_shelf_document_and_link",
        PAGES + "test_memory_is_shown_by_project_and_time",
        PAGES + "test_an_entry_is_invalidated_and_brought_back_with_a_reason",
        PAGES + "test_a_proposal_is_accepted_as_it_was_shown",
        PAGES + "test_what_waits_is_a_checklist_of_which_no_page_is_lost",
        PAGES + "test_health_names_stores_indexes_and_sizes",
    ),
    promise(
        "6-web-token",
        "Without its token the page tells nothing, and no page of another site changes anything.",
        PAGES + "test_without_its_token_nothing_is_told",
        PAGES + "test_a_change_without_the_second_token_is_refused",
        PAGES + "test_another_name_is_refused",
        PAGES + "test_a_page_of_another_site_is_refused",
    ),
    promise(
        "6-web-hostile",
        "Stored text can do nothing on the page.",
        MARKUP + "test_hostile_text_is_harmless",
        MARKUP + "test_whatever_is_put_together_is_harmless",
        PAGES + "test_every_answer_carries_the_policy",
    ),
    promise(
        "6-twins",
        "Every tool of memory has its twin on the command line.",
        TWINS + "test_every_tool_of_memory_has_its_twin",
        TWINS + "test_an_entry_is_updated_archived_and_its_history_shown",
        TWINS + "test_deleting_wants_a_word_that_it_is_meant",
        TWINS + "test_entries_are_linked_and_unlinked",
        TWINS + "test_what_is_alike_what_changed_and_the_index",
        TWINS + "test_entries_are_built_from_what_is_there",
        TWINS + "test_entries_are_built_from_commits",
        TWINS + "test_memory_is_carried_to_a_file_and_back",
        TWINS + "test_proposals_wait_for_a_person_on_a_terminal",
    ),
    promise(
        "6-completion",
        "Completion for bash, zsh, fish and PowerShell.",
        COMPLETION + "test_every_command_is_in_every_script",
        COMPLETION + "test_bash_completes",
        COMPLETION + "test_zsh_completes",
        COMPLETION + "test_fish_completes",
    ),
    promise(
        "6-tour",
        "A tour runs real commands on data that ships and touches nothing else.",
        COMPLETION + "test_the_tour_runs_real_commands_and_touches_nothing_of_ours",
    ),
    promise(
        "6-true-docs",
        "The reference is generated from the program, and every block of code in the documentation is run.",
        COMPLETION + "test_the_reference_is_level_with_the_program",
        BLOCKS + "test_every_block_is_of_a_kind_that_is_tried_or_says_why_not",
        BLOCKS + "test_shell_runs",
        BLOCKS + "test_python_runs_and_gives_what_the_comments_say",
    ),
    promise(
        "6-registries",
        "What registries, bundles and containers are told is true of the program.",
        "architecture/test_registries.py::test_server_json_names_this_version_and_real_settings",
        "architecture/test_registries.py::test_the_bundle_lists_the_tools_that_are_served",
        "architecture/test_registries.py::test_what_is_deployed_starts_commands_that_parse",
        "architecture/test_registries.py::test_every_shipped_script_of_others_has_its_licence",
    ),
    promise(
        "6-browser",
        "In a real browser: typed, clicked, without scripts, on a small screen, sound for screen readers.",
        BROWSER + "test_results_come_while_one_types_and_keys_lead_through_them",
        BROWSER + "test_an_answer_to_an_earlier_question_is_never_shown",
        BROWSER + "test_the_page_works_without_scripts",
        BROWSER + "test_stored_text_that_means_harm_does_none",
        BROWSER + "test_the_policy_stops_what_slips_in",
        BROWSER + "test_the_map_shows_filters_opens_and_stays",
        BROWSER + "test_every_page_is_sound_for_keyboards_screen_readers_and_small_screens",
        BROWSER + "test_what_a_page_weighs",
    ),
)

BEYOND = (
    promise(
        "8.1-freshness",
        "Every document hit says same, changed or gone, asked when it is answered.",
        DOCS + "test_freshness_is_asked_of_the_file_when_it_is_answered",
        FRESH + "test_gone",
        FRESH + "test_the_same_bytes_under_other_numbers_are_the_same",
        FRESH + "test_a_file_that_was_young_when_it_was_read_is_read_again",
    ),
    promise(
        "8.1-lag",
        "An answer says how far an index is behind a running scan.",
        SYNC + "test_lines_of_a_scan_wait_for_its_answer",
        DOCS + "test_changes_of_a_scan_that_died_are_told_as_lag_and_brought_in",
        PROCESSES + "test_during_a_scan_others_see_documents_or_how_many_they_do_not_see_yet",
        PROCESSES + "test_during_a_scan_of_changed_documents_they_do_not_vanish",
        DOCS + "test_documents_that_a_running_scan_has_changed_are_found_as_they_are_now",
    ),
    promise(
        "8.2-counts",
        "seen = new + changed + same + skipped + failed, each skip with its reason.",
        SCAN + "test_after_any_history_the_store_holds_what_lies_there",
        SCAN + "test_every_kind_of_bad_file_is_survived_and_named",
        PROSE + "test_a_scan_report_adds_up_and_names_what_was_not_taken",
        SCAN + "test_overlapping_sources_count_a_file_once",
    ),
    promise(
        "8.2-no-silent-cap",
        "What is cut is cut aloud: limits, long texts, many matches, long queries.",
        MEMORY + "test_a_limit_above_the_maximum_is_clamped_aloud",
        DOCS + "test_a_limit_above_the_maximum_is_clamped_aloud",
        DOCS + "test_many_places_are_cut_aloud_and_read_on",
        TEXT + "test_a_long_query_is_cut_and_says_so",
    ),
    promise(
        "8.3-sources",
        "Sources stay identical byte for byte.",
        DOCS + "test_sources_stay_as_they_are_byte_for_byte",
        SCAN + "test_sources_stay_as_they_are",
    ),
    promise(
        "8.4-evidence",
        "A link to a section notices when it changes or goes; what cannot be read is unknown.",
        LINKING + "test_a_link_to_a_section_notices_when_the_section_changes_or_goes",
        LINKING + "test_a_store_of_documents_that_cannot_be_read_hides_no_link",
        EVIDENCE + "test_an_entry_whose_evidence_changed_is_marked_wherever_it_appears",
    ),
    promise(
        "8.4-verify",
        "verify looks at file, sections and commit, and records what it saw and when.",
        EVIDENCE + "test_verifying_looks_at_file_section_and_commit_and_remembers",
        EVIDENCE + "test_verifying_an_entry_of_another_project_is_not_possible",
    ),
    promise(
        "8.7-echo",
        "The scope that the server resolved is echoed in every answer.",
        MEMORY + "test_scope_topic_and_tags_are_normalised_alike_when_kept_and_when_asked_for",
        MEMORY + "test_a_project_sees_itself_alone_unless_asked_to_cross",
        DOCS + "test_a_shelf_is_named_by_name_id_slug_or_uri",
    ),
    promise(
        "8.7-what-exists",
        "An empty answer says what exists, and which similarly named scope has matches.",
        MEMORY + "test_nothing_found_says_what_exists",
        MEMORY + "test_nothing_found_names_a_similar_scope_that_has_matches",
    ),
    promise(
        "8.8-budget",
        "A token budget is an argument of searches and reads; what was left out and how to go on is said.",
        EVIDENCE + "test_a_budget_leaves_out_results_and_says_how_to_go_on",
        EVIDENCE + "test_a_budget_that_holds_no_whole_content_cuts_it_and_says_so",
        EVIDENCE + "test_a_cut_text_begins_as_it_did_and_gets_on",
    ),
    promise(
        "8.11-peers",
        "What the official memory server, basic-memory and instruction files hold comes in as proposals.",
        PROPOSING + "test_the_official_memory_servers_lines_become_proposals",
        PROPOSING + "test_notes_and_instructions_become_proposals",
    ),
    promise(
        "6-backup",
        "A backup holds one moment of each store, is examined before it gets its name, and is restored under running servers.",
        SAFE + "test_a_backup_goes_on_beside_writers_and_holds_one_moment",
        SAFE + "test_what_was_backed_up_comes_back_and_what_it_replaces_is_kept",
        SAFE + "test_a_backup_that_is_not_whole_is_refused_and_nothing_changed",
        SAFE + "test_a_newer_schema_is_refused",
    ),
    promise(
        "1-damage",
        "Damage is found, flagged where it is read, and never passed off as whole; what can be read is saved, the rest named.",
        SAFE + "test_a_changed_letter_is_found_flagged_and_never_passed_off_as_whole",
        SAFE + "test_of_pages_that_are_noise_all_rows_on_the_others_are_saved",
        SAFE + "test_repair_saves_all_but_what_is_damaged_and_names_that",
    ),
    promise(
        "8.12-first-open",
        "A first open by many processes is one migration.",
        PROCESSES + "test_eight_processes_open_an_empty_store_at_once",
        PROCESSES + "test_eight_processes_open_an_empty_store_at_once_twenty_times",
    ),
    promise(
        "8.12-races",
        "A lost race for a lock is nobody's error and never taken for corruption.",
        PROCESSES + "test_no_write_is_missed_and_no_lock_is_heard_of",
        PROCESSES + "test_of_scans_at_once_of_one_folder_each_document_comes_once",
        SCAN + "test_two_scans_at_once_make_each_document_once",
    ),
)

SETTLED = (
    promise(
        "9-foreign-schema",
        "A database of another program is refused and left byte for byte.",
        DATABASE + "test_a_database_of_another_program_is_refused_and_left_byte_for_byte",
        DATABASE + "test_a_database_in_use_by_another_program_is_not_even_checkpointed",
        DATABASE + "test_what_is_no_database_is_refused_and_left_alone",
        BAD + "test_a_database_of_another_program_is_left_byte_for_byte",
    ),
    promise(
        "9-predecessor-memory",
        "A memory store of the predecessor is recognised, copied and taken over in place, once, with a report.",
        "unit/indexer/test_predecessor.py::test_everything_is_taken_over_once_and_the_old_file_is_kept",
        "unit/indexer/test_predecessor.py::test_many_at_once_take_it_over_once",
        "unit/indexer/test_predecessor.py::test_what_fails_half_way_leaves_the_old_store",
    ),
    promise("9-predecessor-docs", "A docs store of the predecessor is recognised and imported, once.", later="docs"),
    promise(
        "2.4-paging-ends",
        "Paging ends aloud where a search would have to read thousands of results.",
        MEMORY + "test_nobody_pages_without_end",
    ),
    promise(
        "9-bad-stores",
        "Unreadable, cut, emptied or damaged stores are refused plainly, and serve again when put back.",
        BAD + "test_an_unreadable_store_is_refused_by_every_verb_and_left_alone",
        BAD + "test_a_store_cut_short_is_refused_and_serves_again_when_put_back",
        BAD + "test_a_store_that_was_emptied_begins_anew_and_says_nothing_of_the_old_one",
        BAD + "test_a_damaged_page_is_a_plain_refusal_or_no_matter",
        BAD + "test_a_folder_in_the_place_of_a_store_is_named",
        BAD + "test_a_store_that_may_not_be_looked_at_is_not_taken_for_a_missing_one",
    ),
    promise(
        "9-full-disk",
        "A full disk refuses what cannot be kept and loses nothing.",
        BAD + "test_a_full_disk_refuses_entries_and_loses_none",
        BAD + "test_a_full_disk_stops_a_scan_between_documents",
        BAD + "test_a_process_that_starts_on_a_full_disk_reads_and_writes_when_it_can",
        BAD + "test_a_limit_on_file_sizes_is_named_and_loses_nothing",
        SYNC + "test_an_index_that_cannot_be_written_goes_on_serving",
    ),
    promise(
        "9-read-only",
        "Where nothing may be written, reads go on and writes are refused.",
        BAD + "test_without_permission_to_write_reads_go_on_and_writes_are_refused",
        BAD + "test_a_read_only_file_system_is_read",
        BAD + "test_a_log_left_by_a_killed_process_is_read_without_permission_to_write",
        BAD + "test_a_file_system_that_becomes_writable_again_is_written_without_a_restart",
        SYNC + "test_a_read_only_store_is_searched",
        SCAN + "test_a_read_only_store_refuses_only_what_would_write",
    ),
    promise(
        "9-id-alone",
        "With only project_id and no roots, path arguments are INVALID_PARAM.",
        PATHS + "test_no_roots_allow_nothing_and_none_allows_everything",
        MEMORY + "test_what_is_wrong_is_named_and_nothing_is_kept",
    ),
    promise(
        "9-status-bare",
        "memory_status without a project reports the store.",
        MEMORY + "test_status_tells_what_serves",
    ),
    promise(
        "9-remote",
        "The remote is origin, else the only one.",
        REPOSITORY + "test_the_remote_is_origin_else_the_only_one",
    ),
    promise(
        "9-discovered-env",
        "The discovered .env is the nearest inside the roots, trusted no more than a target's.",
        SETTINGS + "test_the_nearest_env_above_the_working_folder_lowers_limits",
        SETTINGS + "test_an_env_above_the_roots_is_not_looked_at",
    ),
    promise(
        "9-add",
        "topic, content and source_type are required; dedupe is on and looks at active entries of the scope.",
        MEMORY + "test_an_exact_duplicate_in_the_same_scope_is_kept_once",
        MEMORY + "test_the_answer_to_a_duplicate_is_what_is_kept",
        REGISTRY + "test_what_a_schema_offers_is_what_the_hall_takes",
    ),
    promise(
        "9-search",
        "status may be any, tags are AND, limits are clamped with a warning, total and next_offset are told.",
        MEMORY + "test_every_filter_narrows",
        MEMORY + "test_a_limit_above_the_maximum_is_clamped_aloud",
        MEMORY + "test_entries_that_are_not_active_rank_after_those_that_are",
        MEMORY + "test_pages_follow_one_another_and_say_how_to_go_on",
    ),
    promise(
        "9-literal",
        "What holds the literal text is never excluded by an operator reading.",
        CONTRACT + "test_literals_are_found",
        TEXT + "test_a_query_is_its_words_without_the_common_ones",
    ),
    promise(
        "9-shapes",
        "Answers have the agreed shapes, and warnings are strings.",
        RESULTS + "test_values_become_json_with_absent_fields_left_out",
        RESULTS + "test_several_reports_become_a_list_with_their_warnings_in_common",
        IN_MEMORY + "test_clients_see_the_registry",
    ),
    promise(
        "9-include-docs",
        "include_docs adds the documents that hits link to.",
        EVIDENCE + "test_a_search_names_the_documents_that_its_hits_cite_when_asked",
    ),
    promise(
        "9-retrieval",
        "retrieval chooses the leg.",
        MEANING + "test_built_and_asked",
        MEANING + "test_a_question_that_is_a_literal_is_answered_by_words",
    ),
    promise(
        "9-resources",
        "Lists and completions serve only the project that the server was started for.",
        RESOURCES + "test_without_a_project_no_memory_is_listed",
        RESOURCES + "test_an_entry_is_whole_and_of_the_servers_project",
        RESOURCES + "test_variables_complete_for_the_servers_project_only",
        RESOURCES + "test_lists_never_carry_contents",
        MEMORY + "test_listing_pages_by_number",
    ),
    promise(
        "9-docs-defaults",
        "limit 10, context_lines 10, tag_match all, remove_missing false, .gitignore honoured.",
        DOCS + "test_ten_documents_are_listed_unless_more_are_asked_for",
        DOCS + "test_tags_filter_all_or_any",
        DOCS + "test_a_literal_is_shown_with_the_lines_around_it",
        SCAN + "test_missing_files_are_reported_and_removed_on_request_only",
    ),
    promise(
        "9-docs-ties",
        "Documents that tie come by modification time, path, line.",
        DOCS + "test_ties_are_broken_by_time_then_path_then_line",
    ),
    promise(
        "9-docs-shelves",
        "The same file on two shelves is two documents.",
        DOCS + "test_the_same_file_on_two_shelves_is_two_documents",
    ),
    promise(
        "9-docs-stored",
        "A read shows the stored text, and says when the file has changed.",
        DOCS + "test_freshness_is_asked_of_the_file_when_it_is_answered",
    ),
    promise(
        "9-docs-secrets",
        "Document text is indexed and shown with certain secrets masked, line for line, the source untouched.",
        DOCS + "test_a_certain_secret_is_never_shown_or_found_on_the_disk",
    ),
    promise(
        "9-actor",
        "The audit's actor is the client's name and version.",
        IN_MEMORY + "test_verbs_get_what_was_said_and_who_said_it",
    ),
    promise(
        "9-refused",
        "A refused write is audited in a transaction of its own.",
        MEMORY + "test_every_write_and_every_refused_write_leaves_one_row_without_content",
    ),
    promise(
        "9-close",
        "Halls close their stores, and open again when used.",
        MEMORY + "test_a_context_manager_closes_the_store",
        DOCS + "test_a_context_manager_closes_the_store",
        DATABASE + "test_after_closing_the_next_use_opens_again",
    ),
    promise(
        "9-threads",
        "A hall may be shared between threads.",
        CONTRACT + "test_a_handle_serves_threads_that_did_not_open_it",
        DATABASE + "test_each_thread_has_a_connection_of_its_own",
        DATABASE + "test_threads_that_come_and_go_leave_no_files_open",
    ),
    promise(
        "9-proposals",
        "Proposals lie outside search until a person accepts the very text that was shown.",
        PROPOSING + "test_what_waits_is_found_by_nothing",
        PROPOSING + "test_a_person_accepts_the_very_text_that_was_shown",
        TOGETHER + "test_a_person_reviews_on_a_terminal_by_typing_the_code_of_what_was_shown",
        PROPOSING + "test_what_is_declined_is_gone_down_to_the_bytes",
        PROPOSING + "test_a_proposal_that_has_become_an_entry_meanwhile_is_that_entry",
    ),
    promise(
        "9-review",
        "scaffale review decides on proposals and concepts, on a terminal, by a typed code.",
        TOGETHER + "test_a_person_reviews_on_a_terminal_by_typing_the_code_of_what_was_shown",
        REVIEW_TERMINAL + "test_pages_keys_and_a_code_decide_exactly_what_was_shown",
        REVIEW_TERMINAL + "test_another_code_decides_nothing",
        REVIEW_TERMINAL + "test_leaving_decides_nothing",
        REVIEW_TERMINAL + "test_without_a_terminal_nothing_is_decided_whatever_is_piped_in",
        REVIEW_TERMINAL + "test_no_flag_stands_for_a_person",
        REVIEW_TERMINAL + "test_where_nothing_waits_the_review_closes_by_itself",
        CHECKLIST + "test_the_code_is_of_every_text_and_every_verdict",
        CHECKLIST + "test_all_are_preselected_and_nothing_is_decided_before_enter",
        TWINS + "test_proposals_wait_for_a_person_on_a_terminal",
    ),
)

VECTORS = (
    promise(
        "7-engines",
        "Vector engines are one port: filters before the best are chosen, and each is held to an exact judge.",
        VECTOR_INDEX + "test_a_new_index_holds_nothing",
        VECTOR_INDEX + "test_the_nearest_come_first_with_their_cosine",
        VECTOR_INDEX + "test_a_filter_is_part_of_the_question",
        VECTOR_INDEX + "test_owners_can_be_left_out",
        VECTOR_INDEX + "test_a_passage_counts_as_its_best_piece",
        VECTOR_INDEX + "test_what_replaces_an_owner_replaces_all_of_it",
        VECTOR_INDEX + "test_a_batch_that_breaks_off_leaves_the_former_watermark",
        VECTOR_INDEX + "test_a_batch_and_its_watermark_are_one",
        VECTOR_INDEX + "test_a_handle_sees_what_another_process_commits",
        VECTOR_INDEX + "test_ties_are_told_apart_by_importance_and_number",
        VECTOR_INDEX + "test_stored_vectors_can_be_had_back",
        VECTOR_INDEX + "test_it_agrees_with_the_judge",
        VECTOR_INDEX + "test_a_file_that_is_none_is_not_trusted",
        VECTOR_INDEX + "test_a_vector_of_another_length_is_no_answer",
        VECTOR_INDEX + "test_files_are_for_their_owner_alone",
        VECTOR_INDEX + "test_what_is_discarded_is_gone",
        VECTOR_INDEX + "test_much_that_comes_and_goes_leaves_what_is_left",
    ),
    promise(
        "7-optional",
        "Vectors are off by default, and turned on, off and dropped by a person.",
        MEANING + "test_off_until_somebody_turns_them_on",
        MEANING + "test_turned_off_and_dropped",
        MEANING + "test_the_command_line_turns_them_on_and_asks",
        MEANING + "test_the_environment_has_the_last_word",
    ),
    promise(
        "7-extras",
        "With the extras installed and vectors off none of them is imported.",
        VECTORS_OFF + "test_nothing_of_vectors_is_imported_while_they_are_off",
    ),
    promise(
        "7-daemon",
        "One process for each user has the models; dead, foreign, silent or changed, it is never an error.",
        EMBEDDER + "test_the_first_question_starts_it_and_later_ones_are_answered",
        EMBEDDER + "test_documents_alone_start_nothing",
        EMBEDDER + "test_it_is_for_its_user_alone",
        EMBEDDER + "test_there_is_one_however_many_are_started",
        EMBEDDER + "test_one_that_was_killed_is_followed_by_another",
        EMBEDDER + "test_it_goes_when_nobody_asks",
        EMBEDDER + "test_many_ask_at_once",
        EMBEDDER + "test_a_model_that_is_missing_or_changed_says_so_and_is_tried_again",
        EMBEDDER + "test_whatever_else_listens_there_is_no_embedder",
        EMBEDDER + "test_one_that_says_nothing_is_not_waited_for",
        EMBEDDER + "test_nonsense_ends_a_connection_and_nothing_else",
        EMBEDDER + "test_a_name_that_is_too_long_for_a_socket_says_what_to_do",
        MODELS + "test_no_process_of_an_agent_imports_torch",
    ),
    promise(
        "7-models",
        "Models of sentence-transformers, ONNX without torch and static ones serve behind one port, offline.",
        MODELS + "test_meaning_finds_what_words_do_not",
        MODELS + "test_both_embedders_make_nearly_the_same_vectors",
        MODELS + "test_prompts_and_fewer_dimensions",
        MODELS + "test_a_static_model_is_read_without_torch",
        MODELS + "test_a_model_that_changed_on_disk_is_refused",
        MODELS + "test_a_name_that_is_not_here_is_answered_at_once",
        MODELS + "test_italian_by_a_multilingual_model",
    ),
    promise(
        "7-milvus",
        "A team's Milvus is one more engine: away, it is waited for; what is another's is left alone.",
        MILVUS + "test_a_collection_of_another_program_is_refused_and_left_alone",
        MILVUS + "test_an_address_where_nobody_answers_is_away",
        MILVUS + "test_filters_are_quoted",
        MEANING + "test_an_engine_elsewhere_that_is_down_is_not_asked_at_every_search",
    ),
    promise(
        "7-similar",
        "Similar entries, and candidates for links, are found by meaning, too, where vectors are on.",
        MEANING + "test_similar_entries_are_found_by_meaning_too",
        MEANING + "test_correlation_takes_candidates_by_meaning_too",
    ),
    promise(
        "7-hash",
        "Unchanged text is never embedded again.",
        MEANING + "test_what_is_unchanged_is_never_embedded_again",
    ),
    promise(
        "7-degrades",
        "A model that is missing or slow, and vectors that are none, leave words to answer, with a warning.",
        MEANING + "test_a_model_that_is_not_there_is_a_warning",
        MEANING + "test_a_slow_model_is_not_waited_for",
        MEANING + "test_vectors_that_are_none_are_refused",
        MEANING + "test_a_build_that_breaks_off_goes_on",
    ),
    promise(
        "7-projection",
        "A vector index is a projection: lost or damaged it comes back from the store.",
        MEANING + "test_an_index_that_is_damaged_or_lost_comes_back",
        MEANING + "test_the_journal_may_have_been_pruned",
        MEANING + "test_a_store_that_was_rolled_back_is_noticed",
        MEANING + "test_what_is_gone_is_not_found_any_more",
        MEANING + "test_maintenance_leaves_nothing_of_what_is_gone",
        MEANING + "test_servers_follow_by_themselves_once_somebody_asks",
    ),
    promise(
        "7-coverage",
        "An answer by meaning says how much of the store it was chosen from.",
        MEANING + "test_what_was_written_since_is_found_by_words_and_counted",
    ),
)

PROMISES = (
    *GROUND_RULES,
    *IDENTITY,
    *CONFIGURATION,
    *RECORDS,
    *TOOLS,
    *RANKING,
    *SENSITIVE,
    *EXCHANGED,
    *BROWSED,
    *DOCUMENT_RECORDS,
    *MANAGING,
    *FINDING,
    *LEDGER,
    *GUARD,
    *FACES,
    *VECTORS,
    *BEYOND,
    *SETTLED,
)
