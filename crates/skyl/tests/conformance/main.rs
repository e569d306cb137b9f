//! One suite for every dialect: the same calls, faults and questions, over real sockets.
//!
//! What holds here holds for one engine, whatever protocol it speaks. A behaviour is a function of a
//! [`Case`](stage::Case) in one of the modules below; every dialect gets a test of its name, so that
//! a failure says which dialect it is. A new dialect is one row in `dialects!` and one `Case`.
//!
//! Waits run on a manual clock. Where a provider lacks something, the case says so in a field, and
//! the test holds what happens instead: nothing is left out in silence.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests are tests too: a step that fails ends them"
)]

mod answers;
mod broken;
mod delivery;
mod house;
mod moves;
mod record;
mod retries;
mod stage;
mod statuses;
mod tools;

macro_rules! behaviours {
    ($case:expr; $($module:ident :: $test:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $test() {
                crate::$module::$test(&$case).await;
            }
        )+
    };
}

macro_rules! dialects {
    ($($dialect:ident => $case:path),+ $(,)?) => {
        $(
            mod $dialect {
                behaviours! { $case;
                    answers::texts_keep_their_bytes_complete_and_streamed,
                    answers::a_token_limit_is_a_stop_reason,
                    answers::a_stop_text_ends_the_answer,
                    answers::usage_counts_caches_into_the_input,
                    answers::reasoning_is_counted_into_the_output,
                    answers::structured_output_fits_its_schema,
                    answers::a_refusal_without_text_is_an_error_with_its_words,
                    answers::a_200_without_an_answer_is_never_an_empty_success,
                    answers::a_full_request_is_taken,
                    tools::a_tool_loop_ends_in_an_answer_with_the_result,
                    tools::parallel_calls_stay_apart,
                    tools::parallel_calls_can_be_forbidden,
                    tools::the_tool_choice_is_obeyed,
                    tools::streamed_pieces_join_to_the_whole_call,
                    moves::reasoning_goes_back_to_its_provider_untouched,
                    moves::a_tool_loop_goes_on_at_every_other_provider,
                    moves::reasoning_is_dropped_for_others_with_a_warning,
                    statuses::every_error_status_is_its_kind,
                    statuses::every_other_2xx_is_a_failure,
                    statuses::a_body_that_names_its_cause_beats_the_status,
                    statuses::a_body_that_is_no_json_leaves_the_status,
                    retries::what_is_transient_is_retried_and_nothing_else,
                    retries::the_servers_wait_is_waited,
                    retries::a_wait_that_is_unusable_leaves_the_own_backoff,
                    retries::the_servers_word_is_obeyed,
                    retries::every_way_to_lose_a_whole_answer_is_retried,
                    retries::every_failed_start_of_a_stream_is_retried,
                    retries::an_error_inside_a_200_is_retried_before_content,
                    retries::giving_up_tells_every_attempt,
                    retries::a_stall_before_the_answer_is_a_timeout_and_retried,
                    broken::what_breaks_after_content_is_never_resent,
                    broken::an_error_after_content_keeps_its_class,
                    broken::a_stream_without_its_mark_is_truncated,
                    broken::a_stream_that_falls_silent_is_a_timeout_and_never_resent,
                    broken::a_tool_call_that_breaks_off_is_no_call,
                    delivery::however_it_is_delivered_the_answer_is_the_same,
                    delivery::a_short_stall_changes_nothing,
                    delivery::a_dropped_stream_closes_its_connection,
                    house::models_are_listed_to_the_last_page,
                    house::an_unknown_model_is_not_found_and_asked_for_once,
                    house::a_wrong_key_is_refused_once_and_told_to_nobody,
                    house::a_script_that_does_not_parse_is_a_bad_request,
                    record::a_bad_minute_is_told_alike_by_all,
                    record::calls_at_once_each_keep_their_own_record,
                }
            }
        )+
    };
}

dialects! {
    openai => crate::stage::OPENAI,
    compat => crate::stage::COMPAT,
    anthropic => crate::stage::ANTHROPIC,
    anthropic_2026 => crate::stage::ANTHROPIC_2026,
    gemini => crate::stage::GEMINI,
    responses => crate::stage::RESPONSES,
}
