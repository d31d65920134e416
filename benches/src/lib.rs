//! Budgets: allocations per call.
