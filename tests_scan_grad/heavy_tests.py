"""Tests that take long: beginnings of their names, by what makes them long.

They run with ``--heavy``, as continuous integration does, and are skipped else.
"""

HEAVY = (
    # many fresh processes, one after another
    "test_caches.py::test_killed_processes_leave_nothing_behind",
    "test_commands.py::test_the_cache_is_listed_cleared_and_purged",
    "test_commands.py::test_nose_runs_tests_by_pytest",
    "test_stored_graphs.py::test_the_next_process_reads_the_same_graph[lstm-2]",
    "native/test_long_lives.py::test_two_processes_compile_the_same_function_at_once",
    "native/test_sizes.py::",
    "gpuarray/test_two_processes.py::",
    # many compilations
    "test_differential.py::test_more_programs",
    "test_compilation.py::test_graphs_of_dead_functions_are_collected_once_they_are_many",
    "test_generated_loops.py::test_second_derivatives_are_right[nested]",
    "test_generated_loops.py::test_second_derivatives_are_right[gated]",
    "native/test_long_lives.py::test_a_loop_that_is_used_again_holds_no_more[checked function]",
    "native/test_long_lives.py::test_a_loop_that_is_used_again_holds_no_more[interpreted function]",
    "native/test_long_lives.py::test_a_loop_that_is_used_again_holds_no_more[tangent]",
    "native/test_long_lives.py::test_a_function_that_is_copied_again_holds_no_more",
    "native/test_loops.py::test_networks_and_their_gradients[tied weights]",
    "native/test_lowering_scalars.py::test_casts",
    "native/test_random_draws.py::test_truncated_normal_draws",
    "native/test_threads.py::test_results_do_not_depend_on_the_number_of_threads[softmax-float32]",
    "test_scan_gradient.py::test_hessian_by_a_state_that_is_a_number[pytensor_vm]",
    "xla/test_bucket_lengths.py::test_a_gated_network_of_many_lengths",
    "xla/test_loops_generated.py::test_generated_loops[any-off]",
    # whole networks on XLA, compiled for several devices
    "gpuarray/test_data_parallel.py::test_on_two_devices[split_steps-check_gated_rnn",
    "gpuarray/test_data_parallel.py::test_on_two_devices[split_draws-check_dropout]",
    "gpuarray/test_data_parallel.py::test_on_two_devices[split_draws-check_normal_noise]",
    "gpuarray/test_data_parallel.py::test_on_two_devices[split_steps-check_recurrent_block]",
    "gpuarray/test_lstm_layers.py::test_our_parameters_are_those_of_jax[bidirectional]",
    "gpuarray/test_lstm_layers.py::test_with_a_library_in_the_place_of_cudnn",
    "gpuarray/test_rnn_block.py::test_outputs_and_gradients_are_those_of_a_network_written_with_scan[lstm-bidir",
    "gpuarray/test_rnn_block.py::test_outputs_and_gradients_are_those_of_a_network_written_with_scan[rnn_tanh",
    "gpuarray/test_rnn_block.py::test_outputs_and_gradients_are_those_of_a_network_written_with_scan[gru-bidir",
    # experiments and pictures
    "test_documentation.py::test_pictures_of_loops_are_what_the_script_draws",
    "test_documentation.py::test_pictures_of_times_can_be_drawn",
    "test_documentation.py::test_the_change_of_the_example_trains",
    "test_readme.py::test_command_works[.venv/bin/python -m tests_scan_grad.timing gatedrnn]",
    "test_timing.py::test_each_experiment_runs_and_its_rows_are_complete",
    "test_timing.py::test_a_missing_peer_that_is_not_asked_for_is_reported",
    "test_timing.py::test_plain_pytensor_is_without_our_gradient",
    "test_timing.py::test_plot_is_a_picture",
    "test_timing.py::test_a_file_that_cannot_be_written_does_not_lose_the_table",
    "test_timing_loops.py::test_a_fresh_process_computes_the_gradient_with_caches_of_its_own",
    "xla/test_timing.py::test_experiments_run_on_the_device_of_the_flags",
    # allocations of every step are traced
    "test_memory.py::test_blocks_bound_the_memory_of_what_leaves_the_loop",
    "test_memory.py::test_saving_nothing_takes_less",
    # signals that arrive while much is computed
    "native/test_interrupts.py::test_a_signal_stops_a_segment_and_no_shared_variable_changes[threads]",
    "native/test_interrupts.py::test_a_signal_stops_a_segment_and_no_shared_variable_changes[rows]",
    "native/test_interrupts.py::test_a_signal_stops_reductions_and_the_like[vector",
    "native/test_interrupts.py::test_a_signal_stops_reductions_and_the_like[matrix",
    "native/test_interrupts.py::test_a_signal_stops_reductions_and_the_like[cumulative",
    "native/test_interrupts.py::test_a_signal_stops_reductions_and_the_like[strided",
)
