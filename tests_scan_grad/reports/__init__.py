"""What the package prints and draws: reports on loops, profiles, graphs."""
