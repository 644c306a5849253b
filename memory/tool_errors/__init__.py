"""What went wrong with tools and what helped: records, hints, and the log of tool runs."""
