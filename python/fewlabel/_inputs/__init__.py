"""What callers give: rows, labels, weights and class trees, checked, never changed."""
