"""Changes offered to PyTensor, one folder a pull request, and their checker.

A folder holds ``change.patch`` (``change-RELEASE.patch`` where a release needs another), a test
in upstream's manner and ``message.md``, the text of the pull request. ``python -m patches.check``
proves what the messages say.
"""
