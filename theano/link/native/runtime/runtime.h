/* The C runtime of the native CPU engine: products, activations, threads, denormals.
 *
 * Those of its functions that generated C calls are declared once, in shared.inc; what they do is described here.
 * Strides count elements. Every function may be called from any thread. Nothing here
 * allocates, but for tn_gemm_f32 and tn_gemm_f64, which keep one work buffer a thread, and the
 * pool while it starts a worker.
 */
#ifndef TN_RUNTIME_H
#define TN_RUNTIME_H

#include <stdint.h>

#include "shared.inc"

#ifdef __cplusplus
extern "C" {
#endif

#define TN_DECLARE(type, name, arguments) type tn_##name arguments;
TN_FUNCTIONS_OF_REALS(TN_DECLARE, float, f32)
TN_FUNCTIONS_OF_REALS(TN_DECLARE, double, f64)
TN_FUNCTIONS(TN_DECLARE)
#undef TN_DECLARE

/* ---- Kernels: one family per instruction set, the best one chosen at first use. ---- */

/* "avx512", "avx2", "neon" or "portable". */
const char *tn_kernels_name(void);
/* Choose a family by name; returns 0 where it is unknown or this processor lacks it.
 * Operands packed before the choice cannot be used after it. NULL: the best one. */
int tn_select_kernels(const char *name);

/* ---- Products. ----
 * A packed operand holds the k by n matrix B as panels of tn_panel_width columns, so that
 * panel j starts at element j * width * k. The columns of the last panel are padded with zeros
 * to a whole vector. A buffer aligned to 64 bytes is read fastest.
 *
 * tn_by_rows: whether threads do well to share the m rows of a product by a packed matrix in place of the columns,
 * where they multiply by matrices of so many bytes in turn: in as many groups as there are threads, each with all
 * columns, or in fewer, whose threads share the columns. Each has rows enough for what it reads, and the order of
 * all sums stays.
 * tn_packed_size: bytes of the packed operand; -1 where they do not fit 64 bits.
 * tn_pack_panels: tn_pack_b for panels [first_panel, end_panel) only: threads may share the packing.
 *
 * tn_gemm_packed: C[m, n] = beta * C + A[m, k] B[k, n] for the columns of panels [first_panel, end_panel).
 * C has unit column stride and is not read where beta is 0; it is undefined, as a packed operand is,
 * where a signal ends the work (tn_stops).
 * tn_gemm: C = A B with B as it lies in memory, any strides; uses the pool where that pays.
 * Where there is no memory for the work buffer, the stack has to do. C is undefined where a signal
 * ends the product (tn_stops). tn_gemm_add adds to C. */
void tn_pack_b_f32(const float *b, int64_t row_stride, int64_t column_stride, int64_t k,
                   int64_t n, float *packed);
void tn_pack_b_f64(const double *b, int64_t row_stride, int64_t column_stride, int64_t k,
                   int64_t n, double *packed);
/* ---- Correlations of images with filters, and their gradients. ----
 * Along an axis, window o of an image begins at o * step - before, and its taps are `dilation` apart; what
 * lies outside of the image counts as zeros. There are three axes: those that lack have the length 1 and
 * 1 tap. Images, filters and the results of the correlation, here called top, lie in C order, without gaps:
 * image, group, channel, lengths; group, filter, channel, taps; image, group, filter, counts. */
/* Which of images, filters and top is computed from the two others. */
enum { TN_TO_TOP, TN_TO_IMAGES, TN_TO_FILTERS };
/* tn_correlation_work: elements of work memory; -1 where they do not fit 64 bits.
 * tn_correlate: out is undefined where a signal ends the work (tn_stops). With 0 threads it is shared over the pool where
 * that pays; else this is one of the threads of a run, which all call it. The same numbers are added in the
 * same order whoever does. */

/* ---- Sequences of labels: connectionist temporal classification. ---- */
/* tn_ctc: the cost of one sequence, of which so many steps count, with the first class as the blank: the negative logarithm of the probability of its
 * labels, those that are not negative; 0 where they do not fit the steps. The gradient of the cost by the
 * activations, if it is not NULL, has steps so far apart. Labels are below the number of classes, and
 * steps are at most those of the activations.
 * work holds steps + labels + (2 labels + 1) (steps + 5) numbers, with 1 for steps in the last without a
 * gradient. */

/* ---- Activations on contiguous arrays; x and y may be the same array. ----
 * At most 2 units in the last place from the exact value; sigmoid is 1 / (1 + exp(-x)),
 * softplus log(1 + exp(x)). The same functions on vectors are in activations.inc. */
#define TN_DECLARE_ACTIVATION(name)                              \
    void tn_##name##_f32(int64_t n, const float *x, float *y);   \
    void tn_##name##_f64(int64_t n, const double *x, double *y);
TN_DECLARE_ACTIVATION(exp)
TN_DECLARE_ACTIVATION(expm1)
TN_DECLARE_ACTIVATION(log)
TN_DECLARE_ACTIVATION(log1p)
TN_DECLARE_ACTIVATION(tanh)
TN_DECLARE_ACTIVATION(sigmoid)
TN_DECLARE_ACTIVATION(softplus)
#undef TN_DECLARE_ACTIVATION

/* ---- Threads. ---- */

enum { TN_MOST_THREADS = 256 };

/* tn_pool_run: calls work(context, thread, threads) once for each thread in [0, threads) and returns when
 * all are done; thread 0 is the caller. `threads` as work sees it is what it got, which may be
 * less than what was asked for: at most tn_max_threads(), and 1 where the pool is busy, where
 * the caller is itself such a thread, or where the system gives no thread.
 * tn_pool_share: calls work(context, part, parts) once for each part in [0, parts) and returns when all are done. Threads
 * take parts as they come, and the caller takes those that nobody else has begun: where other programs, or
 * another library's threads, have the processors, it does not wait for a thread that has none. So no part
 * may wait for another. There are as many parts as threads, or some times as many.
 * tn_barrier, inside work: waits until all `threads` threads of this run are here. */
/* Threads that a run may use: tn_set_threads, else OMP_NUM_THREADS, else the number of
 * processors that this process may use. */
int tn_max_threads(void);
/* 0 or less: back to the default. */
void tn_set_threads(int threads);
/* Nanoseconds that a barrier of so many threads takes, as it was a moment ago; below 0 where that is not known and may
 * not be measured, or the threads are busy. */
int64_t tn_barrier_time(int threads, int may_measure);
/* tn_threads_for: how many threads are worth sharing a phase of work that takes one thread so long, where that many
 * phases follow one another: each has enough to do to be worth a barrier at its end.
 * tn_set_least_work: what is enough, in nanoseconds; 0: any work, as tests want it; below 0: back to the default. */
void tn_set_least_work(double nanoseconds);
/* Nanoseconds by a clock that does not jump. */
int64_t tn_now(void);
/* Nanoseconds that threads have waited at barriers beyond a short while, all together. */
int64_t tn_waited(void);

/* ---- Whether the processors are busy with other work: one thread then does more. ---- */

/* Says whether several threads were of use, which so long waited for one another so long, and keeps it
 * in mind if they were not. */
int tn_judge(int64_t elapsed, int64_t waited, int threads);
/* For how many nanoseconds from now on one thread is to work alone. */
int64_t tn_oversubscribed_for(void);
void tn_set_oversubscribed(int64_t nanoseconds);

/* Worker threads alive in this process. */
int tn_pool_workers(void);

/* ---- Calls that have nothing to do with Python: see tn_function.h. ---- */

/* Whether this thread shares no work with others, and whether no signal ends its work. Both return
 * what was before. */
int tn_set_alone(int alone);
int tn_set_apart(int apart);

/* ---- Signals. ---- */

/* Nanoseconds between questions to Python, at least, where tests do not set others: each takes its lock. */
#define TN_PATIENCE 20000000

/* tn_poll is called by all threads of a loop at step 0, and then at each step that it returns: every 10 ms or
 * so. TN_STOP: a signal came, and all threads stop. TN_ALONE: the threads wait for processors that
 * other programs use; the first goes on alone, polls at the next step as one of one, and is
 * given TN_TOGETHER when all are to go on. `turn` is the thread's own, 0 at first.
 * tn_stand_aside, called by the others: waits, and returns the step at which they go on, or -1 where the loop
 * ended. tn_dismiss is called by the first where it ends the loop alone. */

/* tn_stops: whether the work of the main thread, or of a worker for it, is to end, because a signal came. All
 * that the call computes after it is then of no use: `tn_stopping`, an int32_t, is 1 until the
 * exception is taken. */
extern _Atomic(int32_t) tn_stopping;
/* For tests: nanoseconds between questions to Python (below 0: the default), and how many polls of all
 * threads were given "stop" so far. */
void tn_set_patience(int64_t nanoseconds);
int64_t tn_stops_polled(void);
int tn_is_main_thread(void);
/* Whether a handler raised an exception in the main thread; it is kept for tn_take_interrupt. */
int tn_interrupted(void);
/* Says whether this thread, a worker, does work of the main thread's. */
void tn_work_for_main_thread(int works);
/* From tn_commit to tn_committed, no signal ends the main thread's call: it writes what is kept between
 * calls. tn_commit returns whether one has ended it before. */

/* Python functions, and its main thread, which alone handles signals. */
struct tn_python {
    int (*ensure)(void);
    void (*release)(int state);
    int (*check_signals)(void);
    void (*fetch)(void **type, void **value, void **traceback);
    uintptr_t main_thread;
};
void tn_set_python(const struct tn_python *functions);
/* The exception that stopped a loop, as PyErr_Fetch gave it; it is the caller's now. */
void tn_take_interrupt(void **exception);

/* ---- Linear algebra. ----
 * The functions of LAPACK and BLAS that are called, as SciPy's cython_lapack and cython_blas have them. */
#define TN_LAPACK(real, suffix)                                                                    \
    void (*potrf_##suffix)(char *uplo, int *n, real *a, int *lda, int *info);                      \
    void (*trsm_##suffix)(char *side, char *uplo, char *transa, char *diag, int *m, int *n,        \
                          real *alpha, real *a, int *lda, real *b, int *ldb);                      \
    void (*gesv_##suffix)(int *n, int *nrhs, real *a, int *lda, int *ipiv, real *b, int *ldb,      \
                          int *info);                                                              \
    void (*posv_##suffix)(char *uplo, int *n, int *nrhs, real *a, int *lda, real *b, int *ldb,     \
                          int *info);                                                              \
    void (*getrf_##suffix)(int *m, int *n, real *a, int *lda, int *ipiv, int *info);               \
    void (*syevr_##suffix)(char *jobz, char *range, char *uplo, int *n, real *a, int *lda,         \
                           real *vl, real *vu, int *il, int *iu, real *abstol, int *m, real *w,    \
                           real *z, int *ldz, int *isuppz, real *work, int *lwork, int *iwork,     \
                           int *liwork, int *info);                                                \
    void (*gees_##suffix)(char *jobvs, char *sort, void *select, int *n, real *a, int *lda,        \
                          int *sdim, real *wr, real *wi, real *vs, int *ldvs, real *work,          \
                          int *lwork, int *bwork, int *info);                                      \
    void (*trsyl_##suffix)(char *trana, char *tranb, int *isgn, int *m, int *n, real *a, int *lda, \
                           real *b, int *ldb, real *c, int *ldc, real *scale, int *info);          \
    void (*geqrf_##suffix)(int *m, int *n, real *a, int *lda, real *tau, real *work, int *lwork,   \
                           int *info);                                                             \
    void (*orgqr_##suffix)(int *m, int *n, int *k, real *a, int *lda, real *tau, real *work,       \
                           int *lwork, int *info);                                                 \
    void (*gesdd_##suffix)(char *jobz, int *m, int *n, real *a, int *lda, real *s, real *u,        \
                           int *ldu, real *vt, int *ldvt, real *work, int *lwork, int *iwork,      \
                           int *info);
struct tn_lapack {
    TN_LAPACK(float, f32)
    TN_LAPACK(double, f64)
};
void tn_set_lapack(const struct tn_lapack *functions);
/* What calls it: it is called, on any thread, when the first of them is needed. */
void tn_find_lapack_by(void (*find)(void));

/* Results lie row after row, without gaps. A matrix is given by its strides, in elements. Where there is
 * no factor or no solution, the result is not a number; tn_inverse and tn_eigh return whether there is one.
 *
 * tn_cholesky reads one triangle and clears the other of its result. tn_solve_triangular solves
 * a x = b with m right sides, tn_solve_factored with the matrix of which a is the factor that
 * tn_cholesky found, tn_solve with one of these kinds: of a symmetric or positive definite one it
 * reads one triangle, of a tridiagonal one three diagonals, and of a banded one it finds them.
 * tn_lu gives both factors in one matrix, and which row was exchanged with each, counted from 0.
 * tn_determinant gives the sign of the determinant and the logarithm of its size. tn_schur gives the
 * triangle with blocks of two on its diagonal, and the orthogonal matrix, of a real Schur form;
 * tn_solve_sylvester solves a x + x b = c, c of n rows and m columns, where a and b are such triangles.
 * tn_qr gives the factors of a matrix of n rows and m columns, q with n columns where it is complete, else
 * as many as a has rows or columns, whichever are fewer, and r with as many rows; tn_qr_triangle gives r
 * alone, with n rows. tn_svd gives the singular values, in descending order, and the vectors that go with them, as
 * the columns of u and the rows of v, whole bases where it is complete; tn_singular_values the values alone. Both return
 * whether they are found.
 * tn_factor_tridiagonal and tn_solve_tridiagonal work on vectors that are diagonals, see tridiagonal.inc.
 * tn_permutation gives the permutation that exchanges of rows, counted from 0 or from the end, amount to, or its
 * inverse; 0 where one is out of bounds.
 *
 * work holds n (n + m) elements for tn_solve, n n for tn_lu, tn_inverse and tn_determinant,
 * n (2 n + 40) for tn_eigh and tn_schur, n n + m m + n m for tn_solve_sylvester, n m + 65 (n + m) for
 * tn_qr and tn_qr_triangle, and n n more where q is complete, for tn_singular_values n m + 64 (n + m) + k (4 k + 8), with the
 * fewer of n and m for k, and for tn_svd what u and v have more; pivots n numbers, those of tn_eigh 12 n, and of
 * singular values 8 k. */
enum { TN_GENERAL, TN_POSITIVE, TN_SYMMETRIC, TN_TRIDIAGONAL, TN_BANDED };

/* ---- Order. ----
 * Along a row, whose type is given by NumPy's number. tn_sort: elements in ascending order, NaN last, side by
 * side, zeros of either sign as they come where it is to be stable; tn_argsort: their positions, equal elements in the order they have; tn_argmax: the position of the
 * first that is largest, or NaN. The last two take elements side by side. */
#define TN_ORDER_TYPES 16
struct tn_order {
    int (*sort[TN_ORDER_TYPES])(void *start, int64_t count, void *array);
    int (*stable[TN_ORDER_TYPES])(void *start, int64_t count, void *array);
    int (*argsort[TN_ORDER_TYPES])(void *start, int64_t *order, int64_t count, void *array);
    int (*argmax[TN_ORDER_TYPES])(void *start, int64_t count, int64_t *position, void *array);
    /* the number of the type of positions */
    int64_t positions;
};
void tn_set_order(const struct tn_order *functions);

/* ---- What generated C does once a call. ---- */

/* No memory is larger: what passes here may be added and multiplied by a few without a check. */
#define TN_MOST_BYTES ((int64_t)1 << 48)

/* tn_unlike: TN_CONVERT - k for the first input that is not as expected; 0 where all are.
 * tn_other_shapes: whether arrays that are offered for results have other shapes than these, which follow one
 * another. tn_bytes: the bytes of an array: -1 where memory cannot be so large or a size is negative. Sizes of 0 do not
 * count for that, as in NumPy, so that strides fit too. It may report which of the sizes count.
 * tn_plan: divide memory into slots; those that are not needed at the same time may share it. A row of the plan is
 * a slot, or -1 twice for a size that only has to fit: the first and the last statement that need it, how
 * many factors the size has, and which. Reports where slots begin, and returns the bytes of all; -1
 * where memory cannot be so large. (Largest first, each as low as it fits: Pisarchyk and Lee 2020,
 * arXiv:2001.03288, "greedy by size".)
 * tn_clip: a bound of a slice as an index between low and high. tn_slice_length: the largest number stands for
 * lengths that do not fit.
 * tn_order_rows: bring the rows of a ring, of which `written` were written, into order, or clear those that
 * were not reached. tn_end_ring: the end of a state that `written` rows were written of, into a ring of `rows`:
 * the last of them are where the caller looks for them, in order. That may be the ring itself, of as many rows
 * as are kept. tn_last_rows_first: copy so many rows, of so many bytes, from the number of the first of them to
 * the front.
 * tn_block_steps: how many steps of a loop are done at a time, each of so many rows of matrices and so many
 * bytes: all where they do not fit.
 * tn_share_out: have threads do a statement that takes so many nanoseconds: the runtime's functions become its
 * first operand. */
/* 0: the number of steps follows from their sizes, as it does unless tests set another. */
void tn_set_block_steps(int64_t steps);

/* ---- Denormals. ----
 * From tn_flush_denormals_begin to tn_flush_denormals_end, this thread reads and writes denormals as zeros. Give
 * the second what the first returned. */

#ifdef __cplusplus
}
#endif

#endif
