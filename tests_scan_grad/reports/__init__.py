"""Printed and drawn output of the package: reports on loops, profiles, graphs."""
