"""Printed and drawn output of a run."""
