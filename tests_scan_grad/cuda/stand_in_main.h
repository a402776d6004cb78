/* A program that launches a kernel on arrays that it reads from a file. */
#include <stdio.h>

static int64_t number_from(FILE *file)
{
    int64_t number = 0;
    if (fread(&number, sizeof number, 1, file) != 1) abort();
    return number;
}

int main(int count_of_arguments, char **arguments)
{
    if (count_of_arguments != 2) return 2;
    FILE *const file = fopen(arguments[1], "rb");
    if (!file) return 2;
    const int64_t count = number_from(file), steps = number_from(file), blocks = number_from(file);
    const int64_t own_bytes = number_from(file), work_bytes = number_from(file);
    void **const arrays = (void **)calloc(count + 1, sizeof *arrays);
    int64_t *const rows = (int64_t *)calloc(count + 1, sizeof *rows);
    for (int64_t k = 0; k < count; k++) {
        rows[k] = number_from(file);
        const int64_t bytes = number_from(file);
        arrays[k] = malloc(bytes + 1);
        if (fread(arrays[k], 1, bytes, file) != (size_t)bytes) abort();
    }
    int64_t result[2] = {0, 0};
    unsigned barriers[2] = {0, 0};
    void *const work = malloc(work_bytes);
    launch(arrays, rows, count, steps, result, work, barriers, (int)blocks, 0, own_bytes);
    for (int64_t k = 0; k < count; k++) free(arrays[k]);
    free(arrays), free(rows), free(work), fclose(file);
    printf("%lld %lld\n", (long long)result[0], (long long)result[1]);
    return 0;
}
