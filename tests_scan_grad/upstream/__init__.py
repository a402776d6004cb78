"""The tests of the projects that this one descends from, fetched when they are run."""
