"""The memory of calls: what reports predict, what budgets bound, and what processes measure."""
