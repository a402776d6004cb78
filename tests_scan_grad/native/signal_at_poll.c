/* Raises a signal in the midst of a call: at one of its questions to Python whether a signal came. */
#include <signal.h>
#include <stdint.h>

static int (*check_signals)(void);
static int64_t polls, poll_of_signal;
static int number_of_signal;

int check_and_count(void)
{
    if (++polls == poll_of_signal)
        raise(number_of_signal);
    return check_signals();
}

void begin_to_count(int (*check)(void), int64_t poll, int number)
{
    check_signals = check;
    polls = 0;
    poll_of_signal = poll;
    number_of_signal = number;
}

int64_t polls_counted(void) { return polls; }
