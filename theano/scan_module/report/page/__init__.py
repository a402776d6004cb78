"""Reports on loops as pages and pictures."""
