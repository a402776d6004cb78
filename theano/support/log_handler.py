"""The handler of this package's log messages, unless the program has its own."""

import logging

theano_logger = logging.getLogger("theano")
logging_default_handler = logging.StreamHandler()
logging_default_formatter = logging.Formatter("%(levelname)s (%(name)s): %(message)s")
logging_default_handler.setFormatter(logging_default_formatter)

# A program that has set up its own handlers before keeps its level and its handlers.
if not theano_logger.hasHandlers():
    theano_logger.setLevel(logging.WARNING)
    theano_logger.addHandler(logging_default_handler)


def disable_log_handler(
    logger: logging.Logger = theano_logger, handler: logging.Handler = logging_default_handler
) -> None:
    """Remove the handler that importing this package gave the logger.

    Parameters
    ----------
    logger : logging.Logger
    handler : logging.Handler
    """
    logger.removeHandler(handler)
