//! Decide, back off, read hints, keep budgets: one pure retry engine and its drivers.
