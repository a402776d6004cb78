"""Which modules of Theano's tests are run: in each test run, and on request."""

from tests_scan_grad.upstream.theano_tests.run import fetched

# Not tests of the package: the style of Theano's files, a machine's MPI, how fast something is.
LEFT_OUT = (
    "theano/tests/test_flake8.py",
    "theano/tensor/tests/test_mpi.py",
)

# What is run in each test run, the longest first
QUICK = (
    "theano/scan_module/tests/test_scan.py",
    "theano/tensor/tests/test_subtensor.py",
    "theano/tests/test_rop.py",
    "theano/compile/tests/test_debugmode.py",
    "theano/gof/tests/test_vm.py",
    "theano/compile/tests/test_builders.py",
    "theano/gof/tests/test_cc.py",
    "theano/gof/tests/test_compute_test_value.py",
    "theano/compile/tests/test_monitormode.py",
    "theano/tests/test_gradient.py",
    "theano/scan_module/tests/test_scan_opt.py",
    "theano/tests/test_ifelse.py",
    "theano/compile/tests/test_modes.py",
    "theano/tests/test_determinism.py",
    "theano/gof/tests/test_cmodule.py",
    "theano/tests/test_printing.py",
    "theano/tests/test_record.py",
    "theano/tests/test_dictionary_output.py",
    "theano/gof/tests/test_types.py",
    "theano/compile/tests/test_nanguardmode.py",
    "theano/compile/tests/test_misc.py",
    "theano/tests/test_2nd_order_grads.py",
    "theano/compile/tests/test_function_name.py",
    "theano/compile/tests/test_shared.py",
    "theano/tests/test_pickle_unpickle_theano_fn.py",
    "theano/tests/test_updates.py",
    "theano/compile/tests/test_profiling.py",
    "theano/compile/tests/test_mode.py",
    "theano/tests/test_breakpoint.py",
    "theano/gof/tests/test_compiledir.py",
    "theano/gof/tests/test_op.py",
    "theano/gof/tests/test_link.py",
    "theano/gof/tests/test_graph_opt_caching.py",
    "theano/gof/tests/test_lazy.py",
    "theano/gof/tests/test_toolbox.py",
    "theano/compile/tests/test_ops.py",
    "theano/tests/test_config.py",
    "theano/gof/tests/test_graph.py",
    "theano/gof/tests/test_params_type.py",
    "theano/gof/tests/test_sched.py",
    "theano/gof/tests/test_opt.py",
    "theano/gof/tests/test_optdb.py",
    "theano/gof/tests/test_utils.py",
    "theano/gof/tests/test_destroyhandler.py",
    "theano/gof/tests/test_fg.py",
    "theano/scan_module/tests/test_scan_checkpoints.py",
    "theano/scan_module/tests/test_scan_utils.py",
    "theano/tensor/nnet/tests/test_nnet.py",
    "theano/tensor/nnet/tests/test_sigm.py",
    "theano/sandbox/linalg/tests/test_linalg.py",
    "theano/sandbox/tests/test_multinomial.py",
    "theano/sandbox/tests/test_multinomial_wo_replacement.py",
    "theano/typed_list/tests/test_basic.py",
    "theano/typed_list/tests/test_opt.py",
    "theano/typed_list/tests/test_type.py",
    "theano/tensor/tests/test_raw_random.py",
    "theano/tensor/tests/test_shared_randomstreams.py",
    "theano/tensor/nnet/tests/test_blocksparse.py",
    "theano/tensor/nnet/tests/test_opt.py",
    "theano/sparse/tests/test_opt.py",
    "theano/sparse/tests/test_sp2.py",
    "theano/sparse/tests/test_utils.py",
    "theano/sparse/tests/test_type.py",
)


def all_modules() -> list[str]:
    """All modules of tests but those for GPUs."""
    folder = fetched()
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("test_*.py"))
    return sorted(set(found).difference(LEFT_OUT))
