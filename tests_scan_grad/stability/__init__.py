"""Expressions that lose their digits unless they are rewritten, compared with exact arithmetic."""
